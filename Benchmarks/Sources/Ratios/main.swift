// What a declared call costs beside the same one by hand, and what the library's parts cost: `Benchmarks/compare`.

let arguments = CommandLine.arguments.dropFirst()
let rounds = arguments.first.flatMap { Int($0) } ?? 200
try await Report(rounds: max(rounds, 3)).print()

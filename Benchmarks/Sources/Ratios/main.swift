// Compares declared calls with handwritten ones and measures the library's parts: `Benchmarks/compare`.

let arguments = CommandLine.arguments.dropFirst()
let rounds = arguments.first.flatMap { Int($0) } ?? 200
try await Report(rounds: max(rounds, 3)).print()

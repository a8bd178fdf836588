// Compares declared calls with handwritten ones and measures the library's parts: `Benchmarks/compare`.

import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "only" {
    guard arguments.count >= 3, let work = CountedWork(rawValue: arguments[1]), let count = Int(arguments[2]) else {
        print("ratios only \(CountedWork.allCases.map(\.rawValue).joined(separator: "|")) COUNT [URL]")
        exit(64)
    }
    try await work.run(count, url: arguments.count > 3 ? URL(string: arguments[3]) : nil)
} else if arguments.first == "queue" {
    try await QueueReport.print()
} else if arguments.first == "streams" {
    let report = try StreamReport()
    switch arguments.dropFirst().first {
    case "write" where arguments.count == 3: try report.write(to: URL(filePath: arguments[2]))
    case "latency" where arguments.count == 3: try await StreamReport.printLatency(of: arguments[2])
    default: try await report.print(rounds: arguments.dropFirst().first.flatMap { Int($0) } ?? 30)
    }
} else {
    let rounds = arguments.first.flatMap { Int($0) } ?? 200
    try await Report(rounds: max(rounds, 3)).print()
}

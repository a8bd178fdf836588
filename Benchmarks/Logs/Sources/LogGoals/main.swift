import Foundation

// Measures the goals of log shipping: `Benchmarks/logs`. The first argument scales the amount of work; the default is 1. The second
// argument selects a part: `calls` runs only the calls, `spool` only the rate into the spool, and `swift-log` only the part built with that
// trait.

let scale = CommandLine.arguments.dropFirst().first.flatMap { Double($0) } ?? 1
let part = CommandLine.arguments.dropFirst(2).first
let folder = URL.temporaryDirectory.appending(path: "log-goals-\(ProcessInfo.processInfo.processIdentifier)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

func show(_ goal: Goal) {
    print(goal.line)
    fflush(nil)
}

let calls = CallGoals(folder: folder)
let throughput = ThroughputGoals(folder: folder)
#if SwiftLog
if part == "swift-log" {
    let handlers = HandlerGoals(folder: folder, calls: max(10_000, Int(100_000 * scale)))
    for goal in try await handlers.called() { show(goal) }
    for goal in try await handlers.delivered(max(20_000, Int(200_000 * scale))) { show(goal) }
    exit(0)
}
#endif
if part != "spool" {
    show(calls.filtered())
    show(try await calls.enabled(seconds: max(1, 10 * scale)))
    show(try await calls.afterPauses(max(100, Int(500 * scale))))
    show(RedactionGoals().masked())
}
if part != "calls" { show(try await throughput.spooled(max(20_000, Int(1_000_000 * scale)))) }
if part == nil {
    show(try await throughput.delivered(max(20_000, Int(500_000 * scale))))
    show(try await throughput.wire())
    show(try await throughput.start())
}

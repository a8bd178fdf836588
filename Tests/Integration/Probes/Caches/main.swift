import Foundation
import WebServiceClient

// cache-probe work FOLDER LIMIT CALLS [PATHS]   makes calls that store, reuse, validate and invalidate responses; prints "ready" after some
// cache-probe check FOLDER LIMIT                checks all stored responses
// cache-probe fill FOLDER LIMIT COUNT           stores COUNT responses
// cache-probe open FOLDER LIMIT                 prints how long the first answer and the first stored response take, and the memory
//
// Each checks every body, and prints its accounts. It fails if a body is wrong or a call fails.

let arguments = Array(CommandLine.arguments.dropFirst())

/// Prints a line at once, although it goes to a pipe.
func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

func end(_ probe: CacheProbe, _ accounts: CacheProbe.Accounts) -> Never {
    for fault in accounts.faults.prefix(20) { say("FAULT \(fault)") }
    for warning in probe.warnings.all { say("WARNING \(warning)") }
    say("calls \(accounts.calls) hits \(accounts.hits) warnings \(probe.warnings.all.count) faults \(accounts.faults.count)")
    exit(accounts.faults.isEmpty ? 0 : 3)
}

/// The resident memory in kilobytes.
func resident() -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
    return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4
}

func milliseconds(_ duration: Duration) -> String { String(Double(Int(duration / .microseconds(1))) / 1_000) }

guard arguments.count >= 3, let limit = Int(arguments[2]) else {
    say("usage: cache-probe work FOLDER LIMIT CALLS [PATHS] | check FOLDER LIMIT | fill FOLDER LIMIT COUNT | open FOLDER LIMIT")
    exit(2)
}
let probe = CacheProbe(folder: arguments[1], limit: limit)
let clock = ContinuousClock()
switch arguments[0] {
case "work":
    let accounts = await probe.work(
        arguments.count > 3 ? Int(arguments[3]) ?? 1_000 : 1_000, paths: arguments.count > 4 ? Int(arguments[4]) ?? 100 : 100
    ) { say("ready") }
    end(probe, accounts)
case "check":
    end(probe, await probe.checkAll())
case "fill":
    let count = arguments.count > 3 ? Int(arguments[3]) ?? 1_000 : 1_000
    for number in 0..<count {
        // The queue of the store takes some megabytes, and drops what comes while it is full: a read waits for it.
        _ = try await probe.client.http.get("/small/%%0%%", number).value(Data.self)
        if number.isMultiple(of: 500) { _ = try await probe.client.http.get("/small/%%0%%", number).value(Data.self) }
    }
    say("filled \(await probe.cache.entries().count)")
case "open":
    let before = resident()
    let first = try await clock.measure { _ = try await probe.client.http.get("/small/7").value(Data.self) }
    // The first response that is stored needs the size of all files. A lookup of the same URL waits for that.
    let store = try await clock.measure {
        _ = try await probe.client.http.get("/new/%%0%%", Int.random(in: 0..<1_000_000)).value(Data.self)
        _ = try await probe.client.with(CacheMode.reload) { try await $0.http.get("/small/7").value(Data.self) }
        _ = try await probe.client.http.get("/small/7").value(Data.self)
    }
    let after = resident()
    let listed = ContinuousClock.now
    let count = await probe.cache.entries().count
    say(
        "entries \(count) first_answer_ms \(milliseconds(first)) first_store_ms \(milliseconds(store)) "
            + "growth_kB \(after - before) list_all_ms \(milliseconds(ContinuousClock.now - listed))")
default:
    say("cache-probe: there is no \(arguments[0])")
    exit(2)
}

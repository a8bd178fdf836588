import Foundation

let usage = """
    odata-calls [ROUNDS]               the processor time of each workload
    odata-calls only NAME CALLS        runs one workload, for a profiler
    odata-calls memory                 the peak memory of reads by one batch

    """

func refuse() -> Never {
    FileHandle.standardError.write(Data(usage.utf8))
    exit(64)
}

let arguments = Array(CommandLine.arguments.dropFirst())
let workloads = Workload.all
if arguments.first == "only" {
    guard arguments.count == 3, let calls = Int(arguments[2]), let workload = workloads.first(where: { $0.name == arguments[1] }) else {
        refuse()
    }
    for _ in 0..<calls { try await workload.run() }
} else if arguments == ["memory"] {
    try await BatchMemory.measure()
} else {
    guard arguments.count <= 1, let rounds = Int(arguments.first ?? "20"), rounds > 0 else { refuse() }
    print("| call | µs of processor time |\n|---|--:|")
    for workload in workloads {
        _ = try await workload.time()
        var times: [Double] = []
        for _ in 0..<rounds { times.append(try await workload.time()) }
        times.sort()
        let median = times[times.count / 2]
        let speed = workload.bytes.map { ", \(String(format: "%.0f", Double($0) / median)) MB/s of \($0 / 1_000_000) MB" } ?? ""
        print("| \(workload.title)\(speed) | \(String(format: "%.1f", median)) |")
    }
}

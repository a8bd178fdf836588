import Benchmark
import Workloads

/// Runs every workload under the harness: `swift package --package-path Benchmarks benchmark`.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .instructions, .throughput], scalingFactor: .kilo, maxDuration: .seconds(2), maxIterations: 1_000)
    calls()
    parts()
}

private func calls() {
    let smallEngine = Engine(answering: Payloads.small)
    let largeEngine = Engine(answering: Payloads.large)
    let (smallHand, largeHand) = (CallsByHand(smallEngine), CallsByHand(largeEngine))
    let (smallClient, largeClient) = (DeclaredCalls(smallEngine), DeclaredCalls(largeEngine))
    Benchmark("Call, 60 bytes: declared") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(try await smallClient.health(service: "orders")) }
    }
    Benchmark("Call, 60 bytes: by hand") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(try await smallHand.health(service: "orders")) }
    }
    Benchmark("Call, 60 bytes: declared, ten cookies of 3,000") { benchmark in
        let jar = try DeclaredCalls.jar(sending: 10)
        let client = DeclaredCalls(smallEngine) { $0.cookies = jar }
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations { blackHole(try await client.health(service: "orders")) }
    }
    Benchmark("Call, 2 kB: declared") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(try await largeClient.repository(owner: "swiftlang", name: "swift")) }
    }
    Benchmark("Call, 2 kB: by hand") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(try await largeHand.repository(owner: "swiftlang", name: "swift")) }
    }
}

private func parts() {
    Benchmark("Template, %%N%% bound in a dry run") { benchmark in
        let work = try TemplateWork()
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations { blackHole(try await work.bind()) }
    }
    Benchmark("Template, RFC 6570 expanded") { benchmark in
        let work = try TemplateWork()
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations { blackHole(try work.expand()) }
    }
    for isOnDisk in [false, true] {
        Benchmark("Call from the cache \(isOnDisk ? "on disk" : "in memory"), 10 kB") { benchmark in
            let work = try await CacheWork(isOnDisk: isOnDisk)
            benchmark.startMeasurement()
            for _ in benchmark.scaledIterations { blackHole(try await work.call()) }
        }
    }
    for algorithm in ["MD5", "SHA-256", "SHA-512-256"] {
        Benchmark("Digest, \(algorithm)") { benchmark in
            let work = try await DigestWork(algorithm: algorithm)
            benchmark.startMeasurement()
            for _ in benchmark.scaledIterations { blackHole(try await work.authorize()) }
        }
    }
    streams()
    let query = QueryWork()
    Benchmark("FetchRequest, built and printed") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(try query.buildAndPrint()) }
    }
    Benchmark("FetchRequest, printed") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(try query.print()) }
    }
    Benchmark("Query's URL, parsed") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(try query.parse()) }
    }
    let log = LogWork()
    Benchmark("Log call, taken") { benchmark in
        for number in benchmark.scaledIterations { log.taken(number) }
    }
    Benchmark("Log call, filtered out") { benchmark in
        for number in benchmark.scaledIterations { log.filtered(number) }
    }
}

/// Streams of 10,000 values, about a megabyte.
private func streams() {
    guard let work = try? StreamWork() else { return }
    let configuration = Benchmark.Configuration(
        metrics: [.wallClock, .instructions, .throughput], scalingFactor: .one, maxDuration: .seconds(2), maxIterations: 100)
    Benchmark("Stream of 10,000 events", configuration: configuration) { _ in blackHole(try await work.readEvents()) }
    Benchmark("Stream of 10,000 JSON lines, decoded", configuration: configuration) { _ in blackHole(try await work.readLines()) }
    Benchmark("Stream of 10,000 elements of an array, decoded", configuration: configuration) { _ in
        blackHole(try await work.readArray())
    }
    Benchmark("10,000 JSON lines, split and decoded by JSONDecoder", configuration: configuration) { _ in
        blackHole(try work.readLinesByHand())
    }
}

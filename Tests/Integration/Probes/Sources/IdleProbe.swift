import Foundation
import WebServiceClient

/// Calls a server that closes idle connections after a second, with random pauses: each call must succeed, and be sent once.
struct IdleProbe {
    let url: URL
    let root: String
    let count: Int
    /// The longest pause between two calls of one lane.
    let longest: Double

    func run() async throws {
        let trust = TrustPolicy(authorities: .only([try Certificate(file: URL(filePath: root))]))
        let failures = try await withThrowingTaskGroup(of: [String].self) { lanes in
            let laneCount = min(25, count)
            for lane in 0..<laneCount {
                let calls = count / laneCount + (lane < count % laneCount ? 1 : 0)
                lanes.addTask { try await self.lane(lane, calls, trust) }
            }
            var failures: [String] = []
            for try await lane in lanes { failures += lane }
            return failures
        }
        for failure in failures.prefix(20) { print("failed: \(failure)") }
        print("\(count) POSTs, of which \(failures.count) failed")
        exit(failures.isEmpty ? 0 : 1)
    }

    /// Makes calls one after the other, with a separate transport. Each path is used once, for the server's log.
    private func lane(_ lane: Int, _ calls: Int, _ trust: TrustPolicy) async throws -> [String] {
        var configuration = CurlTransport.Configuration()
        configuration.httpVersion = .http1
        let transport = try CurlTransport(configuration: configuration)
        var (failures, reused) = ([String](), 0)
        for number in 0..<calls {
            var request = ServiceRequest(
                method: .post, url: url.appending(path: "\(lane)-\(number)"), body: RequestBody(Data("once".utf8)))
            request.trust = trust
            do {
                let response = try await transport.send(request)
                _ = try await response.body.collect(upTo: 1_000)
                if response.status != 200 { failures.append("\(lane)-\(number): status \(response.status)") }
                if response.report?.metrics.isConnectionReused == true { reused += 1 }
            } catch {
                failures.append("\(lane)-\(number): \(error)")
            }
            if number + 1 < calls { try await Task.sleep(for: .seconds(Double.random(in: 0...longest))) }
        }
        if lane == 0 { print("the first of the lanes used a connection again \(reused) times in \(calls) calls") }
        return failures
    }
}

import Foundation
import WebServiceClient
import WebServiceTesting

/// Calls hosts whose names can't be resolved, as `stress names` ensures. Neither cancelled calls, calls with a deadline, nor other calls
/// may wait for the resolver.
struct NamesProbe {
    /// The number of calls to cancel.
    let count: Int

    /// The number of calls that a deadline ends.
    private static let lateCalls = 20

    /// Fails if a call doesn't end as it should, if threads remain, or if a child process inherits more than one socket per lookup.
    func run() async throws {
        let transport = try CurlTransport()
        let server = try LoopbackServer { $0.get("/") { _ in .text("here") } }
        _ = try await transport.send(ServiceRequest(url: server.url)).body.collect(upTo: 100)
        let (threads, sockets) = (ProcessFigures.threads, try ProcessFigures.socketsOfChild())
        let others = Task { try await slowestOfOthers(transport, server.url) }

        let cancelled = try await times(count) { number in
            try await cancel(call(transport, number), after: .microseconds(Int.random(in: 0...30_000)))
        }
        print("cancelled \(count) calls whose hosts were looked up: end after \(Self.text(cancelled)) at most")
        let late = try await times(Self.lateCalls) { number in try await lateness(transport, number) }
        print("deadlines of 200 ms for connecting, within the lookup: \(Self.text(late)) late at most")

        let waiting = (0..<8).map { call(transport, 1_000_000 + $0) }
        try await Task.sleep(for: .milliseconds(100))
        let found = try ProcessFigures.socketsOfChild().subtracting(sockets)
        for call in waiting { call.cancel() }
        for call in waiting { _ = await call.result }
        print("sockets that a child process inherits while hosts are looked up: \(found.count)")

        others.cancel()
        print("calls to another server meanwhile: the slowest took \(Self.text([try await others.value]))")
        var left = ProcessFigures.threads
        for _ in 0..<300 where left > threads + 2 {
            try await Task.sleep(for: .milliseconds(100))
            left = ProcessFigures.threads
        }
        print("threads: \(threads) before, \(left) after")
        // The system's resolver goes on with the lookup of a cancelled call, and keeps one end of its socket pair until it ends.
        let lookups = count + Self.lateCalls + waiting.count
        guard found.count <= lookups, left <= threads + 2 else { exit(1) }
    }

    private func call(_ transport: CurlTransport, _ number: Int) -> Task<Void, any Error> {
        Task {
            guard let url = URL(string: "http://name-\(number).example/") else { throw URLError(.badURL) }
            _ = try await transport.send(ServiceRequest(url: url))
        }
    }

    /// Returns the time between the cancellation of a call and its end.
    private func cancel(_ call: Task<Void, any Error>, after moment: Duration) async throws -> Duration {
        try await Task.sleep(for: moment)
        let cancelled = ContinuousClock.now
        call.cancel()
        do {
            try await call.value
            throw Unexpected(text: "A nonexistent name was resolved.")
        } catch is CancellationError {
            return ContinuousClock.now - cancelled
        }
    }

    /// Returns the time between the deadline of a call and its end.
    private func lateness(_ transport: CurlTransport, _ number: Int) async throws -> Duration {
        guard let url = URL(string: "http://late-\(number).example/") else { throw URLError(.badURL) }
        let limit = Duration.milliseconds(200)
        let started = ContinuousClock.now
        do {
            _ = try await transport.send(ServiceRequest(url: url, timeouts: ServiceTimeouts(connect: limit)))
            throw Unexpected(text: "A nonexistent name was resolved.")
        } catch let error as TransportError where error.code == .timedOutConnecting {
            return ContinuousClock.now - started - limit
        }
    }

    /// Calls another server until it is cancelled.
    private func slowestOfOthers(_ transport: CurlTransport, _ url: URL) async throws -> Duration {
        var slowest = Duration.zero
        while !Task.isCancelled {
            let started = ContinuousClock.now
            do {
                _ = try await transport.send(ServiceRequest(url: url)).body.collect(upTo: 100)
            } catch is CancellationError {
                break
            }
            slowest = max(slowest, ContinuousClock.now - started)
            try? await Task.sleep(for: .milliseconds(1))
        }
        return slowest
    }

    private func times(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Duration) async throws -> [Duration] {
        try await withThrowingTaskGroup(of: Duration.self) { group in
            var times: [Duration] = []
            for number in 0..<count {
                if number >= 32, let time = try await group.next() { times.append(time) }
                group.addTask { try await body(number) }
            }
            for try await time in group { times.append(time) }
            return times
        }
    }

    private static func text(_ times: [Duration]) -> String {
        let most = times.max() ?? .zero
        return "\(Double(most.components.seconds) * 1_000 + Double(most.components.attoseconds / 1_000_000_000_000) / 1_000) ms"
    }

    private struct Unexpected: Error {
        let text: String
    }
}

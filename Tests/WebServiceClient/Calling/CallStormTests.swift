import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// Calls under faults of a real server, with random cancellations, restarts and replacements. `CALL_STORM` sets their number.
@Suite struct CallStormTests {
    private struct Answer: Codable, Sendable {
        let number: Int
    }

    /// The faults of the server by the call's number.
    private static func response(_ number: Int) -> LoopbackResponse {
        let text = #"{"number": \#(number)}"#
        switch number % 10 {
        case 0: return .raw("")
        case 1: return .raw("HTTP/1.1 200 OK\r\nContent-Le")
        case 2: return .raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"num")
        case 3:
            // A body that drips: `LoopbackResponse.drip` would never end.
            return .pieces(
                text.utf8.map { LoopbackResponse.Piece(Data([$0]), after: .milliseconds(1)) }, type: "application/json")
        case 4: return .status(503)
        case 5: return .status(429)
        // The connection ends after the body.
        case 6: return .raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
        default: return .json(text)
        }
    }

    /// The outcome of a call, if it is possible for the call's number.
    private static func isRight(_ result: Result<Answer, any Error>, _ number: Int) -> Bool {
        switch result {
        case .success(let answer): return answer.number == number && ![0, 1, 2, 4, 5].contains(number % 10)
        case .failure(let error):
            guard let error = error as? ServiceError else { return false }
            switch error.kind {
            case .cancelled: return error.cause is CallCancelled
            case .transport: return [0, 1, 2].contains(number % 10)
            case .status: return error.status == [4: 503, 5: 429][number % 10]
            default: return false
            }
        }
    }

    @Test func `each call of a storm ends once with the right outcome, and nothing is left`() async throws {
        let count = ProcessInfo.processInfo.environment["CALL_STORM"].flatMap { Int($0) } ?? 1_000
        let server = try LoopbackServer { routes in
            routes.get("/:number") { (request: LoopbackRequest) in Self.response(Int(request.parameters["number"] ?? "") ?? 0) }
        }
        defer { server.stop() }
        let client = Store(serviceRoot: server.url.absoluteString) {
            $0.queue = QueueLimits(active: 32)
            $0.retry = RetryPolicy(attempts: 2, backoff: Backoff(base: .milliseconds(1)))
            $0.retryBudget = nil
        }
        let completions = Locked<[Int: Int]>([:])
        let wrong = Locked<[String]>([])
        try await watched {
            var generator = SeededGenerator(seed: 31)
            let plans = (0..<count).map { _ in
                (action: Int.random(in: 0..<6, using: &generator), yields: Int.random(in: 0..<40, using: &generator))
            }
            await withTaskGroup(of: Void.self) { group in
                for (number, plan) in plans.enumerated() {
                    if number >= 64 { await group.next() }
                    group.addTask { await Self.run(client, number, plan, completions, wrong) }
                }
            }
            try await until {
                client.calls.isEmpty && client.runtime.exchanges.count == 0 && completions.withLock { $0.count } == count
            }
        }
        #expect(wrong.withLock { $0 } == [])
        #expect(client.queue.activeCount == 0 && client.queue.pending.isEmpty)
        #expect(completions.withLock { $0.values.allSatisfy { $0 == 1 } })
    }

    private static func run(
        _ client: Store, _ number: Int, _ plan: (action: Int, yields: Int), _ completions: Locked<[Int: Int]>, _ wrong: Locked<[String]>
    ) async {
        let identifier: CallIdentifier.Policy = plan.action == 4 ? .reuse : plan.action == 3 ? .replace : .find
        let name = plan.action == 3 ? "replaced" : "\(number)"
        let call = client.http.get("/%%0%%", number).identifier(name, identifier).start(Answer.self)
        for _ in 0..<plan.yields { await Task.yield() }
        switch plan.action {
        case 0: call.cancel(reason: "Storm.")
        case 1: call.restart()
        case 2:
            call.restart()
            call.cancel(reason: "Storm.")
        case 4: _ = try? await client.http.get("/%%0%%", number).identifier(name, .reuse).value(Answer.self)
        case 5: client.call(identifier: name)?.cancel(reason: "Storm.")
        default: break
        }
        let result = await call.result
        call.onCompletion(on: .taskPool) { again in
            completions.withLock { $0[number, default: 0] += 1 }
            if (try? again.get().number) != (try? result.get().number) { wrong.withLock { $0.append("\(number): two results") } }
        }
        if !isRight(result, number) { wrong.withLock { $0.append("\(number): \(result)") } }
    }
}

import Foundation
import RemoteLogger
import WebServiceClient

/// A transport whose requests wait until the test answers each.
final class GatedReceiver: Transport {
    private struct State {
        var bodies: [Data] = []
        var waiting: [Int: CheckedContinuation<StubReceiver.Reply, Never>] = [:]
        var answered: [Int] = []
    }

    let capabilities: TransportCapabilities = []
    private let state = Locked(State())

    deinit {
        for continuation in state.withLock({ $0.waiting.values.map { $0 } }) { continuation.resume(returning: .broken) }
    }

    /// The numbers of the waiting requests, from 0, in order.
    var open: [Int] { state.withLock { $0.waiting.keys.sorted() } }
    var bodies: [Data] { state.withLock { $0.bodies } }
    /// The lines of every request.
    var lines: [[NDJSONLine]] { bodies.map(NDJSONLine.lines) }
    /// The lines of the requests that succeeded.
    var answered: [[NDJSONLine]] { state.withLock { state in state.answered.map { state.bodies[$0] } }.map(NDJSONLine.lines) }

    func answer(_ number: Int, _ reply: StubReceiver.Reply) {
        let continuation = state.withLock { state in
            if case .status(200, _, _) = reply { state.answered.append(number) }
            return state.waiting.removeValue(forKey: number)
        }
        continuation?.resume(returning: reply)
    }

    /// Answers all with success until a condition is true.
    func answersAll(until condition: () -> Bool) async -> Bool {
        await eventually {
            if condition() { return true }
            if let number = open.first { answer(number, .status(200)) }
            return false
        }
    }

    func send(_ request: ServiceRequest) async throws -> TransportResponse {
        let reply = await withCheckedContinuation { continuation in
            state.withLock { state in
                state.waiting[state.bodies.count] = continuation
                state.bodies.append(request.body?.data ?? Data())
            }
        }
        return try await StubReceiver([reply]).send(request)
    }
}

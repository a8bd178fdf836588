import Foundation
import HTTPTransport
import WebServiceTesting

@testable import WebServiceClient

/// Holds requests back until a test lets them go on, and tells the test when they have arrived.
final class Gate: Sendable {
    private struct State {
        var arrivals = 0
        var isOpen = false
        var held: [CallWaiter] = []
        var watchers: [(count: Int, waiter: CallWaiter)] = []
    }

    private let state = Locked(State())

    /// The number of requests that have arrived.
    var arrivals: Int { state.withLock { $0.arrivals } }

    /// Waits until the gate opens.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    func pass() async throws {
        let waiter = CallWaiter()
        let due = state.withLock { state in
            state.arrivals += 1
            if state.isOpen { waiter.end(.success(())) } else { state.held.append(waiter) }
            defer { state.watchers.removeAll { $0.count <= state.arrivals } }
            return state.watchers.filter { $0.count <= state.arrivals }
        }
        for watcher in due { watcher.waiter.end(.success(())) }
        try await waiter.wait(unless: CallCancellation())
    }

    /// Lets all requests pass, now and later.
    func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for waiter in held { waiter.end(.success(())) }
    }

    /// Waits until this many requests have arrived.
    func arrived(_ count: Int = 1) async throws {
        let waiter = CallWaiter()
        state.withLock { state in
            if state.arrivals >= count { waiter.end(.success(())) } else { state.watchers.append((count, waiter)) }
        }
        try await waiter.wait(unless: CallCancellation())
    }

    /// An answer that waits at the gate.
    func then(_ text: String) -> StubAnswer {
        StubAnswer { request in
            try await self.pass()
            return TransportResponse(
                status: 200, headers: ["Content-Type": "application/json"], url: request.request.url, body: ResponseBody(Data(text.utf8)))
        }
    }
}

/// Waits until a condition holds.
func until(_ condition: () -> Bool) async throws {
    while !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}

/// Waits until a client has this many calls, and each has sent its request or waits for another call's request.
func sending(_ count: Int, _ client: WebServiceClient) async throws {
    try await until {
        let calls = client.calls
        return calls.count == count && calls.allSatisfy { $0.request != nil }
    }
}

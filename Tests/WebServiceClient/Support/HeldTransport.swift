import Foundation
import HTTPTransport

@testable import WebServiceClient

/// A transport whose requests wait until the test answers them.
final class HeldTransport: Transport {
    private struct State {
        var held: [(path: String, waiter: CallWaiter)] = []
        var sent: [String] = []
        var active = 0
        var mostActive = 0
    }

    private let state = Locked(State())
    /// Makes the response of a path that is answered.
    private let respond: @Sendable (ServiceRequest) async throws -> TransportResponse
    /// Whether requests are answered without a call of ``answer(_:)``.
    private let answersAtOnce: Bool

    let capabilities = TransportCapabilities(rawValue: .max)

    init(
        answersAtOnce: Bool = false,
        respond: @escaping @Sendable (ServiceRequest) async throws -> TransportResponse = { TransportResponse(status: 200, url: $0.url) }
    ) {
        self.answersAtOnce = answersAtOnce
        self.respond = respond
    }

    /// The paths of all requests so far, in order.
    var sent: [String] { state.withLock { $0.sent } }
    /// The paths of the requests that wait for an answer.
    var held: [String] { state.withLock { $0.held.map(\.path) } }
    /// The largest number of requests at the same time.
    var mostActive: Int { state.withLock { $0.mostActive } }

    /// Answers the oldest requests.
    func answer(_ count: Int = 1) {
        for _ in 0..<count {
            let next = state.withLock { $0.held.isEmpty ? nil : $0.held.removeFirst() }
            next?.waiter.end(.success(()))
        }
    }

    /// Answers a request with an error.
    func fail(with error: any Error) {
        state.withLock { $0.held.isEmpty ? nil : $0.held.removeFirst() }?.waiter.end(.failure(error))
    }

    func send(_ request: ServiceRequest) async throws -> TransportResponse {
        let waiter = CallWaiter()
        let path = request.target
        state.withLock { state in
            state.sent.append(path)
            state.active += 1
            state.mostActive = max(state.mostActive, state.active)
            if !answersAtOnce { state.held.append((path, waiter)) }
        }
        defer { state.withLock { $0.active -= 1 } }
        if !answersAtOnce { try await waiter.wait(unless: CallCancellation()) }
        return try await respond(request)
    }
}

/// Runs a test in simulated time: see ``SimulatedTime``. On systems that are too old for it, the test does nothing.
func simulated(_ body: @escaping @Sendable (Simulation) async throws -> Void) throws {
    guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
    let time = SimulatedTime()
    try time.run {
        try await body(
            Simulation(
                clock: time.clock, elapsed: { time.elapsed }, pass: { try await time.sleep($0) },
                start: { body in Task(executorPreference: time) { try await body() } }))
    }
}

/// The time of a simulated test.
struct Simulation: Sendable {
    let clock: CallClock
    let elapsed: @Sendable () -> Duration
    /// Lets time pass. All tasks run until they wait.
    let pass: @Sendable (Duration) async throws -> Void
    /// Starts a task in this time. A `Task` of the test itself runs outside of it.
    let start: @Sendable (_ body: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error>

    /// Lets all tasks run until they wait.
    func settle() async throws { try await pass(.nanoseconds(1)) }

    /// Makes a client with this time.
    func client<Client>(_ make: () throws -> Client) rethrows -> Client {
        try CallClock.$current.withValue(clock) { try make() }
    }
}

import Foundation
import WebServiceClient

/// The routes, answers and counts of a ``MockServer``. The handlers retain the core and not the server, so that releasing the server stops
/// them.
final class MockCore: Sendable {
    struct State {
        var answers: [String: MockAnswer] = [:]
        var plans: [String: FaultPlan] = [:]
        var turns: [String: FaultTurns] = [:]
        var requests: [String: Int] = [:]
        var faults: [String: Int] = [:]
        var misses: [String] = []
    }

    /// The reply to a request.
    private enum Reply {
        case response(LoopbackResponse)
        /// The real service answers, at the endpoint's own root if it has one.
        case forwarded(ownRoot: String?)
    }

    private let client: String
    private let routes: [MockRoute]
    private let seed: UInt64
    private let clock: any Clock<Duration>
    private let forwarding: MockForwarding?
    private let state = Locked(State())

    init(client: String, routes: [MockRoute], seed: UInt64, clock: any Clock<Duration>, forwarding: MockForwarding?) {
        self.client = client
        // If several routes fit, the most specific one comes first; equally specific ones stay in the order of the table.
        self.routes = routes.enumerated().sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }.map(\.element)
        self.seed = seed
        self.clock = clock
        self.forwarding = forwarding
    }

    /// Adds the handler. Only a clock other than the server's, and forwarding, need a task per request.
    func add(to routes: inout LoopbackRoutes) {
        if clock is ContinuousClock, forwarding == nil {
            routes.fallback { [self] request in
                guard case (.response(let response), let delay) = try reply(to: request) else { return .status(500) }
                return response.delayed(by: response.delay.bounded + delay.bounded)
            }
        } else {
            routes.fallback { [self] (request: LoopbackRequest) async throws -> LoopbackResponse in
                let (reply, delay) = try reply(to: request)
                if delay > .zero { try await clock.sleep(for: delay.bounded) }
                switch reply {
                case .response(let response): return response
                case .forwarded(let own): return try await forwarding?.response(to: request, ownRoot: own) ?? .status(500)
                }
            }
        }
    }

    // MARK: Settings

    func set(_ key: String, _ change: (inout State) -> Void) throws(TestingFailure) {
        guard routes.contains(where: { $0.key == key }) else {
            let nearest = NearestName.of(key, among: routes.map(\.key)).map { ": the nearest is “\($0)”" } ?? ""
            throw TestingFailure("The table of \(client) has no key “\(key)”\(nearest)")
        }
        state.withLock { change(&$0) }
    }

    /// Changes the plan of an endpoint and restarts the plan.
    ///
    /// - Throws: ``TestingFailure`` for an unknown key, or a plan with a value that it can't have.
    func change(_ key: String, _ change: (inout FaultPlan) -> Void) throws(TestingFailure) {
        var problem: (problem: String, fix: String)?
        try set(key) { state in
            var plan = state.plans[key] ?? FaultPlan()
            change(&plan)
            problem = plan.faults.first
            guard problem == nil else { return }
            state.plans[key] = plan
            state.turns[key] = FaultTurns(plan, seed: seed, key: key)
        }
        if let problem { throw TestingFailure("The faults of “\(key)” can't be used: \(problem.problem); \(problem.fix)") }
    }

    // MARK: What happened

    func requestCount(for key: String) -> Int { state.withLock { $0.requests[key] ?? 0 } }
    func faultCount(for key: String) -> Int { state.withLock { $0.faults[key] ?? 0 } }
    var misses: [String] { state.withLock { $0.misses } }

    var uncalledKeys: [String] {
        let called = state.withLock { Set($0.requests.keys) }
        return routes.map(\.key).filter { !called.contains($0) }.sorted()
    }

    // MARK: Replying

    private func reply(to request: LoopbackRequest) throws -> (Reply, delay: Duration) {
        let path = MockRoute.normal(Array(RequestTarget(request.targetBytes).path))
        let items = request.queryItems
        let method = request.method == "HEAD" && !routes.contains { $0.method == "HEAD" } ? "GET" : request.method
        let fitting = routes.filter { $0.method == method && $0.fits(path: path, query: items) }
        guard !fitting.isEmpty else { return (.response(missed(noRouteFor: request)), .zero) }
        // Requests don't distinguish endpoints that differ only in arguments: one with an answer is preferred.
        let (route, answer, turn) = state.withLock { state in
            let route = fitting.first { state.answers[$0.key] != nil } ?? fitting[0]
            state.requests[route.key, default: 0] += 1
            let turn = state.turns[route.key]?.next() ?? (delay: .zero, fault: nil)
            if turn.fault != nil { state.faults[route.key, default: 0] += 1 }
            return (route, state.answers[route.key], turn)
        }
        switch turn.fault {
        case .status(let status, let seconds):
            let response = LoopbackResponse.status(status)
            return (.response(seconds.map { response.with("Retry-After", String($0)) } ?? response), turn.delay)
        case .connectionLost: return (.response(.drop), turn.delay)
        case .reset(0): return (.response(LoopbackResponse().failing(.reset(afterBytes: 0))), turn.delay)
        case .noResponse: return (.response(.hang), turn.delay)
        case .cut, .reset, nil: break
        }
        guard let answer else {
            guard forwarding == nil else { return (.forwarded(ownRoot: route.serviceRoot), turn.delay) }
            return (.response(missed(noAnswerOf: route, to: request)), turn.delay)
        }
        var generator = RepeatableGenerator(seed: seed, name: "\(route.key) \(request.target)")
        let response = try answer.respond(request, MockAnswer.Setting(seed: generator.next(), root: route.root))
        return (.response(turn.fault.map { Self.cut(response, by: $0) } ?? response), turn.delay)
    }

    /// Ends the connection in the body. If the length of the body isn't known, the bytes count from the start of the head.
    private static func cut(_ response: LoopbackResponse, by fault: InjectedFault) -> LoopbackResponse {
        let isReset: Bool
        let limit: Int
        switch fault {
        case .cut(let count): (isReset, limit) = (false, max(0, count))
        case .reset(let count): (isReset, limit) = (true, max(0, count))
        default: return response
        }
        guard case .data(let data) = response.body else {
            return response.failing(isReset ? .reset(afterBytes: limit) : .cut(afterBytes: limit))
        }
        // A cut after the end of the body must make the body fail too.
        var cut = response.framed(.contentLength(limit < data.count ? data.count : data.count + 1))
        cut.body = .data(data.prefix(limit))
        return isReset ? cut.failing(.reset(afterBytes: .max)) : cut.failing(.cut(afterBytes: .max))
    }

    private func missed(noRouteFor request: LoopbackRequest) -> LoopbackResponse {
        let segments = request.path.split(separator: "/").map(String.init)
        let nearest = routes.min {
            $0.distance(method: request.method, segments: segments) < $1.distance(method: request.method, segments: segments)
        }
        let hint = nearest.map { ". The nearest is “\($0.key)”: \($0.method) \(SecretMask.text(ofURL: $0.text))" } ?? ": the table is empty"
        let text = "No endpoint of \(client) fits \(request.method) \(SecretMask.text(ofURL: request.target))\(hint)"
        return missed(text, status: 404)
    }

    private func missed(noAnswerOf route: MockRoute, to request: LoopbackRequest) -> LoopbackResponse {
        let text =
            "“\(route.key)” has no answer for \(request.method) \(SecretMask.text(ofURL: request.target)): give it one by "
            + "answering(\"\(route.key)\", with: …)"
        return missed(text, status: 501)
    }

    private func missed(_ text: String, status: Int) -> LoopbackResponse {
        state.withLock { $0.misses.append(text) }
        return .text(text + "\n", status: status)
    }
}

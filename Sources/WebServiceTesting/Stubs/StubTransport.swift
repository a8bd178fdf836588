public import Foundation
public import WebServiceClient

/// A transport without a network: it answers by endpoint key and records the requests.
///
///     let stub = StubTransport()
///     stub["user(id:)"] = .json(#"{"id": 1}"#)
///     stub["order(item:)"] = .inTurn(.status(503), .status(201))
///     stub.on(.get, "/health", .text("fine"))
///     …
///     try stub.expect("user(id:)", calledTimes: 1)
///     try stub.requests(for: "user(id:)")[0].expectHeader("Accept", "application/json")
///
/// Without an answer for its key, a request gets the answer of the first route that matches its method and path, or fails with a
/// ``TestingFailure`` that names the nearest key. Deadlines aren't enforced: for tests of deadlines, use a delay and a clock.
public final class StubTransport: Transport {
    private struct Route: Sendable {
        let method: ServiceRequest.Method
        let pattern: RoutePattern
        let text: String
        let answer: StubAnswer
    }

    private struct State {
        var answers: [String: StubAnswer] = [:]
        var routes: [Route] = []
        var fallback: StubAnswer?
        var requests: [RecordedRequest] = []
        var counts: [String: Int] = [:]
    }

    /// The capabilities that the transport declares; all of them by default.
    public let capabilities: TransportCapabilities

    private let clock: any Clock<Duration>
    private let recordingLimit: Int
    private let state = Locked(State())

    /// Makes a transport without answers.
    ///
    /// - Parameters:
    ///   - capabilities: The capabilities to declare.
    ///   - clock: The clock for delays.
    ///   - recordingLimit: The number of requests to keep, counted from the first. All requests are counted.
    public init(
        capabilities: TransportCapabilities = TransportCapabilities(rawValue: .max), clock: any Clock<Duration> = ContinuousClock(),
        recordingLimit: Int = 10_000
    ) {
        self.capabilities = capabilities
        self.clock = clock
        self.recordingLimit = recordingLimit
    }

    // MARK: Answers

    /// The answer to the calls of an endpoint, by its key such as `user(id:)`.
    public subscript(key: String) -> StubAnswer? {
        get { state.withLock { $0.answers[key] } }
        set { state.withLock { $0.answers[key] = newValue } }
    }

    /// Adds an answer by method and path for requests without an answer by key. The pattern has the syntax of ``LoopbackRoutes`` and must
    /// match the whole path.
    public func on(_ method: ServiceRequest.Method, _ pattern: String, _ answer: StubAnswer) {
        let route = Route(method: method, pattern: RoutePattern(pattern), text: "\(method) \(pattern)", answer: answer)
        state.withLock { $0.routes.append(route) }
    }

    /// Sets the answer to requests without any other answer.
    public func fallback(_ answer: StubAnswer) {
        state.withLock { $0.fallback = answer }
    }

    // MARK: What happened

    /// The requests in the order of arrival, up to the recording limit.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// Returns the requests of an endpoint in the order of arrival. Retries and redirects count as separate requests.
    public func requests(for key: String) -> [RecordedRequest] {
        requests.filter { $0.key == key }
    }

    /// Returns the number of requests of an endpoint, including those beyond the recording limit.
    public func callCount(for key: String) -> Int {
        state.withLock { $0.counts[key] ?? 0 }
    }

    /// Removes all requests recorded so far.
    public func forgetRequests() {
        state.withLock { state in
            state.requests = []
            state.counts = [:]
        }
    }

    // MARK: Transport

    /// Answers a request.
    ///
    /// - Throws: The error of the answer, ``TestingFailure`` without an answer, `CancellationError`, or ``RequestBodyError``.
    public func send(_ request: ServiceRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        var recorded = RecordedRequest(request, body: try await body(of: request))
        let answer = try answer(to: &recorded)
        let response = try await answer.respond(recorded, clock)
        try Task.checkCancellation()
        return response
    }

    private func body(of request: ServiceRequest) async throws -> Data? {
        guard let body = request.body else { return nil }
        let bytes = try await body.collect(upTo: 256 << 20)
        request.uploadProgress?(TransferProgress(completed: Int64(bytes.count), total: body.length))
        return bytes
    }

    /// Records the request and finds its answer.
    private func answer(to request: inout RecordedRequest) throws(TestingFailure) -> StubAnswer {
        let (byKey, routes, fallback) = state.withLock { [request] state in
            if state.requests.count < recordingLimit { state.requests.append(request) }
            state.counts[request.key, default: 0] += 1
            return (state.answers[request.key], state.routes, state.fallback)
        }
        if let byKey { return byKey }
        let segments = request.pathSegments
        for route in routes where route.method == request.request.method {
            guard let parameters = route.pattern.match(segments) else { continue }
            request.parameters = parameters
            return route.answer
        }
        guard let fallback else { throw missingAnswer(to: request) }
        return fallback
    }

    private func missingAnswer(to request: RecordedRequest) -> TestingFailure {
        let (keys, routes) = state.withLock { ($0.answers.keys.sorted(), $0.routes.map(\.text)) }
        let hint: String
        if let nearest = NearestName.of(request.key, among: keys) {
            hint = "The nearest key with an answer is “\(nearest)”."
        } else {
            let known = (keys + routes).map { "“\($0)”" }.joined(separator: ", ")
            hint = known.isEmpty ? "Nothing is stubbed yet: set stub[\"\(request.key)\"]." : "There are answers for \(known)."
        }
        return TestingFailure("No answer is stubbed for “\(request.key)” (\(request)). \(hint)")
    }
}

/// A request that reached a ``StubTransport``, with the bytes of its body.
public struct RecordedRequest: Sendable, CustomStringConvertible {
    /// The request as a real transport would send it.
    public let request: ServiceRequest
    /// The bytes of its body; `nil` if there is none.
    public let body: Data?
    /// The decoded values of the `:name` and `*name` segments, if a route matched.
    public internal(set) var parameters: [String: String] = [:]

    /// Makes a record of a request.
    public init(_ request: ServiceRequest, body: Data?) {
        self.request = request
        self.body = body
    }

    /// The key of the endpoint, or the method and path for a request without an endpoint.
    public var key: String { request.identity?.key ?? "\(request.method) \(request.url.path(percentEncoded: true))" }

    /// The segments of the path, each percent-decoded after the split.
    public var pathSegments: [String] { RequestTarget(Array(request.target.utf8)).segments }

    /// The method and URL, with secrets masked.
    public var description: String { "\(request.method) \(SecretMask.text(of: request))" }
}

import Foundation
public import WebServiceClient

/// A real HTTP server on 127.0.0.1 in place of the service of a client class. Its routes are those of the class's table.
///
///     let server = try MockServer(GitHub.self)
///         .answering("issues(owner:name:filter:)", with: .samples(of: [Issue].self, count: 3))
///         .failing("createIssue(owner:name:issue:)", .times(2, .status(503, retryAfter: 1)), then: .reset(afterBytes: 10))
///         .latency("search(text:page:)", .logNormal(median: .milliseconds(80), p99: .milliseconds(900)))
///     let github = GitHub(serviceRoot: server.serviceRoot)
///     try await server.answer(GitHub.repository(owner:name:), on: github, with: .sample())
///     …
///     try server.expectNoMisses()
///
/// A request without a route gets a 404 with the nearest route, and a request of an endpoint without an answer a 501; ``misses`` lists
/// both. With `forwardingTo`, the server is a proxy of a real service: it forwards requests of endpoints without an answer, and counts all
/// requests.
///
/// Faults and answers count requests, not calls: a call that is repeated makes several. The server stops when its last reference is
/// released.
public final class MockServer<Client: WebServiceClient>: Sendable {
    /// The root for clients: the server's URL with the path of the class's service root.
    public let serviceRoot: String
    /// The server that receives the requests.
    public let loopback: LoopbackServer

    /// A transport that sends every request to the server, whatever its origin, for endpoints with an absolute service root
    /// (``WebServiceClient/EndpointDescriptor/serviceRoot(_:)``).
    ///
    ///     let github = GitHub(serviceRoot: server.serviceRoot) {
    ///         $0.allowedOrigins = ["https://uploads.github.com"]
    ///         $0.transport = server.transport
    ///     }
    public var transport: any Transport { MockTransport(server: loopback.url) }

    private let core: MockCore

    /// Starts a server for a client class.
    ///
    /// - Parameters:
    ///   - client: The class whose table has the routes.
    ///   - seed: The seed of samples, latencies and random faults.
    ///   - clock: The clock of latencies.
    ///   - service: The root of a real service, such as `https://api.github.com`, that receives requests of endpoints without an answer.
    ///   - transport: Sends forwarded requests.
    ///   - options: The limits of the server.
    /// - Throws: ``TestingFailure`` if the system provides no socket, or the root isn't a URL.
    public init(
        _ client: Client.Type = Client.self, seed: UInt64 = 0, clock: any Clock<Duration> = ContinuousClock(),
        forwardingTo service: String? = nil, over transport: any Transport = DefaultTransport.shared,
        options: LoopbackServer.Options = LoopbackServer.Options()
    ) throws {
        let prefix = MockRoute.prefix(ofRoot: Client.defaults.serviceRoot)
        let forwarding = try service.map { try MockForwarding(root: $0, prefix: prefix, transport: transport) }
        let core = MockCore(
            client: "\(Client.self)", routes: Client.endpoints.routes.map { MockRoute($0, prefix: prefix) }, seed: seed, clock: clock,
            forwarding: forwarding)
        loopback = try LoopbackServer(options: options) { routes in core.add(to: &routes) }
        serviceRoot = loopback.url.absoluteString + prefix
        self.core = core
    }

    /// Ends all connections and threads. Calling it again has no effect.
    public func stop() {
        loopback.stop()
    }

    // MARK: Answers

    /// Sets the answer of an endpoint, by its key.
    ///
    /// - Throws: ``TestingFailure`` with the nearest key if the table has no such key.
    @discardableResult
    public func answering(_ key: String, with answer: MockAnswer) throws(TestingFailure) -> Self {
        try core.set(key) { $0.answers[key] = answer }
        return self
    }

    /// Sets the answer of an endpoint, by its method. The compiler checks the name, the labels, and that the answer has the type of the
    /// method's result.
    ///
    /// The key is found by a dry run of the method with invented arguments; if one can't be invented, use ``answering(_:with:)``.
    ///
    /// - Parameters:
    ///   - method: The unapplied method, such as `GitHub.repository(owner:name:)`.
    ///   - client: A client of the class.
    /// - Throws: ``TestingFailure`` if an argument can't be invented or the method makes no call.
    @discardableResult
    public func answer<each Argument: Sendable, Value>(
        _ method: @escaping @Sendable (Client) -> @Sendable (repeat each Argument) async throws -> Value, on client: Client,
        with answer: TypedMockAnswer<Value>
    ) async throws -> Self {
        let arguments = (repeat try MockArgument.invented((each Argument).self))
        let request: ServiceRequest
        do {
            request = try await client.dryRun { client in _ = try await method(client)(repeat each arguments) }
        } catch {
            throw TestingFailure("The key of the method can't be found by a dry run: \(error). Use answering(_:with:) with the key.")
        }
        guard let key = request.identity?.key else { throw TestingFailure("The request of the method has no key: use answering(_:with:).") }
        return try answering(key, with: answer.answer)
    }

    // MARK: Faults

    /// Fails the next requests of an endpoint by steps, and all later ones with `last`, if it is given. The new faults replace earlier
    /// faults of the endpoint.
    ///
    /// A status or a missing response doesn't use up an answer of the endpoint; a response that is cut does.
    ///
    /// - Throws: ``TestingFailure`` with the nearest key if the table has no such key, or with the fix for a value out of its range.
    @discardableResult
    public func failing(
        _ key: String, _ steps: FaultPlan.Step..., then last: InjectedFault? = nil
    ) throws(TestingFailure) -> Self {
        try core.change(key) { plan in
            (plan.steps, plan.last) = (steps, last)
        }
        return self
    }

    /// Fails a share of the requests of an endpoint, from 0 to 1, chosen by the seed.
    ///
    /// - Throws: ``TestingFailure`` with the nearest key if the table has no such key, or with the fix for a value out of its range.
    @discardableResult
    public func failing(_ key: String, share: Double, of fault: InjectedFault) throws(TestingFailure) -> Self {
        try core.change(key) { plan in
            (plan.share, plan.fault) = (share, fault)
        }
        return self
    }

    /// Delays the responses of an endpoint by a distribution.
    ///
    /// - Throws: ``TestingFailure`` with the nearest key if the table has no such key, or with the fix for a value out of its range.
    @discardableResult
    public func latency(_ key: String, _ latency: LatencyDistribution) throws(TestingFailure) -> Self {
        try core.change(key) { $0.latency = latency }
        return self
    }

    // MARK: What happened

    /// Returns the number of requests of an endpoint, including those that failed or were forwarded.
    public func requestCount(for key: String) -> Int { core.requestCount(for: key) }

    /// Returns the number of requests of an endpoint that failed by a fault.
    public func faultCount(for key: String) -> Int { core.faultCount(for: key) }

    /// The keys without a request, sorted.
    public var uncalledKeys: [String] { core.uncalledKeys }

    /// The requests that fit no route, or whose endpoint has no answer, as sentences with the nearest route.
    public var misses: [String] { core.misses }

    /// Expects that each request had an answer.
    ///
    /// - Throws: ``TestingFailure`` that lists the others.
    public func expectNoMisses() throws(TestingFailure) {
        let misses = misses
        guard !misses.isEmpty else { return }
        throw TestingFailure("\(misses.count) requests had no answer:\n  " + misses.prefix(20).joined(separator: "\n  "))
    }
}

/// Invents the arguments of a dry run.
private enum MockArgument {
    static func invented<Value>(_ type: Value.Type) throws -> Value {
        guard let decodable = type as? any Decodable.Type, let value = try sample(of: decodable) as? Value else {
            throw TestingFailure("No argument of the type \(type) can be invented: use answering(_:with:) with the key.")
        }
        return value
    }

    private static func sample<Value: Decodable>(of type: Value.Type) throws -> Any { try Sample(of: type, seed: 1).value }
}

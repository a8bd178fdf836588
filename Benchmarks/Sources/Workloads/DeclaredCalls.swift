public import WebServiceClient

/// The calls as users of the library write them.
public final class DeclaredCalls: WebServiceClient, @unchecked Sendable {
    /// The endpoint table.
    public override class var endpoints: EndpointTable {
        [
            "repository(owner:name:)": .get("/repos/%%0%%/%%1%%"),
            "health(service:)": .get("/health/%%0%%"),
            "issues(owner:name:state:page:)":
                .get("/repos/%%owner%%/%%name%%/issues").query(["state": "%%state%%", "page": "%%page%%"]),
        ]
    }

    /// Creates a client on an engine.
    public convenience init(_ engine: Engine, configure: (inout Configuration) -> Void = { _ in }) {
        self.init(serviceRoot: "https://api.example.com/v1") {
            $0.transport = EngineTransport(engine)
            $0.headers = ["X-Client": "benchmark"]
            configure(&$0)
        }
    }

    /// Which stages a client's calls pass through.
    public enum Stages: String, CaseIterable {
        /// None but the transport's: no redirects, no retries.
        case bare
        /// The calls of a new client.
        case defaults
        /// A retry policy with a budget, a circuit breaker, a queue, and a rate limit that no call reaches.
        case controlled
    }

    /// Creates a client on an engine whose calls pass through stages.
    public convenience init(_ engine: Engine, stages: Stages) {
        self.init(engine) {
            switch stages {
            case .bare:
                $0.redirects = .stop
                $0.retryBudget = nil
            case .defaults: break
            case .controlled:
                $0.retry = .standard
                $0.circuitBreaker = CircuitBreakerPolicy()
                $0.queue = QueueLimits(active: 8, activePerOrigin: 8)
                $0.rateLimit = RateLimit(100_000_000, per: .seconds(1), burst: 1_000_000)
            }
        }
    }

    /// Returns a jar with 3,000 cookies of 300 hosts.
    ///
    /// - Parameter sent: The number of cookies that belong to the client's calls, at most ten.
    public static func jar(sending sent: Int) throws -> CookieJar {
        let jar = CookieJar()
        for host in 0..<300 {
            for number in 0..<10 {
                jar.set(
                    try Cookie(
                        name: "cookie\(number)", value: "31d4d96e407aad42\(number)",
                        domain: host == 0 && number < sent ? "api.example.com" : "h\(host).example.com",
                        path: number < 5 ? "/v1" : "/", isSecure: true))
            }
        }
        return jar
    }

    /// A call with a body of 2 kB.
    public func repository(owner: String, name: String) async throws -> Repository { try await call(owner, name) }

    /// A call with a body of 60 bytes.
    public func health(service: String) async throws -> Health { try await call(service) }

    /// A call with four arguments, two of them in the query.
    public func issues(owner: String, name: String, state: String, page: Int) async throws -> [Repository] {
        try await call(owner, name, state, page)
    }
}

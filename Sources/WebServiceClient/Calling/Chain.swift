/// The chain of stages that each call passes through, from the client's interceptors to the transport.
///
/// A stage is an ``Interceptor`` that the previous stage calls as its `next`. ``stages`` alone defines their order: a new stage needs a new
/// file, a line there, a maker in ``Setup``, and a line in WritingInterceptors.md, which prints the same list.
struct Chain {
    /// A stage, and how a client's configuration makes it.
    struct Stage: Sendable {
        /// The stage's name in the documentation.
        let name: String
        /// A sentence about the stage for the documentation.
        let summary: String
        /// Adds the stage to the rest of the chain; returns the rest itself if the configuration doesn't need the stage.
        let add: @Sendable (Setup, @escaping NextInterceptor) -> NextInterceptor

        /// A stage of one interceptor, or of none if the configuration doesn't need it.
        ///
        /// The compiler knows the interceptor's type and can inline it into the closure, which saves an async function per call.
        init<Link: Interceptor>(_ name: String, _ summary: String, _ make: @escaping @Sendable (Setup) -> Link?) {
            self.name = name
            self.summary = summary
            add = { setup, next in
                guard let link = make(setup) else { return next }
                return { request, context in try await link.intercept(request, context: context, next: next) }
            }
        }

        /// A stage of any number of interceptors, outermost first.
        init(_ name: String, _ summary: String, all make: @escaping @Sendable (Setup) -> [any Interceptor]) {
            self.name = name
            self.summary = summary
            add = { setup, next in
                var next = next
                for link in make(setup).reversed() { next = Self.before(next, link) }
                return next
            }
        }

        /// A stage that keeps the rest of the chain, for requests that continue after their calls. An interceptor mustn't keep its `next`.
        init(_ name: String, _ summary: String, keeping make: @escaping @Sendable (Setup) -> Caching?) {
            self.name = name
            self.summary = summary
            add = { setup, next in
                guard let link = make(setup)?.continuing(with: next) else {
                    guard setup.hasAttributes else { return next }
                    // A call may still demand a stored response.
                    return { request, context in try await Caching.pass(request, context, next) }
                }
                return { request, context in try await link.intercept(request, context: context, next: next) }
            }
        }

        /// A stage whose calls can share the rest of the chain.
        init<Link: SharingStage>(_ name: String, _ summary: String, sharing make: @escaping @Sendable (Setup) -> Link?) {
            self.name = name
            self.summary = summary
            add = { setup, next in make(setup)?.stage(before: next) ?? next }
        }

        private static func before(_ next: @escaping NextInterceptor, _ link: any Interceptor) -> NextInterceptor {
            { request, context in try await link.intercept(request, context: context, next: next) }
        }
    }

    /// The input that stages are made from.
    struct Setup: Sendable {
        let configuration: WebServiceClient.Configuration
        let boundary: OriginBoundary
        /// The state that the stages of a client share, whatever its configuration.
        let runtime: ClientRuntime
        /// Whether the calls have attributes. Without any, no stage is needed that only attributes configure.
        let hasAttributes: Bool
        /// The items of the client's session.
        let session: SessionItems
        /// The service that the client calls.
        let place: ServicePlace
        /// The client's interceptors by place.
        let placed: [InterceptorPlace: [any Interceptor]]
        /// Authorizes requests to the service.
        let provider: (any AuthenticationProvider)?

        init(
            _ configuration: WebServiceClient.Configuration, allowedOrigins: Set<Origin>, runtime: ClientRuntime,
            session: SessionItems = SessionItems(), place: ServicePlace = ServicePlace(), hasAttributes: Bool = true,
            hasSchemes: Bool = false
        ) {
            let own = configuration.authenticationProvider
            // Security requirements are attributes, so calls without attributes have none.
            let isByScheme = hasAttributes && (hasSchemes || !configuration.credentials.isEmpty)
            provider = isByScheme ? SchemeAuthentication(configuration.credentials, fallback: own) : own
            self.session = session
            self.place = place
            self.configuration = configuration
            self.runtime = runtime
            self.hasAttributes = hasAttributes
            boundary = OriginBoundary(
                rules: configuration.headerRules, allowed: allowedOrigins, hasInterceptors: !configuration.interceptors.isEmpty,
                session: session.headers)
            placed = Dictionary(grouping: configuration.interceptors) { ($0 as? PlacedInterceptor)?.place ?? .call }
        }
    }

    /// Every stage, outermost first.
    static let stages: [Stage] = [
        Stage(
            "identifier", "Waits for the response of a running call with the same `.identifier(…)`, if the endpoint reuses calls.",
            sharing: Setup.identifier),
        Stage("interceptors", "The client's interceptors, which also log and prepare: once per call.", all: Setup.interceptors),
        Stage("preparation", "The call's own `prepare` closure: once per call.", Setup.preparation),
        Stage("idempotency key", "Gives the call its idempotency key: once per call.", Setup.idempotencyKey),
        Stage("redirects", "Follows redirects by the client's policy. The stages below run once per hop.", Setup.redirects),
        Stage("session", "Adds the items of the client's session to requests of the service.", Setup.session),
        Stage("hop interceptors", "The client's `.perHop` interceptors, which see each redirect's response.", all: Setup.hopInterceptors),
        Stage(
            "bodies", "Compresses the request's body, sends its digest and expects 100 Continue, as the endpoint is set.", Setup.bodies),
        Stage("cache", "Answers from the client's cache and fills it: once per hop.", keeping: Setup.cache),
        Stage(
            "coalescing", "Waits for the response of an identical request in flight, if the endpoint is `.coalesced()`.",
            sharing: Setup.coalescing),
        Stage("retry", "Repeats failed attempts by the retry policy. The stages below run once per attempt.", Setup.retry),
        Stage(
            "network", "Notes which origins answer. Holds calls with `.waitingForNetwork(…)` back while the network is down.",
            Setup.network),
        Stage("hedging", "Sends a second request when the first is slow, if the endpoint is hedged.", Setup.hedging),
        Stage("circuit breaker", "Refuses calls to an origin that keeps failing, by the circuit breaker policy.", Setup.circuitBreaker),
        Stage("attempt interceptors", "The client's `.perAttempt` interceptors, which see each response.", all: Setup.attemptInterceptors),
        Stage("tracing", "Adds the task's trace and baggage, if the client has a tracing policy.", Setup.tracing),
        Stage("rate limit", "Delays requests by the rate limits of client, endpoint and service.", Setup.rateLimit),
        Stage("queue", "Gives each request its turn and a slot, until the response's body has ended.", Setup.queue),
        Stage("digests", "Compares the response's body with its digest, for endpoints with `.verifyingDigests(…)`.", Setup.digests),
        Stage("record", "Keeps the request without credentials, for errors.", Setup.record),
        Stage("authentication", "Adds credentials and answers challenges of the service and the proxy.", Setup.authentication),
        Stage("cookies", "Adds the jar's cookies and keeps those of each response.", Setup.cookies),
    ]

    /// The stages as a numbered Markdown list.
    static var documentation: String {
        var lines: [String] = []
        for stage in stages { lines.append("\(lines.count + 1). **\(stage.name)**: \(stage.summary)") }
        lines.append("\(lines.count + 1). **transport**: Checks the request a last time and sends it.")
        return lines.joined(separator: "\n")
    }

    /// The chain of calls with attributes.
    let full: NextInterceptor
    /// The chain of calls without attributes, which needs fewer stages.
    let plain: NextInterceptor

    /// Makes the chains of a client.
    ///
    /// - Parameter hasSchemes: Whether endpoints have ``SecurityRequirements``.
    init(
        _ configuration: WebServiceClient.Configuration, allowedOrigins: Set<Origin>, runtime: ClientRuntime, session: SessionItems,
        place: ServicePlace, hasSchemes: Bool
    ) {
        func chain(hasAttributes: Bool) -> NextInterceptor {
            Self.make(
                Setup(
                    configuration, allowedOrigins: allowedOrigins, runtime: runtime, session: session, place: place,
                    hasAttributes: hasAttributes, hasSchemes: hasSchemes))
        }
        full = chain(hasAttributes: true)
        plain = chain(hasAttributes: false)
    }

    private static func make(_ setup: Setup) -> NextInterceptor {
        let transport = TransportStage(
            transport: setup.configuration.transport, clock: setup.runtime.clock, faults: setup.configuration.faults)
        // A loop, not `reduce`: a closure that passes through a generic function is called through two more functions from then on.
        var next: NextInterceptor = { request, context in try await transport.send(request, context) }
        for stage in stages.reversed() { next = stage.add(setup, next) }
        return next
    }
}

extension Chain.Setup {
    fileprivate static func identifier(_ setup: Self) -> IdentifierReuse? {
        setup.hasAttributes ? IdentifierReuse(exchanges: setup.runtime.exchanges, partition: setup.partition) : nil
    }

    fileprivate static func interceptors(_ setup: Self) -> [any Interceptor] { setup.placed[.call] ?? [] }

    fileprivate static func preparation(_ setup: Self) -> CallPreparation? { CallPreparation(boundary: setup.boundary) }

    fileprivate static func idempotencyKey(_ setup: Self) -> IdempotencyKeys? {
        setup.hasAttributes ? IdempotencyKeys(boundary: setup.boundary) : nil
    }

    fileprivate static func redirects(_ setup: Self) -> Redirects? {
        Redirects(policy: setup.configuration.redirects, boundary: setup.boundary, cookies: cookies(setup))
    }

    fileprivate static func session(_ setup: Self) -> SessionStage? {
        setup.session.isEmpty ? nil : SessionStage(items: setup.session, boundary: setup.boundary)
    }

    fileprivate static func hopInterceptors(_ setup: Self) -> [any Interceptor] { setup.bounded(.hop) }

    fileprivate static func bodies(_ setup: Self) -> BodySettings? {
        guard setup.hasAttributes else { return nil }
        let canExpect = setup.configuration.transport.capabilities.contains(.expectations)
        return BodySettings(clock: setup.runtime.clock, canExpect: canExpect)
    }

    fileprivate static func cache(_ setup: Self) -> Caching? {
        guard let cache = setup.configuration.cache else { return nil }
        var partitions = CachePartitions(boundary: setup.boundary)
        partitions.state = setup.partition
        if let provider = setup.provider {
            partitions.identity = { request, context in try await provider.partitionIdentity(for: request, context) }
            if let session = (provider as? BearerTokenProvider)?.session { partitions.signIn = { session.signIn } }
        }
        if let jar = setup.configuration.cookies {
            let clock = setup.runtime.clock
            partitions.cookies = { request in
                (jar.identity, { jar.credentials(for: request, at: clock.date()) }, jar.field(for: request, at: clock.date()))
            }
        }
        return Caching(cache: cache, partitions: partitions, clock: setup.runtime.clock, background: setup.runtime.background)
    }

    fileprivate static func coalescing(_ setup: Self) -> CoalescingStage? {
        setup.hasAttributes ? CoalescingStage(exchanges: setup.runtime.exchanges, partition: setup.partition) : nil
    }

    fileprivate static func retry(_ setup: Self) -> Retry? {
        Retry(policy: setup.configuration.retry, clock: setup.runtime.clock, allowance: setup.retryAllowance)
    }

    fileprivate static func network(_ setup: Self) -> NetworkWaiting? {
        let own = setup.configuration.reachability
        guard setup.hasAttributes || own != nil else { return nil }
        return NetworkWaiting(
            reachability: own ?? .system, notesOutcomes: own != nil, waits: setup.runtime.networkWaits, clock: setup.runtime.clock)
    }

    fileprivate static func hedging(_ setup: Self) -> Hedging? {
        guard setup.hasAttributes else { return nil }
        let allowance = setup.retryAllowance
        return Hedging(clock: setup.runtime.clock, latencies: setup.runtime.latencies, pay: { allowance.take() != nil })
    }

    fileprivate static func circuitBreaker(_ setup: Self) -> CircuitBreaker? {
        guard setup.hasAttributes || setup.configuration.circuitBreaker != nil else { return nil }
        return CircuitBreaker(policy: setup.configuration.circuitBreaker, circuits: setup.runtime.circuits)
    }

    fileprivate static func attemptInterceptors(_ setup: Self) -> [any Interceptor] { setup.bounded(.attempt) }

    fileprivate static func tracing(_ setup: Self) -> Tracing? {
        guard let policy = setup.configuration.tracing else { return nil }
        let origins = ClientState.origins(policy.origins, of: "the tracing policy").origins
        return Tracing(sendsBaggage: policy.sendsBaggage, origins: origins, boundary: setup.boundary)
    }

    fileprivate static func rateLimit(_ setup: Self) -> RateLimiting? {
        setup.hasAttributes ? RateLimiting(limiter: setup.runtime.rateLimiter, queue: setup.runtime.queue) : nil
    }

    fileprivate static func queue(_ setup: Self) -> Queueing? {
        let configuration = setup.configuration
        let hasProvider = setup.provider != nil || configuration.proxyAuthenticationProvider != nil
        return Queueing(queue: setup.runtime.queue, hasInnerCalls: hasProvider)
    }

    fileprivate static func digests(_ setup: Self) -> DigestVerifying? { setup.hasAttributes ? DigestVerifying() : nil }

    fileprivate static func record(_ setup: Self) -> ExchangeRecord? { ExchangeRecord() }

    fileprivate static func authentication(_ setup: Self) -> AuthenticationInterceptor? {
        let configuration = setup.configuration
        guard setup.provider != nil || configuration.proxyAuthenticationProvider != nil else { return nil }
        var stage = AuthenticationInterceptor(
            setup.provider, proxy: configuration.proxyAuthenticationProvider,
            opensTunnels: configuration.transport.capabilities.contains(.proxyAuthentication))
        stage.boundary = setup.boundary
        return stage
    }

    fileprivate static func cookies(_ setup: Self) -> Cookies? {
        setup.configuration.cookies.map { Cookies(jar: $0, boundary: setup.boundary, clock: setup.runtime.clock) }
    }

    /// The client's budget of additional requests.
    private var retryAllowance: RetryAllowance {
        RetryAllowance(budget: configuration.retryBudget, account: runtime.retryAccounts.account(for: place))
    }

    /// Separates what calls share from that of other environments and sessions; empty without both.
    private var partition: String {
        place.environment == nil && session.identity.isEmpty ? "" : "\(place.environment ?? "")\n\(session.identity)"
    }

    private func bounded(_ place: InterceptorPlace) -> [any Interceptor] {
        (placed[place] ?? []).map { BoundedInterceptor(interceptor: $0, boundary: boundary) }
    }
}

/// The chain of stages that each call passes through, from the client's interceptors to the transport.
///
/// A stage is an ``Interceptor`` that the previous stage calls as its `next`. ``stages`` alone defines their order: a new stage needs a new
/// file and one line there. The article about interceptors prints the same list.
struct Chain {
    /// A stage, and how a client's configuration makes it.
    struct Stage: Sendable {
        /// The stage's name in the documentation.
        let name: String
        /// A sentence about the stage for the documentation.
        let summary: String
        /// Makes the interceptors of the stage, outermost first; none if the configuration doesn't need the stage.
        let make: @Sendable (Setup) -> [any Interceptor]

        init(_ name: String, _ summary: String, _ make: @escaping @Sendable (Setup) -> [any Interceptor]) {
            self.name = name
            self.summary = summary
            self.make = make
        }
    }

    /// The input that stages are made from.
    struct Setup: Sendable {
        let configuration: WebServiceClient.Configuration
        let boundary: OriginBoundary
        /// The state that the stages of a client share, whatever its configuration.
        let runtime: ClientRuntime
        /// The client's interceptors by place.
        let placed: [InterceptorPlace: [any Interceptor]]

        init(_ configuration: WebServiceClient.Configuration, allowedOrigins: Set<Origin>, runtime: ClientRuntime) {
            self.configuration = configuration
            self.runtime = runtime
            boundary = OriginBoundary(
                rules: configuration.headerRules, allowed: allowedOrigins, hasInterceptors: !configuration.interceptors.isEmpty)
            placed = Dictionary(grouping: configuration.interceptors) { ($0 as? PlacedInterceptor)?.place ?? .call }
        }
    }

    /// Every stage, outermost first.
    static let stages: [Stage] = [
        Stage("interceptors", "The client's interceptors, which also log and prepare: once per call.", Setup.interceptors),
        Stage("preparation", "The call's own `prepare` closure: once per call.", Setup.preparation),
        Stage("redirects", "Follows redirects by the client's policy. The stages below run once per hop.", Setup.redirects),
        Stage("hop interceptors", "The client's `.perHop` interceptors, which see each redirect's response.", Setup.hopInterceptors),
        Stage("cache", "Answers from the client's cache and fills it: once per hop.", Setup.cache),
        Stage("retry", "Repeats failed attempts by the retry policy. The stages below run once per attempt.", Setup.retry),
        Stage("attempt interceptors", "The client's `.perAttempt` interceptors, which see each response.", Setup.attemptInterceptors),
        Stage("record", "Keeps the request without credentials, for errors.", Setup.record),
        Stage("authentication", "Adds credentials and answers challenges of the service and the proxy.", Setup.authentication),
    ]

    /// The stages as a numbered Markdown list.
    static var documentation: String {
        var lines: [String] = []
        for stage in stages { lines.append("\(lines.count + 1). **\(stage.name)**: \(stage.summary)") }
        lines.append("\(lines.count + 1). **transport**: Checks the request a last time and sends it.")
        return lines.joined(separator: "\n")
    }

    /// Makes the chain of a client.
    static func make(
        _ configuration: WebServiceClient.Configuration, allowedOrigins: Set<Origin>, runtime: ClientRuntime
    ) -> NextInterceptor {
        let setup = Setup(configuration, allowedOrigins: allowedOrigins, runtime: runtime)
        let transport = TransportStage(transport: configuration.transport)
        let end: NextInterceptor = { request, context in try await transport.send(request, context) }
        return stages.flatMap { $0.make(setup) }.reversed().reduce(end) { next, stage in
            // An interceptor mustn't keep its `next`, but this one goes on after its calls.
            let stage = (stage as? Caching)?.continuing(with: next) ?? stage
            return { request, context in try await stage.intercept(request, context: context, next: next) }
        }
    }
}

extension Chain.Setup {
    fileprivate static func interceptors(_ setup: Self) -> [any Interceptor] { setup.placed[.call] ?? [] }

    fileprivate static func preparation(_ setup: Self) -> [any Interceptor] { [CallPreparation(boundary: setup.boundary)] }

    fileprivate static func redirects(_ setup: Self) -> [any Interceptor] {
        [Redirects(policy: setup.configuration.redirects, boundary: setup.boundary)]
    }

    fileprivate static func hopInterceptors(_ setup: Self) -> [any Interceptor] { setup.bounded(.hop) }

    fileprivate static func cache(_ setup: Self) -> [any Interceptor] {
        guard let cache = setup.configuration.cache else { return [] }
        var partitions = CachePartitions(boundary: setup.boundary)
        if let provider = setup.configuration.authenticationProvider {
            partitions.identity = { request, context in try await provider.partitionIdentity(for: request, context) }
        }
        return [
            Caching(cache: cache, partitions: partitions, clock: setup.runtime.clock, background: setup.runtime.background)
        ]
    }

    fileprivate static func retry(_ setup: Self) -> [any Interceptor] { [Retry(policy: setup.configuration.retry)] }

    fileprivate static func attemptInterceptors(_ setup: Self) -> [any Interceptor] { setup.bounded(.attempt) }

    fileprivate static func record(_ setup: Self) -> [any Interceptor] { [ExchangeRecord()] }

    fileprivate static func authentication(_ setup: Self) -> [any Interceptor] {
        let configuration = setup.configuration
        guard configuration.authenticationProvider != nil || configuration.proxyAuthenticationProvider != nil else { return [] }
        var stage = AuthenticationInterceptor(
            configuration.authenticationProvider, proxy: configuration.proxyAuthenticationProvider,
            opensTunnels: configuration.transport.capabilities.contains(.proxyAuthentication))
        stage.boundary = setup.boundary
        return [stage]
    }

    private func bounded(_ place: InterceptorPlace) -> [any Interceptor] {
        (placed[place] ?? []).map { BoundedInterceptor(interceptor: $0, boundary: boundary) }
    }
}

import Foundation

/// The stage of the chain that answers from a ``ResponseCache`` and fills it (RFC 9111).
///
/// It sees each hop of a redirect, once for all attempts. A response is stored while its body is read, and kept only if the body's end was
/// seen: a call that is cancelled, or stops reading, doesn't change the cache.
struct Caching: Interceptor {
    let cache: ResponseCache
    /// Whose responses are stored.
    let partitions: CachePartitions
    let clock: CallClock
    /// Validations that outlive their calls.
    let background: BackgroundCalls
    /// The rest of the chain, for validations in the background; `nil` for none.
    private var rest: NextInterceptor?

    init(cache: ResponseCache, partitions: CachePartitions, clock: CallClock, background: BackgroundCalls) {
        self.cache = cache
        self.partitions = partitions
        self.clock = clock
        self.background = background
    }

    /// The same stage with the rest of its chain.
    func continuing(with rest: @escaping NextInterceptor) -> Caching {
        var copy = self
        copy.rest = rest
        return copy
    }

    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        // A dry run shows the request that would be sent.
        guard !context.isDryRun, DryRun.current == nil, let url = CacheKey.text(of: request.url) else {
            return try await Self.pass(request, context, next)
        }
        let method = Self.effectiveMethod(of: request)
        switch method {
        case .get where request.body == nil, .head:
            guard let call = await call(request, context, url) else { return try await Self.pass(request, context, next) }
            return method == .head ? try await refresh(call, next) : try await answer(call, next)
        case _ where method.isSafe || context.attributes[CacheMode.self] == .onlyCached:
            return try await Self.pass(request, context, next)
        default:
            let response = try await next(request, context)
            // A failed request changes nothing that others must see (RFC 9111 §4.4).
            if (200..<400).contains(response.status) { cache.invalidate(Self.changedURLs(url, request, response)) }
            return response
        }
    }

    /// Sends a request that no stored response can answer, unless the call must be answered by one.
    static func pass(_ request: ServiceRequest, _ context: CallContext, _ next: NextInterceptor) async throws -> TransportResponse {
        if context.attributes[CacheMode.self] == .onlyCached, !context.isDryRun, DryRun.current == nil { return unavailable(request) }
        return try await next(request, context)
    }

    /// The answer to a request that must not be sent (RFC 9111 §5.2.1.7).
    private static func unavailable(_ request: ServiceRequest) -> TransportResponse {
        var response = TransportResponse(status: 504, headers: ["Content-Length": "0"], url: request.url)
        response.source = .cache
        response.secrets = request.secrets
        return response
    }

    // MARK: Requests

    /// The method that a server acts on.
    private static func effectiveMethod(of request: ServiceRequest) -> ServiceRequest.Method {
        guard request.method == .get || request.method == .head else { return request.method }
        for name in overrides {
            if let method = request.headers[name] { return ServiceRequest.Method(rawValue: method.uppercased()) }
        }
        return request.method
    }

    private static let overrides: [HTTPFields.Name] = ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"]

    /// The URLs whose responses a successful unsafe request invalidates: its own, and those in `Location` and `Content-Location` on the
    /// same origin.
    private static func changedURLs(_ url: String, _ request: ServiceRequest, _ response: TransportResponse) -> [String] {
        var urls = [url]
        for name in [HTTPFields.Name.location, .contentLocation] {
            guard let reference = response.headers.reference(name) else { continue }
            let text = URLText.resolve(URLText.repaired(reference), against: request.url.absoluteString)
            guard let other = URL(string: text), Origin(other) == request.origin, let key = CacheKey.text(of: other) else { continue }
            if !urls.contains(key) { urls.append(key) }
        }
        return urls
    }

    /// The call as the cache sees it; `nil` if the cache has nothing to do with it.
    private func call(_ request: ServiceRequest, _ context: CallContext, _ url: String) async -> CachedCall? {
        let attributes = context.attributes
        var rules = CacheRules()
        if !attributes.isEmpty {
            let caching = attributes[EndpointCaching.self] ?? .byServer
            if caching == .off { return nil }
            rules.lifetime = caching.seconds
            rules.mode = attributes[CacheMode.self] ?? .standard
            rules.offlineAge = attributes[OfflineCaching.self].map { $0.maximumAge.bounded / .seconds(1) }
        }
        rules.directives = RequestDirectives(in: request.headers)
        if rules.mode == .onlyCached { rules.directives.onlyIfCached = true }
        guard rules.mode != .noStore, !rules.directives.noStore, let partition = await partitions.partition(of: request, context) else {
            return nil
        }
        if let problem = cache.store.takeProblem() {
            context.diagnostics.report(.init(.warning, "The cache goes on without its store: \(problem)", call: context.identity))
        }
        return CachedCall(request, context, key: CacheKey(partition: partition.text, url: url), partition: partition, rules: rules)
    }

    // MARK: Answers

    private func answer(_ call: CachedCall, _ next: NextInterceptor) async throws -> TransportResponse {
        var known: [CacheEntry] = []
        // A reload doesn't use what it finds, but replaces it.
        if call.mayReadCache {
            known = await entries(for: call) { call.fits($0) }
            known.removeAll { !call.hasSuitableBody($0.head) }
        }
        let found = known.last.flatMap { call.fits($0.head) ? $0 : nil }
        if let found {
            let now = CacheMoment(clock)
            switch call.rules.verdict(on: found.head, at: now) {
            case .fresh:
                if let response = call.response(from: found, .cache, now) { return counted(response) }
            case .stale:
                if let response = call.response(from: found, .stale, now) { return counted(response) }
            case .staleWhileRevalidating:
                if let response = call.response(from: found, .stale, now) {
                    // RFC 9111 §5.2.1.7: the caller asks for no request at all.
                    if !call.rules.directives.onlyIfCached { validateInBackground(call, found) }
                    return counted(response)
                }
            case .validate: break
            }
        }
        if call.rules.directives.onlyIfCached { return Self.unavailable(call.request) }
        return try await fetch(call, found, known, next)
    }

    /// The stored responses of a call's URL, and of the URL in which its query has only the parameters that matter, up to the first one
    /// that a closure accepts.
    private func entries(for call: CachedCall, until isFound: @Sendable (CacheHead) -> Bool) async -> [CacheEntry] {
        let entries = await cache.store.entries(for: call.key, until: isFound)
        if let last = entries.last, isFound(last.head) { return entries }
        guard let canonical = cache.canonical(call.key.url) else { return entries }
        let others = await cache.store.entries(for: CacheKey(partition: call.key.partition, url: canonical)) {
            call.isEquivalent(to: $0) && isFound($0)
        }
        return entries + others.filter { call.isEquivalent(to: $0.head) }
    }

    private func counted(_ response: TransportResponse) -> TransportResponse {
        let bytes = response.body.expectedLength ?? 0
        cache.count { statistics in
            switch response.source {
            case .cache: statistics.hits += 1
            case .validated: statistics.validations += 1
            case .stale: statistics.stale += 1
            case .network: statistics.misses += 1
            }
            if response.source != .network { statistics.savedBytes &+= bytes }
        }
        return response
    }

    /// Asks the server: for the whole response, or whether a stored one is current.
    private func fetch(
        _ call: CachedCall, _ found: CacheEntry?, _ known: [CacheEntry], _ next: NextInterceptor
    ) async throws -> TransportResponse {
        let (request, isConditional) = call.outgoing(found, known)
        let exchange = CacheExchange(mark: cache.mark, requested: clock.date())
        call.context.record.forgetSent()
        let response: TransportResponse
        do {
            response = try await next(request, call.context)
        } catch {
            guard let found, let saved = afterFailure(error, call, found) else { throw error }
            return saved
        }
        let now = CacheMoment(clock)
        if isConditional, response.status == 304 {
            response.body.cancel()
            if let answer = confirmed(call, response, found, known, exchange, now) { return answer }
            // The stored response isn't the one that the server means: the caller needs the whole one.
            return try await fetch(call.unconditional, nil, [], next)
        }
        if let found, [500, 502, 503, 504].contains(response.status), call.rules.allowsStaleAfterError(found.head, at: now),
            let stale = call.response(from: found, .stale, now)
        {
            response.body.cancel()
            return counted(stale)
        }
        return counted(await stored(call, response, found, exchange, now))
    }

    /// The stored response, if it may replace a failure.
    private func afterFailure(_ error: any Error, _ call: CachedCall, _ found: CacheEntry) -> TransportResponse? {
        guard let failure = error as? TransportError, Self.isUnreachable(failure.code), !Task.isCancelled,
            call.context.record.cancellation.cause == nil
        else { return nil }
        let now = CacheMoment(clock)
        guard call.rules.allowsStaleOffline(found.head, at: now), let response = call.response(from: found, .stale, now) else { return nil }
        call.context.diagnostics.report(
            .init(.notice, "the server can't be reached (\(failure.code)); the answer is from the cache", call: call.context.identity))
        return counted(response)
    }

    /// Whether an error means that the server can't be reached, and not that it, or something between, can't be trusted.
    private static func isUnreachable(_ code: TransportError.Code) -> Bool {
        switch code {
        case .hostNotFound, .cannotConnect, .connectionLost, .timedOutConnecting, .timedOutWaiting, .timedOutTotal, .proxyRefused: true
        default: false
        }
    }

    /// Updates the stored response that a 304 confirms and returns it (RFC 9111 §4.3.4); `nil` if there is none.
    private func confirmed(
        _ call: CachedCall, _ response: TransportResponse, _ found: CacheEntry?, _ known: [CacheEntry], _ exchange: CacheExchange,
        _ now: CacheMoment
    ) -> TransportResponse? {
        guard let entry = CachedCall.confirmed(by: response.headers, found, known) else { return nil }
        // Another `Vary` would need the request fields of the stored response, and another `No-Vary-Search` its URL.
        let isOtherwiseSelected =
            response.headers.contains(.vary)
            && CacheSelection.names(in: response.headers) != entry.head.selection.map(\.name.canonicalName)
        if isOtherwiseSelected || CachedCall.changesSearch(of: entry.head, response.headers) {
            cache.store.remove(entry.head)
            return nil
        }
        let head = entry.head.updated(
            by: response.headers, requested: exchange.requested, received: now.date, instant: now.instant)
        if CacheControl(in: response.headers).has("no-store") || cache.wasInvalidated(call.key.url, since: exchange.mark) {
            cache.store.remove(entry.head)
        } else {
            cache.store.update(head)
        }
        guard var answer = call.response(from: entry.with(head), .validated, now) else { return nil }
        answer.report = response.report
        return counted(answer)
    }

    // MARK: Storing

    /// The maximum number of bytes of a redirect's body that are read to store it, because the redirect stage doesn't read the body.
    private static let redirectLimit: Int64 = 16 * 1024

    /// Returns the response; while its body is read, it is stored if it may be.
    private func stored(
        _ call: CachedCall, _ response: TransportResponse, _ found: CacheEntry?, _ exchange: CacheExchange, _ now: CacheMoment
    ) async -> TransportResponse {
        guard let head = call.head(of: response, exchange, now) else {
            // The server's new response replaces the stored one, even if the new one isn't stored.
            if let found, [200, 203, 204, 404, 410].contains(response.status), call.context.record.sent != nil {
                cache.store.remove(found.head)
            }
            return response
        }
        var response = response
        if (300..<400).contains(response.status), response.body.data == nil, let length = response.body.expectedLength,
            length <= Self.redirectLimit, let body = try? await response.body.collect(upTo: Int(Self.redirectLimit))
        {
            response.body = ResponseBody(body)
        }
        if let variance = NoVarySearch(in: head.headers) { cache.note(variance, of: call.key.url) }
        guard let writer = cache.store.writer(for: head) else { return response }
        let replaced = found.flatMap { $0.head.selectsTheSame(as: head) ? nil : $0.head }
        let filling = CacheFilling(
            writer, expected: response.body.expectedLength, most: head.part.flatMap { _ in call.partLength(response.headers) },
            isOutdated: { [cache] in
                cache.wasInvalidated(call.key.url, since: exchange.mark) || cache.wasInvalidated(head.key.url, since: exchange.mark)
            },
            finished: { [cache] in
                if let replaced { cache.store.remove(replaced) }
                cache.count { $0.stored += 1 }
            })
        response.body = response.body.observed(by: { filling.receive($0) }, stopped: { filling.stop() })
        return response
    }

    /// Sends a HEAD, and updates the stored response to a GET of the same URL with its fields (RFC 9111 §4.3.5).
    private func refresh(_ call: CachedCall, _ next: NextInterceptor) async throws -> TransportResponse {
        if call.rules.directives.onlyIfCached { return Self.unavailable(call.request) }
        let exchange = CacheExchange(mark: cache.mark, requested: clock.date())
        let response = try await next(call.request, call.context)
        guard response.status == 200, call.mayReadCache else { return response }
        let now = CacheMoment(clock)
        for entry in await entries(for: call, until: { _ in false }) {
            let head = entry.head
            guard head.status == 200, head.part == nil, call.selection.matches(head.selection) else { continue }
            cache.store.update(
                CachedCall.differs(head, response.headers)
                    ? head.outdated()
                    : head.updated(by: response.headers, requested: exchange.requested, received: now.date, instant: now.instant))
        }
        return response
    }

    // MARK: Validating in the background

    /// Validates a stored response that was used stale, unless that is being done (RFC 5861 §3).
    private func validateInBackground(_ call: CachedCall, _ found: CacheEntry) {
        guard let rest, cache.beginsRevalidation(of: call.key) else { return }
        var request = call.request
        // The caller's deadline is over for this request, which has its own.
        request.end = request.timeouts.total.map { clock.now().advanced(by: $0) }
        let call = call.detached(request)
        let isStarted = background.start {
            defer { cache.endRevalidation(of: call.key) }
            guard let response = try? await fetch(call, found, [found], rest) else { return }
            do {
                for try await _ in response.body {}
            } catch {
                response.body.cancel()
            }
        }
        if !isStarted { cache.endRevalidation(of: call.key) }
    }
}

/// The state of a request to the server until the response arrives.
struct CacheExchange: Sendable {
    /// The number of invalidations when it was sent.
    let mark: UInt64
    let requested: Date
}

/// Passes a body to a store while it is read.
final class CacheFilling: Sendable {
    private struct State {
        var count: Int64 = 0
        var hasEnded = false
    }

    private let writer: any CacheWriter
    private let expected: Int64?
    /// The maximum size of the body in bytes; `nil` for no limit.
    private let most: Int64?
    private let isOutdated: @Sendable () -> Bool
    private let finished: @Sendable () -> Void
    private let state = Locked(State())

    init(
        _ writer: any CacheWriter, expected: Int64?, most: Int64?, isOutdated: @escaping @Sendable () -> Bool,
        finished: @escaping @Sendable () -> Void
    ) {
        self.writer = writer
        self.expected = expected
        self.most = most
        self.isOutdated = isOutdated
        self.finished = finished
    }

    /// Takes the next piece; `nil` is the end.
    func receive(_ piece: Data?) {
        let (isTaken, isComplete): (Bool, Bool) = state.withLock { state in
            guard !state.hasEnded else { return (false, false) }
            state.count += Int64(piece?.count ?? 0)
            // A reader that has all bytes may not ask for the end.
            state.hasEnded = piece == nil || expected == state.count
            return (true, state.hasEnded)
        }
        guard isTaken else { return }
        if let piece { writer.append(piece) }
        guard isComplete else { return }
        let count = state.withLock { $0.count }
        if isOutdated() || expected.map({ $0 != count }) ?? false || most.map({ count > $0 }) ?? false {
            writer.discard()
        } else {
            writer.finish()
            finished()
        }
    }

    /// Ends the body before its end.
    func stop() {
        let isFirst = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        if isFirst { writer.discard() }
    }
}

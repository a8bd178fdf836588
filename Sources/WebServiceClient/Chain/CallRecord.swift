import Foundation

/// The state shared by all copies of a call's context: the call's identity, which never changes, and its progress. After the call,
/// interceptors outside retries and redirects read here what inner stages did with their own copies of the context.
package final class CallRecord: Sendable {
    let identity: CallIdentity
    let attributes: EndpointAttributes
    let serviceOrigin: Origin?
    let isForeign: Bool
    let cacheIdentifier: String?
    let diagnostics: Diagnostics
    /// Cancels the call from outside its task.
    package let cancellation = CallCancellation()
    /// The bound request of a call outside the service; `nil` for other calls.
    let outside: ServiceRequest?
    /// Whether a URL builder made the URL, which may have any origin.
    let hasURLBuilder: Bool
    /// The statuses that the endpoint accepts.
    let success: StatusSet
    /// The name by which the program finds, shares or replaces the call; `nil` if it has none.
    let identifier: CallIdentifier?
    /// Whether the caller reads the response's body as a stream.
    let isStream: Bool
    /// The maximum number of bytes of the response's body that are read into memory.
    let bodyLimit: Int
    /// Receives the progress of the call's transfers; `nil` if nothing observes it.
    let progress: CallProgress?
    /// The number of the generation of endpoints that the call uses.
    package let profileGeneration: Int

    /// A request on its way to the transport, without what authentication adds, and its answer.
    struct Exchange: Sendable {
        let request: ServiceRequest
        var answer: Answer?
    }

    /// The head of a response. It doesn't retain the body, because a retained body keeps its transfer alive.
    struct Answer: Sendable {
        let status: Int
        let headers: HTTPFields
        let url: URL
    }

    /// A wait of the call, for logs.
    package struct Wait: Sendable, Hashable {
        /// The reason for a wait.
        package enum Reason: String, Sendable {
            case retry
            case queue
            case rateLimit
            case network
        }

        package let reason: Reason
        package let duration: Duration
        /// The number of the attempt before which the call waited.
        package let attempt: Int
        /// What ended the attempt before, such as `status 503`; empty if there was none.
        package let cause: String

        package init(reason: Reason, duration: Duration, attempt: Int, cause: String) {
            self.reason = reason
            self.duration = duration
            self.attempt = attempt
            self.cause = cause
        }
    }

    private struct State: Sendable {
        var waits: [Wait] = []
        var repeats = 0
        /// The beginning of the first attempt.
        var start: MonotonicInstant?
        /// The wait that the last response asked for.
        var askedWait: Duration?
        var redirects = 0
        var hedges = 0
        var exchange: Exchange?
        /// The exchange of a hedging request and its number, in addition to the first request's.
        var hedge: (number: Int, exchange: Exchange)?
        /// The URL, the fields and the secrets of the last request as sent, with those that authentication adds.
        var sent: (url: URL, fields: HTTPFields, secrets: RequestSecrets?)?
        /// The number of exchanges so far.
        var number = 0
        /// The number of ``exchange``.
        var current = 0
        /// The record of the shared exchange that the call waits for.
        var shared: CallRecord?
        /// Whether the authentication provider threw an error after the last exchange began.
        var hasProviderFailed = false
        /// The span of each exchange that carried one, at most the first hundred.
        var spans: [TraceContext] = []
    }

    private let state = Locked(State())

    init(
        identity: CallIdentity, attributes: EndpointAttributes, serviceOrigin: Origin?, isForeign: Bool, cacheIdentifier: String?,
        diagnostics: Diagnostics, outside: ServiceRequest? = nil, hasURLBuilder: Bool = false, success: StatusSet = .success,
        identifier: CallIdentifier? = nil, isStream: Bool = false, bodyLimit: Int = .max, progress: CallProgress? = nil,
        profileGeneration: Int = 0
    ) {
        self.identity = identity
        self.attributes = attributes
        self.serviceOrigin = serviceOrigin
        self.isForeign = isForeign
        self.cacheIdentifier = cacheIdentifier
        self.diagnostics = diagnostics
        self.outside = outside
        self.hasURLBuilder = hasURLBuilder
        self.success = success
        self.identifier = identifier
        self.isStream = isStream
        self.bodyLimit = bodyLimit
        self.progress = progress
        self.profileGeneration = profileGeneration
    }

    /// Creates the record of an exchange that calls like this one share. Cancelling this call doesn't cancel it.
    func shared(_ progress: CallProgress) -> CallRecord {
        let record = CallRecord(
            identity: identity, attributes: attributes, serviceOrigin: serviceOrigin, isForeign: isForeign,
            cacheIdentifier: cacheIdentifier, diagnostics: diagnostics, outside: outside, hasURLBuilder: hasURLBuilder,
            success: success, bodyLimit: bodyLimit, progress: progress, profileGeneration: profileGeneration)
        record.state.withLock { [repeats, redirects] in ($0.repeats, $0.redirects) = (repeats, redirects) }
        return record
    }

    /// Refers to a shared exchange, whose progress is also that of this call.
    func joins(_ record: CallRecord) {
        state.withLock { $0.shared = record }
    }

    /// The record that knows the call's progress.
    private func read<Value>(_ value: (borrowing State) -> Value) -> Value {
        guard let shared = state.withLock({ $0.shared }) else { return state.withLock { value($0) } }
        return shared.read(value)
    }

    /// The number of repeats after failures.
    package var repeats: Int { read { $0.repeats } }

    /// The number of redirects followed, in all attempts together.
    package var redirects: Int {
        // A shared exchange may be one hop of this call, or the whole of it.
        max(state.withLock { $0.redirects }, read { $0.redirects })
    }

    /// The last request on its way to the transport; `nil` before the first.
    var request: ServiceRequest? { read { $0.exchange?.request } }

    /// The last request with its answer.
    var exchange: Exchange? { read { $0.exchange } }

    /// Whether the authentication provider's error ended the failed call.
    var hasProviderFailed: Bool { read { $0.hasProviderFailed } }

    func noteProviderFailure() {
        state.withLock { $0.hasProviderFailed = true }
    }

    /// The waits of the call so far, at most the first hundred.
    package var waits: [Wait] { read { $0.waits } }

    package func noteWait(_ wait: Wait) {
        state.withLock { if $0.waits.count < 100 { $0.waits.append(wait) } }
    }

    /// Notes the beginning of the attempts at one hop.
    ///
    /// - Returns: The number of repeats so far, and the beginning of the call's first attempt.
    func beginsAttempts(at now: MonotonicInstant) -> (repeats: Int, start: MonotonicInstant) {
        state.withLock { state in
            let start = state.start ?? now
            state.start = start
            return (state.repeats, start)
        }
    }

    /// Whether a status is a success of the endpoint, after which nothing is repeated. If an endpoint accepts all statuses, its statuses
    /// don't show failures.
    @inline(__always)
    func isSuccess(_ status: Int) -> Bool {
        success.contains(status) && (status < 400 || success != .any)
    }

    func noteAskedWait(_ wait: Duration?) {
        state.withLock { $0.askedWait = wait }
    }

    /// The last request on its way to the transport, and the wait that its response asks for.
    var end: (request: ServiceRequest?, askedWait: Duration?) {
        state.withLock { ($0.exchange?.request, $0.askedWait) }
    }

    /// The number of requests on their way to the transport so far, repeats and redirects included.
    package var exchanges: Int { state.withLock { $0.number } }

    /// The spans that the call's requests carried so far, in their order, at most the first hundred.
    package var spans: [TraceContext] { state.withLock { $0.spans } }

    func noteSpan(_ span: TraceContext) {
        state.withLock { if $0.spans.count < 100 { $0.spans.append(span) } }
    }

    func countRepeat() {
        state.withLock { $0.repeats += 1 }
    }

    /// The number of second requests that hedging sent.
    package var hedges: Int { state.withLock { $0.hedges } }

    func countHedge() {
        state.withLock { $0.hedges += 1 }
    }

    func countRedirect() {
        state.withLock { $0.redirects += 1 }
    }

    /// Begins an exchange.
    ///
    /// - Parameter isHedge: Whether the exchange runs in addition to another one, whose record is kept.
    /// - Returns: The exchange's number, which its answer refers to.
    @inline(never)
    func begins(_ request: ServiceRequest, isHedge: Bool = false) -> Int {
        state.withLock { state in
            state.number += 1
            state.hasProviderFailed = false
            state.shared = nil
            if isHedge {
                state.hedge = (state.number, Exchange(request: request))
            } else {
                state.exchange = Exchange(request: request)
                state.current = state.number
            }
            return state.number
        }
    }

    /// The URL and the fields of the last answered request as sent; `nil` if the call, or the call's last hop, sent none.
    var sent: (url: URL, fields: HTTPFields)? { state.withLock { state in state.sent.map { ($0.url, $0.fields) } } }

    /// The secrets of the call, and those in the URL, the fields and the body of its last answered request, which the server may repeat in
    /// its answer.
    ///
    /// - Parameter known: The secrets of the request without what authentication adds.
    package func secrets(adding known: RequestSecrets?) -> RequestSecrets? {
        let (last, body) = read { ($0.sent, $0.exchange?.request.body) }
        guard let sent = last else { return known }
        let known = known ?? sent.secrets
        var credentials = RequestSecrets.credentials(in: sent.fields, known?.rules ?? .standard)
        credentials += RequestSecrets.credentials(in: sent.url) + (body.map(RequestSecrets.credentials(in:)) ?? [])
        return RequestSecrets.adding((sent.secrets?.exactTexts ?? []) + credentials, to: known)
    }

    /// Forgets the request of an earlier hop.
    func forgetSent() {
        state.withLock { $0.sent = nil }
    }

    /// Records the answer, unless a later exchange has begun: an interceptor may send two at once.
    func isAnswered(by response: TransportResponse, to request: ServiceRequest, exchange number: Int) {
        let answer = Answer(status: response.status, headers: response.headers, url: response.url)
        state.withLock { state in
            state.sent = (request.url, request.headers, request.secrets)
            if state.current == number { state.exchange?.answer = answer }
            if state.hedge?.number == number { state.hedge?.exchange.answer = answer }
        }
    }

    /// Ends hedging: keeps the record of one of both exchanges, and ignores what the other still does.
    func keepsHedge(_ isKept: Bool) {
        state.withLock { state in
            if isKept, let hedge = state.hedge {
                state.exchange = hedge.exchange
                state.current = hedge.number
            }
            state.hedge = nil
        }
    }
}

/// Records each request for the call's errors. It runs after preparation, redirects and retries, but before authentication, because errors
/// must not contain credentials.
struct ExchangeRecord: Interceptor {
    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        var context = context
        context.exchange = context.record.begins(request, isHedge: context.isHedge)
        return try await next(request, context)
    }
}

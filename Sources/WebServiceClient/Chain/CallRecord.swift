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
    let cancellation = CallCancellation()
    /// The bound request of a call outside the service; `nil` for other calls.
    let outside: ServiceRequest?
    /// Whether a URL builder made the URL, which may have any origin.
    let hasURLBuilder: Bool

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
        /// What the call waited for.
        package enum Reason: String, Sendable {
            case retry
            case queue
            case rateLimit
        }

        package let reason: Reason
        package let duration: Duration
        /// The number of the attempt before which the call waited.
        package let attempt: Int
        /// What ended the attempt before, such as `status 503`; empty if there was none.
        package let cause: String
    }

    private struct State: Sendable {
        var waits: [Wait] = []
        var repeats = 0
        var redirects = 0
        var exchange: Exchange?
        /// The fields of the last request as sent, with those that authentication adds.
        var sentFields: HTTPFields?
        /// The number of exchanges so far.
        var number = 0
        /// Whether the authentication provider threw an error after the last exchange began.
        var hasProviderFailed = false
    }

    private let state = Locked(State())

    init(
        identity: CallIdentity, attributes: EndpointAttributes, serviceOrigin: Origin?, isForeign: Bool, cacheIdentifier: String?,
        diagnostics: Diagnostics, outside: ServiceRequest? = nil, hasURLBuilder: Bool = false
    ) {
        self.identity = identity
        self.attributes = attributes
        self.serviceOrigin = serviceOrigin
        self.isForeign = isForeign
        self.cacheIdentifier = cacheIdentifier
        self.diagnostics = diagnostics
        self.outside = outside
        self.hasURLBuilder = hasURLBuilder
    }

    /// The number of repeats after failures.
    package var repeats: Int { state.withLock { $0.repeats } }

    /// The number of redirects followed, in all attempts together.
    package var redirects: Int { state.withLock { $0.redirects } }

    /// The last request on its way to the transport; `nil` before the first.
    var request: ServiceRequest? { state.withLock { $0.exchange?.request } }

    /// The last request with its answer.
    var exchange: Exchange? { state.withLock { $0.exchange } }

    /// Whether the authentication provider's error ended the failed call.
    var hasProviderFailed: Bool { state.withLock { $0.hasProviderFailed } }

    func noteProviderFailure() {
        state.withLock { $0.hasProviderFailed = true }
    }

    /// The waits of the call so far, at most the first hundred.
    package var waits: [Wait] { state.withLock { $0.waits } }

    func noteWait(_ wait: Wait) {
        state.withLock { if $0.waits.count < 100 { $0.waits.append(wait) } }
    }

    func countRepeat() {
        state.withLock { $0.repeats += 1 }
    }

    func countRedirect() {
        state.withLock { $0.redirects += 1 }
    }

    /// Begins an exchange.
    ///
    /// - Returns: The exchange's number, which its answer refers to.
    func begins(_ request: ServiceRequest) -> Int {
        state.withLock { state in
            state.number += 1
            state.hasProviderFailed = false
            state.exchange = Exchange(request: request)
            return state.number
        }
    }

    /// The fields of the last answered request as sent; `nil` if the call, or the call's last hop, sent none.
    var sentFields: HTTPFields? { state.withLock { $0.sentFields } }

    /// Forgets the fields of an earlier hop.
    func forgetSentFields() {
        state.withLock { $0.sentFields = nil }
    }

    /// Records the answer, unless a later exchange has begun: an interceptor may send two at once.
    func isAnswered(by response: TransportResponse, to fields: HTTPFields, exchange number: Int) {
        let answer = Answer(status: response.status, headers: response.headers, url: response.url)
        state.withLock { state in
            state.sentFields = fields
            if state.number == number { state.exchange?.answer = answer }
        }
    }
}

/// Records each request for the call's errors. It runs after preparation, redirects and retries, but before authentication, because errors
/// must not contain credentials.
struct ExchangeRecord: Interceptor {
    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        var context = context
        context.exchange = context.record.begins(request)
        return try await next(request, context)
    }
}

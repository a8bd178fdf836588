import Foundation

/// What all copies of a call's context share: which call it is, which never changes, and how far it has come. Interceptors outside retries and
/// redirects read here, after the call, what the stages inside did with copies of their own.
package final class CallRecord: Sendable {
    let identity: CallIdentity
    let attributes: EndpointAttributes
    let serviceOrigin: Origin?
    let isForeign: Bool
    let cacheIdentifier: String?
    let diagnostics: Diagnostics
    /// The request of a call outside the service as it was bound; `nil` for other calls.
    let outside: ServiceRequest?
    /// Whether the URL was made by a builder, which may take any origin.
    let hasURLBuilder: Bool

    /// A request as it was on its way to the transport, without what authentication adds, and what it was answered with.
    struct Exchange: Sendable {
        let request: ServiceRequest
        var answer: Answer?
    }

    /// The head of a response. The body isn't held: who holds it keeps its transfer.
    struct Answer: Sendable {
        let status: Int
        let headers: HTTPFields
        let url: URL
    }

    private struct State: Sendable {
        var repeats = 0
        var redirects = 0
        var exchange: Exchange?
        /// How many exchanges there were.
        var number = 0
        /// Whether the authentication provider has thrown since the last exchange began.
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

    /// How often the call was repeated after a failure.
    package var repeats: Int { state.withLock { $0.repeats } }

    /// How many redirects were followed, in all attempts together.
    package var redirects: Int { state.withLock { $0.redirects } }

    /// The last request on its way to the transport; `nil` before the first.
    var request: ServiceRequest? { state.withLock { $0.exchange?.request } }

    /// The same with its answer.
    var exchange: Exchange? { state.withLock { $0.exchange } }

    /// Whether it was the authentication provider that has ended the call, if it has failed.
    var hasProviderFailed: Bool { state.withLock { $0.hasProviderFailed } }

    func noteProviderFailure() {
        state.withLock { $0.hasProviderFailed = true }
    }

    func countRepeat() {
        state.withLock { $0.repeats += 1 }
    }

    func countRedirect() {
        state.withLock { $0.redirects += 1 }
    }

    /// Begins an exchange.
    ///
    /// - Returns: its number, by which the answer finds it.
    func begins(_ request: ServiceRequest) -> Int {
        state.withLock { state in
            state.number += 1
            state.hasProviderFailed = false
            state.exchange = Exchange(request: request)
            return state.number
        }
    }

    /// Notes the answer, unless another exchange has begun since: an interceptor may have sent two at once.
    func isAnswered(by response: TransportResponse, exchange number: Int) {
        let answer = Answer(status: response.status, headers: response.headers, url: response.url)
        state.withLock { state in
            if state.number == number { state.exchange?.answer = answer }
        }
    }
}

/// Notes each request for the call's errors, after all that prepares, redirects and repeats it, and before authentication: what that adds is no
/// part of an error.
struct ExchangeRecord: Interceptor {
    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        var context = context
        context.exchange = context.record.begins(request)
        return try await next(request, context)
    }
}

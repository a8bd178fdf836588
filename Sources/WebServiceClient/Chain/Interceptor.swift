import Foundation

/// The rest of the chain after an interceptor. An interceptor calls it once, several times, or not at all.
public typealias NextInterceptor = @Sendable (_ request: ServiceRequest, _ context: CallContext) async throws -> TransportResponse

/// A stage that wraps the rest of the chain for each call.
///
/// Use interceptors to change, observe, answer or repeat calls. To send requests in another way, write a ``Transport`` instead. An
/// interceptor
/// * may change the request before it calls `next` and the response after it;
/// * may answer without calling `next`, or call it several times; before it repeats a call, it drops or cancels the response's body and
///   checks that the request's body ``RequestBody/isReplayable``;
/// * rethrows `CancellationError`;
/// * throws to end the call: the caller receives a ``ServiceError`` whose cause is that error.
///
/// To test one, call it with a closure for `next`:
///
///     let response = try await MyInterceptor().intercept(request, context: .test) { request, _ in
///         TransportResponse(status: 200, url: request.url)
///     }
public protocol Interceptor: Sendable {
    /// Handles one request of a call.
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse
}

/// The properties of a call that interceptors can read, in addition to the request.
public struct CallContext: Sendable {
    /// The call's identity.
    public var identity: CallIdentity { record.identity }
    /// The attributes of the call's endpoint, both the library's and user-defined ones.
    public var attributes: EndpointAttributes { record.attributes }
    /// The service root's origin, which the client's credentials belong to; `nil` without a root.
    public var serviceOrigin: Origin? { record.serviceOrigin }
    /// Whether the call goes to an absolute URL outside the service root. Such a call carries no credentials and no client headers.
    public var isForeign: Bool { record.isForeign }
    /// The key for caching the call's response, with the call's arguments; `nil` if the endpoint has none.
    public var cacheIdentifier: String? { record.cacheIdentifier }
    /// Receives the library's diagnostics.
    public var diagnostics: Diagnostics { record.diagnostics }
    /// The ``ProfileGeneration/number`` of the endpoints that the call uses. Metrics by it show which profile causes failures.
    public var profileGeneration: Int { record.profileGeneration }
    /// The number of the attempt, from 1. Each retry increments it; it continues across redirect hops.
    public var attempt = 1
    /// The number of redirects followed so far.
    public var hop = 0
    /// Whether the request is the second one of an attempt, which ``Hedging`` sends in addition to the first.
    public internal(set) var isHedge = false
    /// The state shared by all copies of this context. Each stage of the chain may copy the context.
    package let record: CallRecord
    /// The number of the exchange in ``record``.
    var exchange = 0
    /// The dry run that stops the call before it is sent; `nil` for other calls.
    var dryRun: DryRun?
    /// Whether the call is a dry run, which must not be logged or counted.
    package var isDryRun: Bool { dryRun != nil }
    /// The request's URL without the credentials that authentication has put into it; `nil` if it has put none into it.
    var shownURL: URL?
    /// The call's own `prepare` closure.
    var prepare: (@Sendable (inout ServiceRequest) async throws -> Void)?

    /// Creates a context. The library makes one for each call, tests make their own.
    public init(
        identity: CallIdentity = CallIdentity(client: "Client", key: "call()", route: "/"),
        attributes: EndpointAttributes = EndpointAttributes(), serviceOrigin: Origin? = nil, isForeign: Bool = false,
        cacheIdentifier: String? = nil, diagnostics: Diagnostics = Diagnostics()
    ) {
        record = CallRecord(
            identity: identity, attributes: attributes, serviceOrigin: serviceOrigin, isForeign: isForeign,
            cacheIdentifier: cacheIdentifier, diagnostics: diagnostics)
    }

    /// Creates a context for a record.
    init(_ record: CallRecord) {
        self.record = record
    }

    /// The context of an exchange that this call and others share.
    func shared(_ record: CallRecord) -> CallContext {
        var context = CallContext(record)
        (context.attempt, context.hop, context.prepare) = (attempt, hop, prepare)
        return context
    }
}

/// The stage that runs the call's own `prepare`, after the client's interceptors, so the call can override them. After this stage, errors
/// of the body's own stream are wrapped and recognizable.
struct CallPreparation: Interceptor {
    let boundary: OriginBoundary

    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        let request = context.prepare == nil ? checked(unprepared(request, context), context) : try await prepared(request, context)
        return try await next(request, context)
    }

    /// Runs the call's `prepare`.
    @inline(never)
    private func prepared(_ request: ServiceRequest, _ context: CallContext) async throws -> ServiceRequest {
        var request = unprepared(request, context)
        try await context.prepare?(&request)
        return checked(request, context)
    }

    /// The request without what the client's interceptors have added to a call outside the service.
    @inline(never)
    private func unprepared(_ request: ServiceRequest, _ context: CallContext) -> ServiceRequest {
        guard boundary.watches(context), let bound = context.record.outside else { return request }
        return boundary.withoutAdditions(request, to: bound, context)
    }

    /// The request with what must be true after all preparation.
    @inline(never)
    private func checked(_ request: ServiceRequest, _ context: CallContext) -> ServiceRequest {
        var request = boundary.watches(context) ? boundary.withinOrigin(request, context) : request
        // A boundary other than the body's own makes the body unreadable, so it is always replaced.
        if let body = request.body {
            if body.contentTypeIsBinding, let type = body.contentType { request.headers[.contentType] = type }
            if case .stream = body.source { request.body = body.wrappingErrors }
        }
        return request
    }
}

/// Changes requests before they are sent, for example to add headers, sign values or name a tenant. For credentials, prefer an
/// ``AuthenticationProvider``: fields that a preparer sets are removed if the call goes to an origin outside the service.
///
///     $0.interceptors = [RequestPreparer { $0.headers["X-Team"] = "core" }]
///
/// It runs once per call, before redirects and retries. Several preparers run in the order of the list. An error ends the call.
public struct RequestPreparer: Interceptor {
    private let prepare: @Sendable (inout ServiceRequest, CallContext) async throws -> Void

    /// Creates a preparer that changes the request.
    public init(_ prepare: @escaping @Sendable (inout ServiceRequest) async throws -> Void) {
        self.prepare = { request, _ in try await prepare(&request) }
    }

    /// Creates a preparer that also receives the call's context.
    public init(_ prepare: @escaping @Sendable (inout ServiceRequest, CallContext) async throws -> Void) {
        self.prepare = prepare
    }

    /// Prepares the request and passes it on.
    public func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        var request = request
        try await prepare(&request, context)
        return try await next(request, context)
    }
}

/// Changes responses before their status is checked and they are decoded, for example to decrypt, unwrap or count them.
///
///     $0.interceptors = [ResponseProcessor { $0.headers["X-Seen"] = "1" }]
///
/// It runs once per call, on the final response. Interceptors wrap the interceptors listed after them, so the last of several processors
/// runs first; ``init(inOrder:)`` combines several that run in list order. An error ends the call, and the remaining processors don't run.
public struct ResponseProcessor: Interceptor {
    private let process: @Sendable (inout TransportResponse, CallContext) async throws -> Void

    /// Creates a processor that changes the response.
    public init(_ process: @escaping @Sendable (inout TransportResponse) async throws -> Void) {
        self.process = { response, _ in try await process(&response) }
    }

    /// Creates a processor that also receives the call's context.
    public init(_ process: @escaping @Sendable (inout TransportResponse, CallContext) async throws -> Void) {
        self.process = process
    }

    /// Creates one processor from several, which run in order until one throws.
    public init(inOrder processors: [ResponseProcessor]) {
        process = { response, context in
            for processor in processors { try await processor.process(&response, context) }
        }
    }

    /// Passes the request on and processes the response.
    public func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        var response = try await next(request, context)
        try await process(&response, context)
        return response
    }
}

/// Where in the chain an interceptor runs.
public enum InterceptorPlace: Sendable, Hashable {
    /// Once per call, outside redirects and retries.
    case call
    /// Once per hop: for the call's request and for each redirect that is followed, outside retries.
    case hop
    /// Once per attempt: inside redirects and retries, before authentication.
    case attempt
}

/// An interceptor with its place in the chain: see ``Interceptor/perHop(_:)`` and ``Interceptor/perAttempt(_:)``.
public struct PlacedInterceptor: Interceptor {
    /// The interceptor's place in the chain.
    public let place: InterceptorPlace
    private let interceptor: any Interceptor

    fileprivate init(_ interceptor: any Interceptor, at place: InterceptorPlace) {
        // The outermost place wins.
        self.interceptor = (interceptor as? PlacedInterceptor)?.interceptor ?? interceptor
        self.place = place
    }

    /// Passes the request to the interceptor.
    public func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        try await interceptor.intercept(request, context: context, next: next)
    }
}

extension Interceptor where Self == PlacedInterceptor {
    /// Runs an interceptor once per hop, inside redirects. It sees the response of each redirect, such as the `Set-Cookie` of a login's
    /// 302.
    ///
    ///     $0.interceptors = [Timing(), .perHop(SessionCookie())]
    public static func perHop(_ interceptor: any Interceptor) -> PlacedInterceptor { PlacedInterceptor(interceptor, at: .hop) }

    /// Runs an interceptor once per attempt, inside redirects and retries. It sees the response or error of each attempt. The request
    /// doesn't have the authentication provider's credentials yet.
    public static func perAttempt(_ interceptor: any Interceptor) -> PlacedInterceptor { PlacedInterceptor(interceptor, at: .attempt) }
}

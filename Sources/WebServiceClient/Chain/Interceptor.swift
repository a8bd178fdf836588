/// What follows an interceptor in the chain: call it to go on, once, never, or again.
public typealias NextInterceptor = @Sendable (_ request: ServiceRequest, _ context: CallContext) async throws -> TransportResponse

/// Something that happens to a call: it wraps whatever follows it in the chain.
///
/// This is the seam for changing, watching, answering or repeating calls. To put bytes on the wire in another way, write a
/// ``Transport`` instead. An interceptor
/// * may change the request before it calls `next` and the response after it;
/// * may answer by itself without calling `next`, or call it several times; before it repeats a call it drops or cancels the
///   response's body and checks that the request's body ``RequestBody/isReplayable``;
/// * lets `CancellationError` pass;
/// * throws to end the call: the caller gets a ``ServiceError`` whose cause is that error.
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

/// What an interceptor may know of the call beside the request.
public struct CallContext: Sendable {
    /// Which call it is.
    public var identity: CallIdentity { record.identity }
    /// The attributes of the call's endpoint, the library's and the user's own.
    public var attributes: EndpointAttributes { record.attributes }
    /// The origin that the client's credentials belong to: the service root's; `nil` without one.
    public var serviceOrigin: Origin? { record.serviceOrigin }
    /// Whether the call goes to an absolute URL outside the service root: it carries no credentials and no client headers.
    public var isForeign: Bool { record.isForeign }
    /// What the call's response is to be kept under, with the call's arguments; `nil` where the endpoint says nothing.
    public var cacheIdentifier: String? { record.cacheIdentifier }
    /// Where the library says what it has to say.
    public var diagnostics: Diagnostics { record.diagnostics }
    /// The number of the attempt, from 1; retrying raises it. It counts on over the hops of redirects.
    public var attempt = 1
    /// The number of redirects that were followed so far.
    public var hop = 0
    /// What all copies of this context share: each stage of the chain makes some.
    package let record: CallRecord
    /// The number of the exchange in ``record``.
    var exchange = 0
    /// The dry run that the call is to stop for, if it is one: nothing is sent then.
    var dryRun: DryRun?
    /// Whether the call is a dry run, of which nothing is to be logged or counted.
    package var isDryRun: Bool { dryRun != nil }
    /// What the call itself does to its request.
    var prepare: (@Sendable (inout ServiceRequest) async throws -> Void)?

    /// A context; the library makes one for each call, tests make their own.
    public init(
        identity: CallIdentity = CallIdentity(client: "Client", key: "call()", route: "/"),
        attributes: EndpointAttributes = EndpointAttributes(), serviceOrigin: Origin? = nil, isForeign: Bool = false,
        cacheIdentifier: String? = nil, diagnostics: Diagnostics = Diagnostics()
    ) {
        record = CallRecord(
            identity: identity, attributes: attributes, serviceOrigin: serviceOrigin, isForeign: isForeign,
            cacheIdentifier: cacheIdentifier, diagnostics: diagnostics)
    }

    /// A context of a record.
    init(_ record: CallRecord) {
        self.record = record
    }
}

/// The stage of the chain that runs the call's own `prepare`, behind the client's interceptors: the call has the last word.
/// From here on, what the body's own stream throws is known for what it is.
struct CallPreparation: Interceptor {
    let boundary: OriginBoundary

    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        var request = request
        let isWatched = boundary.watches(context)
        if isWatched, let bound = context.record.outside { request = boundary.withoutAdditions(request, to: bound, context) }
        try await context.prepare?(&request)
        if isWatched { request = boundary.withinOrigin(request, context) }
        // A boundary that isn't the body's own makes the body unreadable, whoever set it.
        if let body = request.body {
            if body.contentTypeIsBinding, let type = body.contentType { request.headers[.contentType] = type }
            if case .stream = body.source { request.body = body.tellingFailures }
        }
        return try await next(request, context)
    }
}

/// Changes requests before they are sent: headers to add, values to sign, a tenant to name. Credentials are better given by an
/// ``AuthenticationProvider``: what a preparer sets stays behind where the call goes to another origin than the service's.
///
///     $0.interceptors = [RequestPreparer { $0.headers["X-Team"] = "core" }]
///
/// It runs once per call, before redirects and retries; several run in the order in which they are listed. An error ends the call.
public struct RequestPreparer: Interceptor {
    private let prepare: @Sendable (inout ServiceRequest, CallContext) async throws -> Void

    /// A preparer that changes the request.
    public init(_ prepare: @escaping @Sendable (inout ServiceRequest) async throws -> Void) {
        self.prepare = { request, _ in try await prepare(&request) }
    }

    /// A preparer that also sees which call it is.
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

/// Changes responses before their status is checked and they are decoded: to decrypt, unwrap, count.
///
///     $0.interceptors = [ResponseProcessor { $0.headers["X-Seen"] = "1" }]
///
/// It runs once per call, on the final response. Interceptors wrap what is listed behind them, so of several processors the last listed
/// runs first; ``init(inOrder:)`` makes one of several that run in their order. An error ends the call, and the processors behind it don't run.
public struct ResponseProcessor: Interceptor {
    private let process: @Sendable (inout TransportResponse, CallContext) async throws -> Void

    /// A processor that changes the response.
    public init(_ process: @escaping @Sendable (inout TransportResponse) async throws -> Void) {
        self.process = { response, _ in try await process(&response) }
    }

    /// A processor that also sees which call it is.
    public init(_ process: @escaping @Sendable (inout TransportResponse, CallContext) async throws -> Void) {
        self.process = process
    }

    /// One processor of several, which run one after the other until one throws.
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
    /// Where the interceptor runs.
    public let place: InterceptorPlace
    private let interceptor: any Interceptor

    fileprivate init(_ interceptor: any Interceptor, at place: InterceptorPlace) {
        // The outermost place counts.
        self.interceptor = (interceptor as? PlacedInterceptor)?.interceptor ?? interceptor
        self.place = place
    }

    /// Passes the request to the interceptor.
    public func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        try await interceptor.intercept(request, context: context, next: next)
    }
}

extension Interceptor where Self == PlacedInterceptor {
    /// Runs an interceptor once per hop, inside redirects: it sees the response of each redirect, such as the `Set-Cookie` of a login's 302.
    ///
    ///     $0.interceptors = [Timing(), .perHop(SessionCookie())]
    public static func perHop(_ interceptor: any Interceptor) -> PlacedInterceptor { PlacedInterceptor(interceptor, at: .hop) }

    /// Runs an interceptor once per attempt, inside redirects and retries: it sees the response or error of each attempt. The request has no
    /// credentials of the authentication provider yet.
    public static func perAttempt(_ interceptor: any Interceptor) -> PlacedInterceptor { PlacedInterceptor(interceptor, at: .attempt) }
}

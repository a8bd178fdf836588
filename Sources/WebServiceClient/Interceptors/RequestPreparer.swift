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

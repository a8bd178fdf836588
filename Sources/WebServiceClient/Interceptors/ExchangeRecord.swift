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

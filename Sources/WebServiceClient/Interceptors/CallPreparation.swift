/// The stage of the chain that runs the call's own `prepare`, behind the client's interceptors: the call has the last word.
struct CallPreparation: Interceptor {
    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        var request = request
        try await context.prepare?(&request)
        // A boundary that isn't the body's own makes the body unreadable, whoever set it.
        if let body = request.body, body.contentTypeIsBinding, let type = body.contentType { request.headers[.contentType] = type }
        return try await next(request, context)
    }
}

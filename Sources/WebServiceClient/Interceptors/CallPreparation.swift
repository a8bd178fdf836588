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

/// What one call has of its own beside its arguments.
struct CallOptions: Sendable {
    /// Changes the request, after the client's preparers and before redirects.
    var prepare: (@Sendable (inout ServiceRequest) async throws -> Void)?
    /// The deadline of the whole call.
    var timeout: Duration?

    static let none = CallOptions()
}

/// The stage of the chain that runs the call's own `prepare`, behind the client's interceptors: the call has the last word.
struct CallPreparation: Interceptor {
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        guard let prepare = context.prepare else { return try await next(request, context) }
        var request = request
        try await prepare(&request)
        return try await next(request, context)
    }
}

/// Which requests carry the trace and the baggage of their task (``TracePropagation``).
///
///     $0.tracing = .service
///     $0.tracing = TracingPolicy(sendsBaggage: false)
///
/// Each attempt and each hop gets a new span of the trace. The fields `traceparent`, `tracestate` and `baggage` (W3C Trace Context, W3C
/// Baggage) are sent only to the service's origin, to ``WebServiceClient/WebServiceClient/Configuration/allowedOrigins`` and to
/// ``origins``, because they reveal which program calls which service. A field that the request has already is kept.
public struct TracingPolicy: Sendable, Hashable {
    /// Further origins that get the fields, such as `"https://files.example.com"`, also from calls outside the service.
    public var origins: [String]
    /// Whether baggage is sent, too. Omit it for a service of another organization.
    public var sendsBaggage: Bool

    /// Creates a policy.
    public init(origins: [String] = [], sendsBaggage: Bool = true) {
        self.origins = origins
        self.sendsBaggage = sendsBaggage
    }

    /// Sends trace and baggage to the service's origins.
    public static let service = TracingPolicy()
}

/// The stage of the chain that adds the trace of the call's task to each attempt: see ``TracingPolicy``.
///
/// It runs within retries and redirects, so that each exchange has its own span.
struct Tracing: Interceptor {
    let sendsBaggage: Bool
    /// The origins of the policy.
    let origins: Set<Origin>
    var boundary = OriginBoundary()

    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        guard let propagation = TracePropagation.current, let origin = request.origin,
            origins.contains(origin) || boundary.isService(origin, context)
        else { return try await next(request, context) }
        var request = request
        if let span = propagation.trace?.child(), !request.headers.contains("traceparent"), !request.headers.contains("tracestate") {
            request.headers["traceparent"] = span.traceparent
            if !propagation.state.isEmpty { request.headers["tracestate"] = propagation.state.description }
            context.record.noteSpan(span)
        }
        if sendsBaggage, !propagation.baggage.isEmpty, !request.headers.contains("baggage") {
            let (text, problems) = propagation.baggage.fieldValue()
            request.headers["baggage"] = text
            for problem in problems { context.diagnostics.report(.init(.warning, "Baggage: \(problem).", call: context.identity)) }
        }
        return try await next(request, context)
    }
}

/// The trace that a task passes on to the services that it calls, and values for all services of the trace (W3C Trace Context and W3C
/// Baggage).
///
///     // In a server's handler: continue the trace of the incoming request, or begin one.
///     var propagation = TracePropagation(headers: incoming)
///     propagation.trace = propagation.trace ?? .random()
///     propagation.baggage["tenant"] = "acme"
///     try await TracePropagation.$current.withValue(propagation) { try await shop.order(id: 7) }
///
/// A client sends it only if its configuration enables it (`Configuration.tracing`). Each attempt and each hop has a separate span.
public struct TracePropagation: Sendable, Hashable {
    /// The propagation of the current task; `nil` to pass on nothing. Child tasks inherit it; detached tasks don't.
    @TaskLocal public static var current: TracePropagation?

    /// The trace, with the span of the current work; `nil` without one.
    public var trace: TraceContext?
    /// Data that tracing systems attach to the trace. It is sent only with a trace.
    public var state: TraceState
    /// Values for all services of the trace.
    public var baggage: Baggage

    /// Creates a value for ``current``.
    public init(trace: TraceContext? = nil, state: TraceState = TraceState(), baggage: Baggage = Baggage()) {
        self.trace = trace
        self.state = state
        self.baggage = baggage
    }

    /// Reads the fields `traceparent`, `tracestate` and `baggage` of a request.
    ///
    /// An invalid `traceparent` is dropped together with `tracestate`, an invalid `tracestate` alone (W3C Trace Context §4.3), and an
    /// invalid member of `baggage` alone.
    ///
    /// - Parameters:
    ///   - headers: The fields of the request.
    ///   - diagnostics: Receives a warning for each part that is dropped.
    public init(headers: HTTPFields, diagnostics: Diagnostics = Diagnostics()) {
        self.init()
        if let parent = headers["traceparent"] {
            trace = TraceContext(traceparent: parent)
            if trace == nil { diagnostics.report(.init(.warning, "A request's traceparent is invalid and was dropped.")) }
        }
        if trace != nil, let text = headers["tracestate"] {
            if let state = TraceState(text) {
                self.state = state
            } else {
                diagnostics.report(.init(.warning, "A request's tracestate is invalid and was dropped."))
            }
        }
        if let text = headers["baggage"] {
            let (baggage, problems) = Baggage.parse(text)
            self.baggage = baggage
            for problem in problems { diagnostics.report(.init(.warning, "A request's baggage: \(problem).")) }
        }
    }
}

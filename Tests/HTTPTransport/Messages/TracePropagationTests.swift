import HTTPTransport
import Testing

@Suite struct TracePropagationTests {
    @Test func `propagation is read from a request, and what is invalid is told`() {
        let told = Locked<[String]>([])
        let diagnostics = Diagnostics { event in told.withLock { $0.append(event.message) } }
        let parent = "00-12345678901234567890123456789012-1234567890123456-01"
        let whole = TracePropagation(
            headers: ["Traceparent": parent, "tracestate": "a=1", "Tracestate": "b=2", "baggage": "k=v"], diagnostics: diagnostics)
        #expect(whole.trace?.traceparent == parent && whole.state.description == "a=1,b=2" && whole.baggage["k"] == "v")
        #expect(told.withLock { $0 }.isEmpty)
        let broken = TracePropagation(headers: ["traceparent": "x", "tracestate": "a=1", "baggage": "k"], diagnostics: diagnostics)
        #expect(broken == TracePropagation() && told.withLock { $0.count } == 2)
        let state = TracePropagation(headers: ["traceparent": parent, "tracestate": "a=1,a=2"], diagnostics: diagnostics)
        #expect(state.trace != nil && state.state.isEmpty && told.withLock { $0.count } == 3)
        #expect(TracePropagation(headers: [:]) == TracePropagation())
    }
}

import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct TracingTests {
    private let propagation = TracePropagation(
        trace: .random(), state: TraceState("rojo=1,congo=2") ?? TraceState(), baggage: ["tenant": "acme & co"])

    /// Sends a call within the trace and returns the requests.
    private func sent(
        _ answer: StubAnswer = .status(200), propagation: TracePropagation?, configure: (inout WebServiceClient.Configuration) -> Void,
        _ call: (WebServiceClient) -> ServiceCall = { $0.http.get("/a") }
    ) async throws -> [ServiceRequest] {
        let (client, stub) = Store.stubbed(answer, configure: configure)
        try await TracePropagation.$current.withValue(propagation) { _ = try await call(client).send() }
        return stub.requests.map(\.request)
    }

    @Test func `each attempt and each hop has a span of its own`() async throws {
        let requests = try await sent(
            .inTurn(.status(503), .redirect(to: "/v1/next"), .status(503), .status(200)), propagation: propagation,
            configure: {
                $0.tracing = .service
                $0.retry = RetryPolicy(attempts: 4, backoff: Backoff(base: .zero, cap: .zero))
            })
        #expect(requests.count == 4)
        let traces = requests.compactMap { $0.headers["traceparent"].flatMap { TraceContext(traceparent: $0) } }
        #expect(Set(traces.map(\.traceID)) == [propagation.trace?.traceID])
        #expect(Set(traces.map(\.span)).count == 4 && !traces.map(\.span).contains(propagation.trace?.span))
        #expect(requests.allSatisfy { $0.headers["tracestate"] == "rojo=1,congo=2" && $0.headers["baggage"] == "tenant=acme%20&%20co" })
    }

    @Test func `nothing is sent without a policy or without a propagation`() async throws {
        let names: [HTTPFields.Name] = ["traceparent", "tracestate", "baggage"]
        for request in try await sent(propagation: propagation, configure: { _ in })
            + sent(propagation: nil, configure: { $0.tracing = .service })
        {
            #expect(names.allSatisfy { !request.headers.contains($0) })
        }
    }

    @Test func `only allowed origins get it`() async throws {
        func origins(_ configure: (inout WebServiceClient.Configuration) -> Void) async throws -> [Bool] {
            try await sent(.inTurn(.redirect(to: "https://other.test/x"), .status(200)), propagation: propagation, configure: configure)
                .map { $0.headers.contains("traceparent") && $0.headers.contains("baggage") }
        }
        #expect(try await origins { $0.tracing = .service } == [true, false])
        #expect(try await origins { $0.tracing = TracingPolicy(origins: ["https://other.test"]) } == [true, true])
        #expect(
            try await origins {
                $0.tracing = .service
                $0.allowedOrigins = ["https://other.test"]
            } == [true, true])
        let outside = try #require(URL(string: "https://files.test/x"))
        for (origins, isSent) in [([], false), (["https://files.test"], true)] {
            let requests = try await sent(propagation: propagation, configure: { $0.tracing = TracingPolicy(origins: origins) }) {
                $0.http.request(outside: outside)
            }
            #expect(requests.map { $0.headers.contains("traceparent") } == [isSent])
        }
    }

    @Test func `baggage can be omitted, and fields that a request has are kept`() async throws {
        let bare = try await sent(propagation: propagation, configure: { $0.tracing = TracingPolicy(sendsBaggage: false) })
        #expect(bare[0].headers.contains("traceparent") && !bare[0].headers.contains("baggage"))
        let own = "00-12345678901234567890123456789012-1234567890123456-01"
        let kept = try await sent(propagation: propagation, configure: { $0.tracing = .service }) {
            $0.http.get("/a").header("traceparent", own).header("baggage", "mine=1")
        }
        #expect(kept[0].headers["traceparent"] == own && kept[0].headers["baggage"] == "mine=1" && !kept[0].headers.contains("tracestate"))
    }

    @Test func `what can't be sent is told, without its value`() async throws {
        let told = Locked<[String]>([])
        let requests = try await sent(
            propagation: TracePropagation(baggage: ["bad key": "hidden", "good": "1"]),
            configure: {
                $0.tracing = .service
                $0.diagnostics = Diagnostics { event in told.withLock { $0.append(event.description) } }
            })
        #expect(requests[0].headers["baggage"] == "good=1" && !requests[0].headers.contains("traceparent"))
        let texts = told.withLock { $0 }
        #expect(texts.count == 1 && texts[0].contains("bad key") && !texts[0].contains("hidden"))
    }

    @Test func `an invalid origin is a fault`() {
        let (client, _) = Store.stubbed(configure: { $0.tracing = TracingPolicy(origins: ["files.test/path", "https://a.test"]) })
        let faults = client.verify()
        #expect(faults.map(\.kind) == [.badServiceRoot] && faults[0].problem.contains("Configuration.tracing"))
        #expect(client.configuration.description.contains("tracing"))
    }

    @Test func `the record has the spans`() async throws {
        let spans = Locked<[TraceContext]>([])
        struct Note: Interceptor {
            let spans: Locked<[TraceContext]>
            func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
                let response = try await next(request, context)
                spans.withLock { $0 = context.record.spans }
                return response
            }
        }
        let requests = try await sent(
            .inTurn(.redirect(to: "/v1/next"), .status(200)), propagation: propagation,
            configure: {
                $0.tracing = .service
                $0.interceptors = [Note(spans: spans)]
            })
        #expect(spans.withLock { $0 }.map(\.traceparent) == requests.map { $0.headers["traceparent"] })
    }
}

import Foundation
import RemoteLogger
import Testing
import WebServiceClient
import WebServiceTesting

/// The attempts, waits, traces and task-local values in a call's record.
@Suite struct CallTracingTests {
    private enum Session {
        @TaskLocal static var user: String?
    }

    private let sink = CollectingSink()

    private func client(
        _ answer: StubAnswer, provider: LogMetadataProvider? = nil, configure: (inout WebServiceClient.Configuration) -> Void = { _ in }
    ) -> (WebServiceClient, StubTransport) {
        let stub = StubTransport()
        stub.fallback(answer)
        let logger = RemoteLogger(label: "calls", pipeline: LogPipeline(sinks: [sink], clock: ManualLogClock()), minimumLevel: .trace)
        let client = WebServiceClient(serviceRoot: "https://api.test") {
            $0.transport = stub
            $0.interceptors = [CallLogger(logger.with(metadataProvider: provider))]
            configure(&$0)
        }
        return (client, stub)
    }

    @Test func `the record has the trace, and the span of each request`() async throws {
        let trace = TraceContext.random()
        let (client, stub) = client(.inTurn(.redirect(to: "/next"), .status(200))) { $0.tracing = .service }
        try await TracePropagation.$current.withValue(TracePropagation(trace: trace)) { _ = try await client.http.get("/a").send() }
        let spans = stub.requests.compactMap { $0.request.headers["traceparent"].flatMap { TraceContext(traceparent: $0)?.spanID } }
        let record = try #require(sink.records.first)
        #expect(spans.count == 2 && record.trace?.traceID == trace.traceID && record.trace?.spanID == spans[1])
        #expect(record.metadata["span_ids"] == .array(spans.map { .string($0) }))
        #expect(record.metadata["http.request.resend_count"] == .int(1) && record.metadata["redirects"] == .int(1))
        #expect(record.metadata["repeats"] == nil)
    }

    @Test func `without a tracing policy the record has the task's trace`() async throws {
        let trace = TraceContext.random()
        let (client, _) = client(.status(200))
        try await TracePropagation.$current.withValue(TracePropagation(trace: trace)) { _ = try await client.http.get("/a").send() }
        try await client.http.get("/a").send()
        #expect(sink.records.map(\.trace) == [trace, nil])
    }

    @Test func `the record has the waits with their reasons`() async throws {
        let (client, _) = client(.status(200)) {
            $0.interceptors.append(WaitNote())
        }
        try await client.http.get("/a").send()
        let metadata = try #require(sink.records.first).metadata
        #expect(metadata["waited_ms"] == .double(1_750))
        #expect(
            metadata["waits"]
                == .array([
                    .dictionary(["reason": "retry", "duration_ms": 1_500.0, "attempt": 2, "cause": "status 503"]),
                    .dictionary(["reason": "queue", "duration_ms": 250.0, "attempt": 2]),
                ]))
    }

    /// Replaces the stages that wait.
    private struct WaitNote: Interceptor {
        func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
            context.record.noteWait(.init(reason: .retry, duration: .milliseconds(1_500), attempt: 2, cause: "status 503"))
            context.record.noteWait(.init(reason: .queue, duration: .milliseconds(250), attempt: 2, cause: ""))
            return try await next(request, context)
        }
    }

    @Test func `the provider's values are those of the task that made the call`() async throws {
        let provider = LogMetadataProvider { Session.user.map { ["user": $0, "client": "provider"] } ?? [:] }
        let (client, _) = client(.pieces([Data("a".utf8), Data("b".utf8)]), provider: provider)
        let response = try await Session.$user.withValue("ada") { try await client.http.get("/a").stream() }
        // The body is read in another task.
        _ = try await Session.$user.withValue("eve") { try await response.value.collect(upTo: 10) }
        let metadata = try #require(sink.records.first).metadata
        #expect(metadata["user"] == .string("ada") && metadata["client"] == .string("WebServiceClient"))
    }
}

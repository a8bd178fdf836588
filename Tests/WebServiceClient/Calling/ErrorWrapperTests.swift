import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct ErrorWrapperTests {
    /// The transports, which handle bodies differently.
    enum Engine: String, CaseIterable, Sendable {
        case stub, libcurl, urlSession

        var transport: (any Transport)? {
            switch self {
            case .stub: StubTransport()
            case .libcurl: CurlTransport.shared
            case .urlSession: URLSessionTransport.shared
            }
        }
    }

    /// Returns a body that produces a piece and then throws.
    private func failing(
        with error: any Error, isReplayable: Bool = false, opened: @escaping @Sendable () -> Void = {}
    ) -> RequestBody {
        RequestBody(isReplayable: isReplayable) {
            opened()
            return AsyncThrowingStream { continuation in
                continuation.yield(Data("piece".utf8))
                continuation.finish(throwing: error)
            }
        }
    }

    @Test(arguments: Engine.allCases) func `What the body's own stream throws is told as the body's`(engine: Engine) async throws {
        guard let transport = engine.transport else { return }
        let server = try RawServer { while $0.readRequest() != nil {} }
        let request = try server.request(.post, "/upload", body: failing(with: Refusal(reason: "the disk is gone")))
        let seen = Locked<[any Error]>([])
        let client = WebServiceClient(serviceRoot: try #require(request.origin).description) {
            $0.transport = transport
            $0.interceptors = [Watcher { error in seen.withLock { $0.append(error) } }]
        }
        let body = try #require(request.body)
        let error = try #require(await serviceError { try await watched { _ = try await client.http.post("/upload").body(body).send() } })
        #expect(error.kind == .encoding && error.stage == .transport, "\(error)")
        #expect(error.cause as? Refusal == Refusal(reason: "the disk is gone"))
        #expect(error.message.contains("body") && error.message.contains("the disk is gone") && error.request?.method == .post)
        // An interceptor receives the same error.
        #expect((seen.withLock { $0.first } as? RequestBodyError)?.underlying as? Refusal == error.cause as? Refusal)
        // Without a client, the error isn't wrapped.
        await #expect(throws: Refusal.self) { try await watched { _ = try await transport.send(request) } }
    }

    @Test func `What another call throws within the body's stream doesn't pass for this call's error`() async throws {
        let inner = ServiceError(
            call: CallIdentity(client: "Source", key: "read()", route: "/"), stage: .body, kind: .transport, message: "It broke off.")
        let (client, _) = Store.stubbed(.status(200))
        let error = try #require(await serviceError { _ = try await client.http.put("/x").body(failing(with: inner)).send() })
        #expect(error.call.key == "PUT /x" && error.kind == .encoding)
        #expect((error.cause as? ServiceError)?.call.client == "Source")
    }

    @Test func `A cancellation that only the stream knows of is the body's failure, that of the task is one`() async throws {
        let (client, _) = Store.stubbed(.status(200))
        let error = try #require(await serviceError { try await client.http.put("/x").body(failing(with: CancellationError())).send() })
        #expect(error.kind == .encoding && error.cause is CancellationError)
        let (begun, hasBegun) = AsyncStream<Void>.makeStream()
        let body = RequestBody {
            AsyncThrowingStream {
                hasBegun.yield()
                try await Task.sleep(for: .seconds(600))
                return nil
            }
        }
        let call = Task { try await client.http.put("/x").body(body).send() }
        for await _ in begun { break }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await watched { _ = try await call.value } }
    }

    @Test(arguments: [
        (Refusal() as any Error, 1), (TransportError(.connectionLost, "The source went away."), 3), (TransportError(.tls, "No."), 1),
    ])
    func `Retries judge what the stream throws as ever`(failure: any Error, times: Int) async throws {
        let opened = Locked(0)
        let (client, _) = Store.stubbed(.status(200)) { $0.retry = RetryPolicy(attempts: 3, backoff: Backoff(base: .zero)) }
        let body = failing(with: failure, isReplayable: true) { opened.withLock { $0 += 1 } }
        let error = try #require(await serviceError { try await client.http.put("/x").body(body).send() })
        #expect(error.kind == .encoding && opened.withLock { $0 } == times)
    }

    /// Reports the errors that pass through.
    private struct Watcher: Interceptor {
        let note: @Sendable (any Error) -> Void

        func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
            do {
                return try await next(request, context)
            } catch {
                note(error)
                throw error
            }
        }
    }
}

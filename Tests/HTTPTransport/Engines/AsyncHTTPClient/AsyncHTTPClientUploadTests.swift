#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import HTTPTransport
import NIOCore
import NIOPosix
import TestSupport
import Testing
import WebServiceClient

/// How far the engine runs ahead of its connection.
@Suite struct AsyncHTTPClientUploadTests {
    @Test func `a connection whose loop is busy keeps a large body out of memory`() async throws {
        let pieces = 64
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let client = HTTPClient(eventLoopGroup: loops, configuration: AsyncHTTPClientTransport.configuration)
        let transport = AsyncHTTPClientTransport(client)
        let pulled = Locked(0)
        let seen = Locked(0)
        let body = RequestBody(length: Int64(pieces) << 20) {
            AsyncThrowingStream {
                let number = pulled.withLock { count in
                    defer { count += 1 }
                    return count
                }
                if number == 0 {
                    // The loop doesn't run until all have been pulled, or half a second has passed without that: what isn't to happen can
                    // only be waited for.
                    loops.next().execute {
                        for _ in 0..<50 where pulled.withLock({ $0 }) <= pieces { Thread.sleep(forTimeInterval: 0.01) }
                        seen.withLock { $0 = pulled.withLock { $0 } }
                    }
                }
                return number < pieces ? Data(count: 1 << 20) : nil
            }
        }
        let request = try server.request(.post, body: body)
        // The client has to be shut down, whatever happens.
        let status = try? await watched { try await transport.send(request).status }
        try await client.shutdown()
        try await loops.shutdownGracefully()
        #expect(status == 200)
        #expect(seen.withLock { $0 } <= 3)
    }

    @Test func `what a body's own stream throws is told as the body's, and a negative length by itself`() async throws {
        struct DiskError: Error {}
        let server = try RawServer { while $0.readRequest() != nil {} }
        let body = RequestBody { AsyncThrowingStream { $0.finish(throwing: DiskError()) } }
        let shortened = RequestBody(length: -5) { AsyncThrowingStream { $0.finish() } }
        let request = try server.request(.post, body: body)
        let root = try #require(request.origin).description
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: AsyncHTTPClientTransport.configuration)
        let transport = AsyncHTTPClientTransport(http)
        let client = WebServiceClient(serviceRoot: root) { $0.transport = transport }
        // The client has to be shut down, whatever happens.
        let (error, direct, negative) = await (
            Self.failure { try await watched { _ = try await client.http.post("/").body(body).send() } },
            Self.failure { try await watched { _ = try await transport.send(request) } },
            Self.failure { try await watched { _ = try await transport.send(server.request(.post, body: shortened)) } }
        )
        try await http.shutdown()
        let told = error as? ServiceError
        #expect(told?.kind == .encoding && told?.stage == .transport && told?.cause is DiskError, "\(String(describing: error))")
        #expect(direct is DiskError)
        #expect((negative as? TransportError)?.message.contains("-5") == true, "\(String(describing: negative))")
    }

    private static func failure(_ body: () async throws -> Void) async -> (any Error)? {
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }
}
#endif

import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// WebSockets through HTTP proxies, which open tunnels even for http (RFC 6455 §4.1).
@Suite(.enabled("libcurl is needed") { ((try? CurlLibrary.open())?.versionNumber ?? 0) >= 0x07_50_00 })
struct WebSocketProxyTests {
    private static func client(through proxy: LoopbackServer) throws -> WebServiceClient {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .url(proxy.url)
        let transport = try CurlTransport(configuration: configuration)
        return WebServiceClient(serviceRoot: "http://lines.test") {
            $0.transport = transport
            $0.proxyAuthenticationProvider = BasicAuthenticationProvider(user: "ada", password: "secret", isPreemptive: false)
        }
    }

    /// A proxy that is the server itself at the end of its tunnel.
    @Test func `The handshake passes through a tunnel, with the proxy's credentials`() async throws {
        let proxy = try LoopbackServer { routes in
            routes.fallback { request in
                guard request.fields["Proxy-Authorization"] != nil else {
                    return LoopbackResponse(status: 407, fields: ["Proxy-Authenticate": "Basic realm=\"p\""])
                }
                return .script { wire in
                    try wire.write("HTTP/1.1 200 Connection established\r\n\r\n")
                    var head = ""
                    while !head.hasSuffix("\r\n\r\n"), let piece = try wire.read() { head += String(decoding: piece, as: UTF8.self) }
                    let line = head.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") } ?? ""
                    let accept = WebSocketHandshake.accept(String(line.dropFirst(19)))
                    let isClean = !head.contains("Proxy-Authorization") && head.contains("Host: lines.test\r\n")
                    try wire.write(
                        "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n")
                    try wire.write(Data(WebSocketFrame(.text, Array("\(isClean)".utf8)).bytes(mask: nil)))
                    try wire.readToEnd()
                }
            }
        }
        try await watched {
            let socket = try await Self.client(through: proxy).http.get("/x").webSocket()
            #expect(try await socket.messages.first { _ in true } == .text("true"))
        }
        #expect(proxy.requests.map(\.method) == ["CONNECT", "CONNECT"] && proxy.requests.last?.target == "lines.test:80")
    }

    @Test func `A proxy that refuses is told`() async throws {
        let proxy = try LoopbackServer { routes in routes.fallback { _ in .status(403) } }
        try await watched {
            let client = try Self.client(through: proxy)
            let error = await #expect(throws: ServiceError.self) { _ = try await client.http.get("/x").webSocket() }
            #expect((error?.cause as? TransportError)?.code == .proxyRefused)
        }
    }
}

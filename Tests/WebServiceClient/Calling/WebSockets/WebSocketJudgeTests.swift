#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

/// Conversations with an independent implementation, Python's `websockets`: plain, and over TLS with a trust policy.
@Suite(.enabled("JUDGE_PYTHON names no Python with websockets") { await WebSocketJudge.isAvailable() })
struct WebSocketJudgeTests {
    private static func exchange(_ socket: WebSocket, count: Int, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let messages = (0..<count).map { _ -> WebSocketMessage in
            let size = [0, 1, 100, 125, 126, 1_000, 65_535, 65_536, 300_000].randomElement(using: &random) ?? 0
            let count = Int.random(in: 0...size, using: &random)
            guard Bool.random(using: &random) else { return .binary(Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })) }
            return .text(String(repeating: ["a", "ä", "漢", "🎈"].randomElement(using: &random) ?? "a", count: count / 4))
        }
        async let sending: Void = {
            for (number, message) in messages.enumerated() {
                try await socket.send(message)
                if number % 100 == 0 { try await socket.ping() }
            }
        }()
        var received = 0
        for try await message in socket.messages {
            #expect(message == messages[received])
            received += 1
            if received == messages.count { break }
        }
        try await sending
        #expect(received == count)
        try await socket.close(WebSocketCloseCode(rawValue: 4_321), reason: "genug")
        #expect(socket.closure?.code.rawValue == 4_321)
    }

    @Test func `Random messages come back, whole and in fragments`() async throws {
        let judge = try await WebSocketJudge()
        defer { judge.stop() }
        let client = WebServiceClient(serviceRoot: "ws://127.0.0.1:\(judge.port)")
        try await watched {
            let socket = try await client.http.get("/").webSocket(WebSocketSettings(subprotocols: ["none", "judge"]))
            #expect(socket.subprotocol == "judge")
            try await Self.exchange(socket, count: Sweep.rounds(ofAll: 1_000), seed: 1)
        }
    }

    @Test func `The trust policy decides over TLS`() async throws {
        let judge = try await WebSocketJudge(isSecure: true)
        defer { judge.stop() }
        let root = try #require(judge.root)
        try await watched {
            let client = WebServiceClient(serviceRoot: "wss://localhost:\(judge.port)") {
                $0.trust = TrustPolicy(authorities: .only([root]))
            }
            try await Self.exchange(try await client.http.get("/").webSocket(), count: Sweep.rounds(ofAll: 400), seed: 2)
            let stranger = WebServiceClient(serviceRoot: "wss://localhost:\(judge.port)") { $0.retry = .never }
            let error = await #expect(throws: ServiceError.self) { _ = try await stranger.http.get("/").webSocket() }
            #expect((error?.cause as? TransportError)?.code == .unknownIssuer)
            let other = CertificatePin.publicKey(sha256: String(repeating: "A", count: 43) + "=")
            let pinning = WebServiceClient(serviceRoot: "wss://localhost:\(judge.port)") {
                $0.trust = TrustPolicy(authorities: .only([root]), pins: ["localhost": [other]])
            }
            let mismatch = await #expect(throws: ServiceError.self) { _ = try await pinning.http.get("/").webSocket() }
            #expect((mismatch?.cause as? TransportError)?.code == .pinMismatch)
        }
    }
}

/// A server that sends every message back, in fragments if it is long enough.
private final class WebSocketJudge: Sendable {
    let port: Int
    /// The certificate of a secure server.
    let root: Certificate?
    private let folder = TemporaryFolder()
    private let process: RunningProcess

    private static var python: String { ProcessInfo.processInfo.environment["JUDGE_PYTHON"] ?? "python3" }

    static func isAvailable() async -> Bool {
        (try? await ChildProcess.run([python, "-c", "import websockets.asyncio.server"]))?.status == 0
    }

    init(isSecure: Bool = false) async throws {
        let url = folder.url
        let path = url.path(percentEncoded: false)
        if isSecure {
            let arguments =
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
                + ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", path + "/key", "-out", path + "/cert"]
            try #require(try await ChildProcess.run(arguments).status == 0)
        }
        root = isSecure ? try Certificate(file: url.appending(path: "cert")) : nil
        process = try RunningProcess([Self.python, "-c", Self.program, path, isSecure ? "1" : "0"], errors: .standardError)
        var port: Int?
        for _ in 0..<6_000 where port == nil {
            try await Task.sleep(for: .milliseconds(20))
            port = (try? String(contentsOf: url.appending(path: "port"), encoding: .utf8)).flatMap(Int.init)
        }
        self.port = port ?? 0
    }

    func stop() { process.kill() }

    private static let program = """
        import asyncio, os, ssl, sys
        from websockets.asyncio.server import serve
        folder, secure = sys.argv[1], sys.argv[2] == "1"
        async def echo(socket):
            async for message in socket:
                if len(message) > 1000:
                    third = len(message) // 3
                    await socket.send([message[:third], message[third:2 * third], message[2 * third:]])
                else:
                    await socket.send(message)
        async def main():
            context = None
            if secure:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(folder + "/cert", folder + "/key")
            server = await serve(echo, "127.0.0.1", 0, ssl=context, max_size=None, subprotocols=None if secure else ["judge"])
            with open(folder + "/port.new", "w") as file: file.write(str(server.sockets[0].getsockname()[1]))
            os.rename(folder + "/port.new", folder + "/port")
            await asyncio.sleep(1800)
        asyncio.run(main())
        """
}
#endif

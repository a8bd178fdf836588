#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOSSL
import TestSupport
import Testing
import HTTPTransport

/// Against `openssl s_server`, with certificates that `openssl` makes.
@Suite(.enabled(if: OpenSSLServer.isThere, "needs the openssl command"))
struct AsyncHTTPClientTrustTests {
    /// Connects to `localhost` or `127.0.0.1` with the given roots and gives what went wrong; `nil` for a response.
    private func code(
        _ server: OpenSSLServer, host: String = "localhost", roots: URL?, change: (inout TLSConfiguration) -> Void = { _ in }
    ) async throws -> TransportError.Code? {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let roots { tls.trustRoots = .file(roots.path(percentEncoded: false)) }
        change(&tls)
        var configuration = AsyncHTTPClientTransport.configuration
        configuration.tlsConfiguration = tls
        let client = HTTPClient(configuration: configuration)
        let transport = AsyncHTTPClientTransport(client)
        let url = try #require(URL(string: "https://\(host):\(server.port)/"))
        let result: Result<TransportError.Code?, any Error>
        do {
            result = .success(try await failureCode { _ = try await transport.send(ServiceRequest(url: url)).body.collect(upTo: .max) })
        } catch {
            result = .failure(error)
        }
        try await client.shutdown()
        return try result.get()
    }

    @Test func `certificates are told apart as far as the engine tells`() async throws {
        let server = try await OpenSSLServer(names: "DNS:localhost")
        #expect(try await code(server, roots: server.authority) == nil)
        #expect(try await code(server, roots: nil) == .tls)
        #expect(try await code(server, host: "127.0.0.1", roots: server.authority) == .certificateForOtherHost)
    }

    // TLS 1.3 has an alert for it (RFC 8446 §6.2); in TLS 1.2 the server only says that the handshake failed.
    @Test(arguments: [("-tls1_3", TransportError.Code.clientCertificate), ("-tls1_2", .tls)])
    func `a client certificate that isn't there is told`(version: String, expected: TransportError.Code) async throws {
        let server = try await OpenSSLServer(names: "DNS:localhost", options: [version, "-Verify", "1", "-verify_return_error"])
        #expect(try await code(server, roots: server.authority) == expected)
    }

    @Test func `versions that have nothing in common are a TLS error`() async throws {
        let server = try await OpenSSLServer(names: "DNS:localhost", options: ["-tls1_2"])
        #expect(try await code(server, roots: server.authority) { $0.minimumTLSVersion = .tlsv13 } == .tls)
    }
}

/// A TLS server on loopback that answers every request; it ends with the value.
private final class OpenSSLServer: Sendable {
    static let isThere = OpenSSL.command != nil

    let port: Int
    private let folder: TemporaryFolder
    private let process: RunningProcess
    /// Nothing comes, and no end either: it would be taken as the user's wish to end.
    private let input = Pipe()
    /// Open as long as the server writes to it.
    private let output = Pipe()

    /// The certificate of the authority that vouches for the server.
    var authority: URL { folder.url.appending(path: "ca.pem") }

    init(names: String, options: [String] = []) async throws {
        folder = TemporaryFolder()
        let openssl = { [folder] (arguments: [String]) in
            guard try await OpenSSL.run(arguments, in: folder.url).status == 0 else { throw Failure() }
        }
        let path = { [folder] (name: String) in folder.url.appending(path: name).path(percentEncoded: false) }
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        try await openssl(
            ["req", "-x509"] + key + ["-keyout", path("ca.key"), "-out", path("ca.pem"), "-subj", "/CN=Test authority", "-days", "2"])
        try await openssl(["req"] + key + ["-keyout", path("server.key"), "-out", path("server.csr"), "-subj", "/CN=Test server"])
        try Data("subjectAltName=\(names)\n".utf8).write(to: folder.url.appending(path: "server.ext"))
        try await openssl([
            "x509", "-req", "-in", path("server.csr"), "-CA", path("ca.pem"), "-CAkey", path("ca.key"), "-CAcreateserial", "-days", "2",
            "-extfile", path("server.ext"), "-out", path("server.pem"),
        ])
        let arguments = ["-accept", "127.0.0.1:0", "-www", "-cert", path("server.pem"), "-key", path("server.key")] + options
        process = try RunningProcess(
            ["openssl", "s_server"] + arguments, input: input.fileHandleForReading, output: output.fileHandleForWriting)
        try output.fileHandleForWriting.close()
        let lines = output.fileHandleForReading
        do {
            port = try await onOwnThread { try Self.port(from: lines) }
        } catch {
            process.kill()
            throw error
        }
    }

    deinit {
        process.kill()
    }

    /// Reads what the server says until it tells its port.
    private static func port(from lines: FileHandle) throws -> Int {
        var text = ""
        while !text.contains("ACCEPT ") || !text.hasSuffix("\n") {
            let more = lines.availableData
            guard !more.isEmpty else { throw Failure() }
            text += String(decoding: more, as: UTF8.self)
        }
        let line = text.split(separator: "\n").last { $0.hasPrefix("ACCEPT ") }
        guard let number = line?.split(separator: ":").last, let port = Int(number) else { throw Failure() }
        return port
    }

    private struct Failure: Error {}
}
#endif

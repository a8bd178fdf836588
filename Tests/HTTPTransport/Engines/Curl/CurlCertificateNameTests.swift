#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

/// Whose certificate it is, by its subject alternative names and nothing else (RFC 9525 §2, §6.3), and where the keys of connections go.
@Suite(
    .enabled("libcurl with OpenSSL, openssl and python3 are needed") {
        guard OpenSSL.command != nil, (try? CurlLibrary.open())?.readsCertificateChains == true else { return false }
        return (try? await ChildProcess.run(["python3", "-c", "import ssl"]))?.status == 0
    })
struct CurlCertificateNameTests {
    /// Servers on loopback, run by Python's `ssl` in another process. Each has a different certificate from one authority.
    private final class Servers: Sendable {
        let root: Certificate
        /// By the numbers of the certificates.
        let ports: [Int]
        private let folder = TemporaryFolder()
        private let process: RunningProcess

        /// - Parameter certificates: Subjects, as openssl takes them, and subject alternative names; none where they are empty.
        init(_ certificates: [(subject: String, names: String)]) async throws {
            let url = folder.url
            let path = url.path(percentEncoded: false)
            func openssl(_ arguments: [String]) async throws {
                let result = try await OpenSSL.run(arguments, in: url)
                try #require(result.status == 0, "\(arguments): \(result.text)")
            }
            let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            let root = ["-subj", "/CN=Test Root", "-days", "2", "-addext", "keyUsage=critical,keyCertSign"]
            try await openssl(["req", "-x509"] + key + ["-keyout", "root.key", "-out", "root.pem"] + root)
            for (number, certificate) in certificates.enumerated() {
                try await openssl(["req"] + key + ["-keyout", "\(number).key", "-out", "\(number).csr", "-subj", certificate.subject])
                let names = certificate.names.isEmpty ? "" : "subjectAltName=\(certificate.names)\n"
                try Data("basicConstraints=critical,CA:FALSE\n\(names)".utf8).write(to: url.appending(path: "extensions"))
                try await openssl([
                    "x509", "-req", "-in", "\(number).csr", "-CA", "root.pem", "-CAkey", "root.key", "-set_serial", "\(number + 2)",
                    "-days",
                    "2", "-extfile", "extensions", "-out", "\(number).pem",
                ])
            }
            self.root = try Certificate(file: url.appending(path: "root.pem"))
            try Data(Self.program.utf8).write(to: url.appending(path: "servers.py"))
            process = try RunningProcess(["python3", path + "/servers.py", path, "\(certificates.count)"], errors: .standardError)
            let list = url.appending(path: "ports")
            var ports: [Int] = []
            for _ in 0..<6_000 where ports.isEmpty {
                try await Task.sleep(for: .milliseconds(50))
                ports = ((try? String(contentsOf: list, encoding: .utf8)) ?? "").split(separator: " ").compactMap { Int($0) }
            }
            self.ports = ports
            guard ports.count == certificates.count else {
                process.kill()
                throw RawServerError()
            }
        }

        func stop() { process.kill() }

        private static let program = """
            import os, socket, ssl, sys, threading
            folder, count = sys.argv[1], int(sys.argv[2])
            def serve(connection, context):
                try:
                    secure = context.wrap_socket(connection, server_side=True)
                    while True:
                        data = b""
                        while b"\\r\\n\\r\\n" not in data:
                            piece = secure.recv(65536)
                            if not piece: return
                            data += piece
                        secure.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
                except (OSError, ssl.SSLError): pass
            def listen(server, context):
                while True:
                    connection, _ = server.accept()
                    threading.Thread(target=serve, args=(connection, context), daemon=True).start()
            ports = []
            for number in range(count):
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(f"{folder}/{number}.pem", f"{folder}/{number}.key")
                server = socket.create_server(("127.0.0.1", 0), backlog=64)
                ports.append(str(server.getsockname()[1]))
                threading.Thread(target=listen, args=(server, context), daemon=True).start()
            with open(folder + "/ports.new", "w") as file: file.write(" ".join(ports))
            os.rename(folder + "/ports.new", folder + "/ports")
            threading.Event().wait(1800)
            """
    }

    /// Subject, subject alternative names, host, and whether the certificate is the host's.
    private static let cases: [(subject: String, names: String, host: String, isRight: Bool)] = [
        ("/CN=localhost", "", "localhost", false),
        ("/CN=127.0.0.1", "", "127.0.0.1", false),
        ("/CN=*.localhost", "", "a.localhost", false),
        ("/CN=LOCALHOST", "", "localhost", false),
        ("/CN=other.example/CN=localhost", "", "localhost", false),
        ("/O=Example/OU=localhost/CN=localhost", "email:ada@localhost", "localhost", false),
        ("/CN=localhost", "URI:https://localhost/", "localhost", false),
        ("/CN=localhost", "RID:1.2.3.4", "localhost", false),
        ("/CN=127.0.0.1", "email:ada@127.0.0.1, URI:https://127.0.0.1/", "127.0.0.1", false),
        ("/CN=localhost", "DNS:other.example", "localhost", false),
        ("/CN=localhost", "IP:10.0.0.1", "localhost", false),
        ("/CN=127.0.0.1", "DNS:other.example", "127.0.0.1", false),
        ("/CN=127.0.0.1", "DNS:127.0.0.1", "127.0.0.1", false),
        ("/CN=localhost", "IP:127.0.0.1", "localhost", false),
        ("/O=Example", "", "localhost", false),
        ("/CN=localhost", "DNS:localhost", "localhost", true),
        ("/CN=other.example", "DNS:localhost", "localhost", true),
        ("/O=Example", "DNS:localhost", "localhost", true),
        ("/CN=other.example", "IP:127.0.0.1", "127.0.0.1", true),
        ("/CN=localhost", "DNS:other.example, IP:10.0.0.1, IP:127.0.0.1, DNS:localhost", "127.0.0.1", true),
        ("/CN=localhost", "email:ada@localhost, DNS:localhost", "localhost", true),
    ]

    @Test func `only subject alternative names say whose a certificate is`() async throws {
        let servers = try await Servers(Self.cases.map { ($0.subject, $0.names) })
        defer { servers.stop() }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        configuration.trust = TrustPolicy(authorities: .only([servers.root]))
        let transport = try CurlTransport(configuration: configuration)
        for (item, port) in zip(Self.cases, servers.ports) {
            let url = try #require(URL(string: "https://\(item.host):\(port)/"))
            // Twice: a session that could be resumed would bring no certificate.
            for attempt in 1...2 {
                let what = "\(item), attempt \(attempt)"
                if item.isRight {
                    #expect(try await watched { try await transport.send(ServiceRequest(url: url)) }.status == 200, "\(what)")
                    continue
                }
                let error = try await watched {
                    await #expect(throws: TransportError.self) { try await transport.send(ServiceRequest(url: url)) }
                }
                #expect(error?.code == .certificateForOtherHost, "\(what): \(String(describing: error))")
                if !item.names.contains("DNS"), !item.names.contains("IP") {
                    #expect(error?.message.contains("subject alternative names") == true, "\(what): \(error?.message ?? "")")
                }
            }
        }
    }

    @Test func `connections that aren't HTTP check the same`() async throws {
        let servers = try await Servers([("/CN=localhost", ""), ("/CN=other.example", "DNS:localhost")])
        defer { servers.stop() }
        let trust = TrustPolicy(authorities: .only([servers.root]))
        for (port, isRight) in zip(servers.ports, [false, true]) {
            let connection = try CurlConnector(host: "localhost", port: UInt16(port), trust: trust).connection()
            let code = Locked<TransportError.Code?>(nil)
            try await onOwnThread {
                do throws(TransportError) {
                    try connection.open(within: .seconds(120))
                } catch {
                    code.withLock { $0 = error.code }
                }
            }
            #expect(code.withLock { $0 } == (isRight ? nil : .certificateForOtherHost))
        }
    }

    #if compiler(>=6.2)
    // Runs in a separate process, since the environment belongs to the whole process and libcurl reads it once.
    @Test func `keys are logged where a transport is told to, and nowhere else`() async throws {
        await ExitTesting.alone {
            await #expect(processExitsWith: .success) {
                ExitTesting.endLater()
                let folder = TemporaryFolder()
                let path = { (name: String) in folder.url.appending(path: name).path(percentEncoded: false) }
                setenv("SSLKEYLOGFILE", path("environment"), 1)
                setenv("AFTER_IT", "kept", 1)
                let servers = try await CurlCertificateNameTests.Servers([
                    ("/CN=localhost", "DNS:localhost"), ("/CN=localhost", "DNS:localhost"),
                ])
                defer { servers.stop() }
                func call(_ number: Int, logging file: String? = nil) async throws {
                    var configuration = CurlTransport.Configuration()
                    configuration.proxy = .none
                    configuration.trust = TrustPolicy(authorities: .only([servers.root]))
                    configuration.keyLogFile = file
                    let transport = try CurlTransport(configuration: configuration)
                    let url = try #require(URL(string: "https://localhost:\(servers.ports[number])/"))
                    #expect(try await transport.send(ServiceRequest(url: url)).status == 200)
                }
                try await call(0)
                #expect(!FileManager.default.fileExists(atPath: path("environment")))
                #expect(getenv("SSLKEYLOGFILE").map { String(cString: $0) } == path("environment"))
                #expect(getenv("AFTER_IT").map { String(cString: $0) } == "kept")
                try await call(1, logging: path("asked"))
                let keys = try String(contentsOfFile: path("asked"), encoding: .utf8)
                #expect(keys.contains("CLIENT_TRAFFIC_SECRET_0 ") || keys.contains("CLIENT_RANDOM "), "\(keys.prefix(100))")
                #expect(keys.hasSuffix("\n"))
                let mode = try FileManager.default.attributesOfItem(atPath: path("asked"))[.posixPermissions] as? NSNumber
                #expect(mode?.intValue == 0o600)
                try await call(0)
                #expect(try String(contentsOfFile: path("asked"), encoding: .utf8) == keys)
                #expect(!FileManager.default.fileExists(atPath: path("environment")))
                // Never into a file that others may read, through a link, or to something else than a file.
                _ = FileManager.default.createFile(atPath: path("open"), contents: nil, attributes: [.posixPermissions: 0o644])
                try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path("asked"))
                for name in ["open", "link", ".", "none/file"] {
                    let error = await #expect(throws: TransportError.self) { try await call(0, logging: path(name)) }
                    #expect(error?.code == .badRequest && error?.message.contains("keyLogFile") == true, "\(name)")
                }
            }
        }
    }
    #endif
}
#endif

import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

/// Errors blame what failed, and nothing else.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlFaultTests {
    private static func transport(_ change: (inout CurlTransport.Configuration) -> Void = { _ in }) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        change(&configuration)
        return try CurlTransport(configuration: configuration)
    }

    private static func error(at url: String, over transport: CurlTransport) async throws -> TransportError? {
        let request = ServiceRequest(url: try #require(URL(string: url)), timeouts: ServiceTimeouts(total: .seconds(120)))
        return try await watched { await #expect(throws: TransportError.self) { try await transport.send(request) } }
    }

    private static let hosts = [
        "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "localhost", "LOCALHOST",
        "[::1]",
        "[0:0:0:0:0:0:0:1]", "[::0001]", "[::ffff:127.0.0.1]", "[fe80::1%25lo]", "[FE80:0::1%25lo]", "[::ffff:7f00:1]",
    ]

    @Test(arguments: hosts) func `no proxy is named where there is none`(host: String) async throws {
        let deaf = try DeafPort()
        let error = try await Self.error(at: "http://\(host):\(deaf.number)/", over: try Self.transport())
        #expect(error?.code == .cannotConnect, "\(String(describing: error))")
        #expect(error?.message.lowercased().contains("proxy") == false, "\(error?.message ?? "")")
    }

    /// The transport has a proxy, but for that host; then libcurl tells no more of it than where there is none.
    @Test(arguments: hosts) func `no proxy is named where it isn't on the way`(host: String) async throws {
        let (deaf, proxy) = (try DeafPort(), try DeafPort())
        let url = try #require(URL(string: "http://127.0.0.1:\(proxy.number)"))
        let transport = try Self.transport { $0.proxy = .url(url, exceptions: ["*"]) }
        let error = try await Self.error(at: "http://\(host):\(deaf.number)/", over: transport)
        #expect(error?.message.lowercased().contains("proxy") == false, "\(error?.message ?? "")")
    }

    @Test(arguments: ["127.1:81", "2130706433:81", "[0:0:0:0:0:0:0:1]:81", "service.example", "127.0.0.1:81", "localhost:81"])
    func `a proxy that isn't there is named`(target: String) async throws {
        let deaf = try DeafPort()
        let url = try #require(URL(string: "http://127.1:\(deaf.number)"))
        let error = try await Self.error(at: "http://\(target)/", over: try Self.transport { $0.proxy = .url(url) })
        #expect(error?.message.contains("the proxy for") == true, "\(error?.message ?? "")")
    }

    @Test func `a timeout names a proxy only where one may be on the way`() async throws {
        let silent = try RawServer { _ = $0.waitForClose() }
        let proxy = try #require(URL(string: "http://127.0.0.1:\(silent.port)"))
        let transport = try Self.transport { $0.proxy = .url(proxy, exceptions: ["127.0.0.1", "intern.example"]) }
        for (host, isNamed) in [("127.0.0.1:\(silent.port)", false), ("127.1:\(silent.port)", nil), ("service.example", true)]
            as [(String, Bool?)]
        {
            let request = ServiceRequest(
                url: try #require(URL(string: "http://\(host)/")), timeouts: ServiceTimeouts(firstByte: .milliseconds(100)))
            let error = try await watched { await #expect(throws: TransportError.self) { try await transport.send(request) } }
            #expect(error?.code == .timedOutWaiting)
            if let isNamed { #expect(error?.message.contains("proxy") == isNamed, "\(host): \(error?.message ?? "")") }
        }
    }

    @Test(arguments: [102_401, 110_000, 150_000, 300_000, 1_000_000, 3_000_000])
    func `a line that is too long is told as one`(length: Int) async throws {
        let long = String(repeating: "v", count: length)
        for text in [
            "HTTP/1.1 200 OK\r\nX-Long: \(long)\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 \(long)\r\nContent-Length: 0\r\n\r\n",
        ] {
            let server = try RawServer.answering(text)
            let error = try await Self.error(at: "http://127.0.0.1:\(server.port)/", over: try Self.transport())
            #expect(error?.code == .unreadableResponse, "\(String(describing: error))")
            #expect(error?.message.contains("memory") == false && error?.message.contains("100 kB") == true, "\(error?.message ?? "")")
        }
    }

    @Test(arguments: [5_000, 110_000]) func `a trailer that is too long is told as one`(length: Int) async throws {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: \(String(repeating: "v", count: length))\r\n\r\n"
        let server = try RawServer.answering(text)
        let (transport, request) = (try Self.transport(), try server.request())
        let error = try await watched {
            await #expect(throws: TransportError.self) { try await transport.send(request).body.collect(upTo: 100) }
        }
        #expect(error?.code == .unreadableResponse && error?.message.contains("memory") == false, "\(String(describing: error))")
    }

    @Test(arguments: ["\u{15}\u{3}\u{1}\0\u{2}\u{2}\n", "SSH-2.0-OpenSSH_9.2\r\n", "220 mail.test ESMTP\r\n", "-ERR unknown command\r\n"])
    func `Another protocol than HTTP is told with what to check`(text: String) async throws {
        let server = try RawServer.answering(text)
        let error = try await Self.error(at: "http://127.0.0.1:\(server.port)/", over: try Self.transport())
        #expect(error?.code == .unreadableResponse && error?.message.contains("port") == true, "\(String(describing: error))")
        #expect(error?.message.contains("https") == true, "\(String(describing: error))")
    }

    @Test(arguments: ["bad", "two words", " lead: x", "X: a\0b", "X-T"]) func `A trailer that isn't a field is told as one`(line: String)
        async throws
    {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\(line)\r\n\r\n"
        let server = try RawServer.answering(text)
        let (transport, request) = (try Self.transport(), try server.request())
        let error = try await watched {
            await #expect(throws: TransportError.self) { try await transport.send(request).body.collect(upTo: 100) }
        }
        // The head is valid.
        #expect(error?.code == .unreadableResponse && error?.message.contains("first header line") == false, "\(String(describing: error))")
    }

    #if os(Linux) && compiler(>=6.2)
    /// Takes all descriptors that this process may still have.
    private static func useUpDescriptors() -> [Int32] {
        var descriptors: [Int32] = []
        while true {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            if descriptor < 0 { break }
            descriptors.append(descriptor)
        }
        return descriptors
    }

    // Runs in a separate process, which uses up its descriptors for a time.
    @Test func `used-up descriptors are told as that, wherever one is missing`() async throws {
        await ExitTesting.alone {
            await #expect(processExitsWith: .success) {
                ExitTesting.endLater()
                let folder = TemporaryFolder()
                let server = try RawServer { connection in
                    while connection.readRequest() != nil { connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
                }
                let transport = try CurlFaultTests.transport()
                let file = folder.url.appending(path: "upload")
                try Data(count: 300_000).write(to: file)
                let body = try RequestBody(file: file)
                let (plain, upload) = (try server.request(), try server.request(.post, body: body))
                // From here on there is a connection, and all that is opened once.
                for request in [plain, upload] { _ = try await transport.send(request).body.collect(upTo: 10) }
                let response = try await transport.send(plain)
                let held = CurlFaultTests.useUpDescriptors()
                var messages: [String] = []
                for url in ["http://127.0.0.1:1/", "http://127.0.0.1:\(server.port + 1)/", "http://[::1]:1/", "https://127.0.0.1:1/"] {
                    let error = await #expect(throws: TransportError.self) {
                        try await transport.send(ServiceRequest(url: try #require(URL(string: url))))
                    }
                    #expect(error?.code == .cannotConnect)
                    messages.append(error?.message ?? "none")
                }
                let lookup = await #expect(throws: TransportError.self) {
                    try await transport.send(ServiceRequest(url: try #require(URL(string: "http://service.example/"))))
                }
                messages.append(lookup?.message ?? "none")
                let sent = await #expect(throws: RequestBodyError.self) { try await body.collect(upTo: 1_000_000) }
                messages.append(sent?.message ?? "none")
                let made = await #expect(throws: DownloadError.self) {
                    try await response.write(to: folder.url.appending(path: "download"))
                }
                messages.append(made?.message ?? "none")
                let read = #expect(throws: CertificateError.self) { try Certificate(file: file) }
                messages.append(read?.message ?? "none")
                for descriptor in held { close(descriptor) }
                for message in messages {
                    #expect(message.contains("file descriptor") && message.contains("ulimit"), "\(message)")
                    for blame in ["No server answers", "has no address", "any more", "writable", "check that it exists"] {
                        #expect(!message.contains(blame), "\(message)")
                    }
                }
                #expect(try await transport.send(upload).status == 200)
            }
        }
    }
    #endif
}

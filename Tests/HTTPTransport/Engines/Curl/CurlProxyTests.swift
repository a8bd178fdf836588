import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlProxyTests {
    private func transport(_ proxy: RawServer, exceptions: [String] = []) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .url(try proxy.request().url, exceptions: exceptions)
        return try CurlTransport(configuration: configuration)
    }

    private func proxy(_ seen: Locked<[RawRequest]>, answer: String) throws -> RawServer {
        try RawServer { connection in
            while let request = connection.readRequest() {
                seen.withLock { $0.append(request) }
                connection.write(answer)
            }
        }
    }

    @Test func `a plain request goes through the proxy, with its credentials`() async throws {
        let seen = Locked<[RawRequest]>([])
        let proxy = try proxy(seen, answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let transport = try transport(proxy)
        let url = try #require(URL(string: "http://service.invalid/a?b"))
        let response = try await watched {
            try await transport.send(ServiceRequest(url: url, headers: ["Proxy-Authorization": "Basic eDp5"]))
        }
        #expect(response.status == 200)
        let request = try #require(seen.withLock { $0.first })
        #expect(request.line == "GET http://service.invalid/a?b HTTP/1.1")
        #expect(request.field("Proxy-Authorization") == "Basic eDp5")
        #expect(request.field("Host") == "service.invalid")
    }

    @Test func `a proxy's refusal of a tunnel is the response`() async throws {
        let seen = Locked<[RawRequest]>([])
        let proxy = try proxy(
            seen, answer: "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 2\r\n\r\nno")
        let transport = try transport(proxy)
        let url = try #require(URL(string: "https://service.invalid/a"))
        let headers: HTTPFields = ["Proxy-Authorization": "Basic eDp5", "Authorization": "Bearer secret"]
        let response = try await watched { try await transport.send(ServiceRequest(url: url, headers: headers)) }
        #expect(response.status == 407)
        #expect(response.headers[.proxyAuthenticate] == "Basic realm=\"p\"")
        let request = try #require(seen.withLock { $0.first })
        #expect(request.line == "CONNECT service.invalid:443 HTTP/1.1")
        #expect(request.field("Proxy-Authorization") == "Basic eDp5")
        #expect(request.field("Authorization") == nil)
    }

    /// Nothing that a proxy says may pass for the server's answer: a POST would seem to have been taken.
    @Test(arguments: [
        ("HTTP/1.1 302 Found\r\nLocation: https://evil.invalid/\r\nContent-Length: 0\r\n\r\n", TransportError.Code.proxyRefused),
        ("HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno", .proxyRefused), ("HTTP/1.1 200 Connection established\r\n\r\n", .tls),
        ("HTTP/1.1 200 Connection established\r\n\r\nthis is no TLS at all, and never will be", .tls),
    ])
    func `what a proxy answers in place of a tunnel is no response`(answer: String, code: TransportError.Code) async throws {
        let proxy = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write(answer)
            // The first bytes of the handshake.
            if code == .tls { _ = connection.read(1) }
        }
        let transport = try transport(proxy)
        let url = try #require(URL(string: "https://service.invalid/a"))
        do {
            let response = try await watched { try await transport.send(ServiceRequest(method: .post, url: url)) }
            Issue.record("There is a response: \(response.status)")
        } catch let error as TransportError {
            // A connection that the proxy closes within the handshake is lost or insecure, by the library's version.
            #expect(error.code == code || code == .tls && error.code == .connectionLost, "\(error)")
            if code == .proxyRefused { #expect(error.message.contains("proxy") && error.message.contains("status")) }
        }
    }

    @Test func `trust can't be evaluated behind a proxy that wants credentials, and that is said`() async throws {
        let proxy = try proxy(Locked([]), answer: "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n")
        let transport = try transport(proxy)
        guard transport.capabilities.contains(.pinning) else { return }
        let url = try #require(URL(string: "https://service.invalid/"))
        let error = await #expect(throws: TransportError.self) {
            _ = try await transport.evaluateTrust(of: url, policy: nil, timeout: .seconds(20))
        }
        #expect(error?.code == .proxyRefused && error?.message.contains("proxy") == true)
    }

    @Test func `hosts among the exceptions are called directly`() async throws {
        let seen = Locked<[RawRequest]>([])
        let proxy = try proxy(seen, answer: "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
        let server = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let transport = try transport(proxy, exceptions: ["127.0.0.1"])
        let request = try server.request()
        #expect(try await watched { try await transport.send(request) }.status == 200)
        #expect(seen.withLock { $0.isEmpty })
    }

    @Test(arguments: [
        ("[::1]", "[::1]"), ("::1", "[::1]"), ("*.localhost", "a.localhost"), (".localhost", "a.localhost"), ("LOCALHOST.", "localhost"),
        ("*", "127.0.0.1"), ("a.test, localhost", "localhost"), ("[0:0:0:0:0:0:0:1]", "[::1]"),
    ])
    func `Exceptions are taken however they are commonly written`(exception: String, host: String) async throws {
        // The port is closed, so an answer can come only from the proxy.
        let deaf = try DeafPort()
        let seen = Locked<[RawRequest]>([])
        let proxy = try proxy(seen, answer: "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
        let transport = try transport(proxy, exceptions: ["other.test", exception])
        let url = try #require(URL(string: "http://\(host):\(deaf.number)/"))
        let error = await #expect(throws: TransportError.self) {
            _ = try await watched { try await transport.send(ServiceRequest(url: url)) }
        }
        #expect(error?.code == .cannotConnect || error?.code == .hostNotFound, "\(String(describing: error))")
        #expect(seen.withLock { $0.isEmpty })
        // No other host is excepted, unless the exception is `*`.
        guard exception != "*" else { return }
        let beside = try #require(URL(string: "http://nonlocalhost:\(deaf.number)/"))
        #expect(try await watched { try await transport.send(ServiceRequest(url: beside)) }.status == 500)
    }

    @Test(arguments: [
        "host:8080", "[::1]:8080", "127.0.0.1:80", "a*.test", "*foo.test", "http://host.test", "host.test/path", "[::1", "::g",
        "bücher.test", "10.0.0.0/33", "10.0.0/8", "::1/129", "fe80::1%eth0", "*.*", "[*]", "[host]", ".", "10.0.0.0/", "host_[1]",
    ])
    func `An exception that nothing would match is refused, by its name`(exception: String) throws {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .url(try #require(URL(string: "http://127.0.0.1:1")), exceptions: ["fine.test", exception])
        let error = #expect(throws: TransportError.self) { _ = try CurlTransport(configuration: configuration) }
        #expect(error?.code == .badRequest && error?.message.contains("\"\(exception)\"") == true, "\(String(describing: error))")
        #expect(error?.message.contains("fine.test") == false)
    }

    @Test func `A proxy among its own exceptions doesn't show its password`() throws {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .url(try #require(URL(string: "http://127.0.0.1:1")), exceptions: ["http://ada:s3cr,et@proxy.test:1"])
        let error = #expect(throws: TransportError.self) { _ = try CurlTransport(configuration: configuration) }
        #expect(error?.message.contains("s3cr") == false && error?.message.contains("proxy.test") == true)
    }

    /// The port is closed, so an answer can come only from the proxy.
    @Test(arguments: [
        ("127.0.0.0/8", "127.0.0.1", true), ("::ffff:127.0.0.1", "[::ffff:7f00:1]", true), ("::ffff:7f00:1", "[::ffff:127.0.0.1]", true),
        ("[0:0:0:0:0:ffff:7f00:1]", "[::FFFF:7f00:1]", true), ("127.0.0.1", "[::ffff:7f00:1]", true),
        ("::ffff:127.0.0.1", "127.0.0.1", true),
        ("127.0.0.0/8", "[::ffff:127.0.0.1]", true), ("::ffff:127.0.0.0/104", "127.0.0.1", true),
        ("[::ffff:7f00:0]/104", "[::ffff:7f00:1]", true),
        ("::/64", "[::1]", true), ("[::]/127", "[::1]", true), ("127.0.0.1", "127.1", true), ("fd00::/8", "127.0.0.1", false),
        ("127.0.0.2", "[::ffff:7f00:1]", false), ("10.0.0.0/8", "127.0.0.1", false), ("::ffff:10.0.0.0/104", "127.0.0.1", false),
    ])
    func `An exception is an address or a network, however the host is spelled`(exception: String, host: String, isDirect: Bool)
        async throws
    {
        let deaf = try DeafPort()
        let seen = Locked<[RawRequest]>([])
        let proxy = try proxy(seen, answer: "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
        let transport = try transport(proxy, exceptions: ["other.test", exception])
        let url = try #require(URL(string: "http://\(host):\(deaf.number)/"))
        // The same handle serves one after the other, and none may leave its exceptions to the next.
        for _ in 0..<2 {
            let beside = try #require(URL(string: "http://beside.test:\(deaf.number)/"))
            #expect(try await watched { try await transport.send(ServiceRequest(url: beside)) }.status == 500)
            let status = try? await watched { try await transport.send(ServiceRequest(url: url)) }.status
            #expect(status == (isDirect ? nil : 500))
        }
        #expect(seen.withLock { $0.count } == (isDirect ? 2 : 4))
    }

    /// libcurl quotes the URL.
    @Test func `what is said of a proxy that can't be used holds no password`() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .url(try #require(URL(string: "http://user:s3cret@127.0.0.1:99999")))
        let transport = try CurlTransport(configuration: configuration)
        let url = try #require(URL(string: "http://service.invalid/"))
        let error = await #expect(throws: TransportError.self) {
            _ = try await watched { try await transport.send(ServiceRequest(url: url)) }
        }
        let text = try #require(error).description + "\(String(reflecting: error?.underlying))"
        #expect(text.contains("proxy") && !text.contains("s3"), "\(text)")
    }

    @Test(arguments: ["ftp://user:s3cret@127.0.0.1:1", "socks4://127.0.0.1:1", "localhost:3128", "http:", "/a/path"])
    func `a proxy of another scheme, or none, is refused at once`(proxy: String) throws {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .url(try #require(URL(string: proxy)))
        let error = #expect(throws: TransportError.self) { _ = try CurlTransport(configuration: configuration) }
        #expect(error?.code == .badRequest && error?.message.contains("socks5h") == true && error?.message.contains("s3cret") == false)
    }

    @Test func `a configuration shows no password`() throws {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .url(try #require(URL(string: "http://user:s3cret@127.0.0.1:1")), exceptions: ["here.test"])
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), "\(configuration.proxy)", dumped] {
            #expect(text.contains("127.0.0.1:1") && text.contains("here.test") && !text.contains("s3cret"), "\(text)")
        }
    }

    @Test func `a proxy that isn't there is named`() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .url(try #require(URL(string: "http://proxy.invalid:1")))
        let transport = try CurlTransport(configuration: configuration)
        let url = try #require(URL(string: "http://service.invalid/"))
        let code = try await failureCode { _ = try await transport.send(ServiceRequest(url: url)) }
        #expect(code == .hostNotFound)
    }
}

import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

/// The ways to a server: Unix-domain sockets, proxies by setting and by environment, and how many connections go there.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlRouteTests {
    /// A SOCKS 5 proxy (RFC 1928) that answers in place of the server, and repeats the address it was asked to connect to.
    private final class Socks: Sendable {
        let server: RawServer

        /// - Parameter account: User and password, which it asks for then (RFC 1929).
        init(account: (user: String, password: String)? = nil) throws {
            server = try RawServer { connection in
                guard let greeting = connection.read(2), greeting[0] == 5, connection.read(Int(greeting[1])) != nil else { return }
                connection.write(Data([5, account == nil ? 0 : 2]))
                if let account {
                    guard let user = connection.read(2).flatMap({ connection.read(Int($0[1])) }),
                        let password = connection.read(1).flatMap({ connection.read(Int($0[0])) })
                    else { return }
                    let isRight = user == Data(account.user.utf8) && password == Data(account.password.utf8)
                    connection.write(Data([1, isRight ? 0 : 1]))
                    guard isRight else { return }
                }
                guard let request = connection.read(4), request[1] == 1 else { return }
                let target: String
                switch request[3] {
                case 1: target = connection.read(4).map { $0.map(String.init).joined(separator: ".") } ?? "?"
                case 3:
                    let length = connection.read(1).map { Int($0[0]) } ?? 0
                    target = connection.read(length).map { String(decoding: $0, as: UTF8.self) } ?? "?"
                default: target = "?"
                }
                guard let port = connection.read(2) else { return }
                connection.write(Data([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]))
                guard let request = connection.readRequest() else { return }
                let text = "\(target):\(Int(port[0]) << 8 | Int(port[1])) \(request.line) \(request.field("Host") ?? "")"
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
            }
        }
    }

    /// A server, or a proxy, that answers with the request's first line.
    private static func echo(_ name: String) throws -> RawServer { try RawServer { answer($0, name) } }

    private static func answer(_ connection: RawConnection, _ name: String) {
        while let request = connection.readRequest() {
            let text = "\(name): \(request.line) \(request.field("Host") ?? "")"
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
        }
    }

    private static func get(_ url: String, _ change: (inout CurlTransport.Configuration) -> Void = { _ in }) async throws -> String {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        change(&configuration)
        let transport = try CurlTransport(configuration: configuration)
        let request = ServiceRequest(url: try #require(URL(string: url)))
        return try await watched {
            String(decoding: try await transport.send(request).body.collect(upTo: 10_000), as: UTF8.self)
        }
    }

    private static func url(_ scheme: String, _ server: RawServer) throws -> URL {
        try #require(URL(string: "\(scheme)://127.0.0.1:\(server.port)"))
    }

    @Test func `a Unix-domain socket takes the place of the host`() async throws {
        let folder = TemporaryFolder()
        // Short enough for the system, whatever the folder of temporary files is.
        let path = "/tmp/\(UUID().uuidString.prefix(13)).sock"
        defer { unlink(path) }
        let server = try RawServer(unixPath: path) { Self.answer($0, "socket") }
        #expect(try await Self.get("http://service.example/a?b") { $0.unixSocket = path } == "socket: GET /a?b HTTP/1.1 service.example")
        withExtendedLifetime(server) {}
        let nobody = folder.url.appending(path: "none").path
        let error = await #expect(throws: TransportError.self) {
            try await Self.get("http://service.example/") { $0.unixSocket = nobody }
        }
        #expect(error?.code == .cannotConnect && error?.message.contains(nobody) == true)
        for path in ["", String(repeating: "long/", count: 40)] {
            let error = await #expect(throws: TransportError.self) {
                try await Self.get("http://service.example/") { $0.unixSocket = path }
            }
            #expect(error?.code == .badRequest && error?.message.contains("unixSocket") == true)
        }
    }

    /// libcurl has room for 45 bytes of it.
    @Test(arguments: [13, 90]) func `metrics name the socket that the exchange went over`(length: Int) async throws {
        let path = "/tmp/\((0..<3).map { _ in UUID().uuidString }.joined().prefix(length)).sock"
        defer { unlink(path) }
        let server = try RawServer(unixPath: path) { Self.answer($0, "socket") }
        var configuration = CurlTransport.Configuration()
        configuration.unixSocket = path
        let transport = try CurlTransport(configuration: configuration)
        let request = ServiceRequest(url: try #require(URL(string: "http://service.example/")))
        for isReused in [false, true] {
            let metrics = try await watched {
                let response = try await transport.send(request)
                _ = try await response.body.collect(upTo: 1000)
                return response.report?.metrics
            }
            #expect(metrics?.isConnectionReused == isReused && metrics?.remoteAddress == path, "\(metrics?.remoteAddress ?? "none")")
        }
        withExtendedLifetime(server) {}
    }

    @Test func `a SOCKS proxy is asked for the address, or for the name`() async throws {
        let socks = try Socks()
        let (resolving, asking) = (try Self.url("socks5", socks.server), try Self.url("socks5h", socks.server))
        let byAddress = try await Self.get("http://127.0.0.1:81/a") { $0.proxy = .url(resolving) }
        #expect(byAddress == "127.0.0.1:81 GET /a HTTP/1.1 127.0.0.1:81")
        let byName = try await Self.get("http://nowhere.example/a") { $0.proxy = .url(asking) }
        #expect(byName == "nowhere.example:80 GET /a HTTP/1.1 nowhere.example")
    }

    @Test func `a SOCKS proxy gets the user and the password of its URL`() async throws {
        let socks = try Socks(account: ("ada", "pass word"))
        let right = try #require(URL(string: "socks5://ada:pass%20word@127.0.0.1:\(socks.server.port)"))
        #expect(try await Self.get("http://127.0.0.1:81/a") { $0.proxy = .url(right) } == "127.0.0.1:81 GET /a HTTP/1.1 127.0.0.1:81")
        let wrong = try #require(URL(string: "socks5://ada:secret-guess@127.0.0.1:\(socks.server.port)"))
        let error = await #expect(throws: TransportError.self) { try await Self.get("http://127.0.0.1:81/a") { $0.proxy = .url(wrong) } }
        #expect(error?.code == .cannotConnect)
        #expect(error?.description.contains("secret-guess") == false)
    }

    @Test func `a proxy that refuses, or isn't there, is told apart from the server`() async throws {
        let refusing = try RawServer { connection in
            guard connection.read(3) != nil else { return }
            connection.write(Data([5, 0]))
            guard connection.read(10) != nil else { return }
            connection.write(Data([5, 5, 0, 1, 0, 0, 0, 0, 0, 0]))
        }
        let refused = try Self.url("socks5", refusing)
        let byProxy = await #expect(throws: TransportError.self) { try await Self.get("http://127.0.0.1:81/") { $0.proxy = .url(refused) } }
        #expect(byProxy?.code == .cannotConnect)
        #expect(byProxy?.message.hasPrefix("The proxy for 127.0.0.1:81 refuses") == true)
        let deaf = try DeafPort()
        let absent = try #require(URL(string: "http://127.0.0.1:\(deaf.number)"))
        for target in ["127.0.0.1:81", "[::1]:82", "service.example"] {
            let error = await #expect(throws: TransportError.self) { try await Self.get("http://\(target)/") { $0.proxy = .url(absent) } }
            #expect(error?.code == .cannotConnect)
            #expect(
                error?.message.hasPrefix("No server answers at 127.0.0.1") == true
                    && error?.message.contains(", the proxy for \(target):") == true,
                "\(error?.message ?? "")")
        }
        let direct = await #expect(throws: TransportError.self) { try await Self.get("http://127.0.0.1:\(deaf.number)/") }
        #expect(direct?.message.hasPrefix("No server answers at 127.0.0.1:\(deaf.number): check host") == true)
        let version6 = await #expect(throws: TransportError.self) { try await Self.get("http://[::1]:\(deaf.number)/") }
        #expect(version6?.message.hasPrefix("No server answers at [::1]:\(deaf.number): check host") == true, "\(version6?.message ?? "")")
    }

    @Test func `hosts that are excepted, and their subdomains, are reached without the proxy`() async throws {
        let proxy = try Self.echo("proxy")
        let server = try Self.echo("server")
        let url = try Self.url("http", proxy)
        let direct = "http://127.0.0.1:\(server.port)/a"
        let host = "127.0.0.1:\(server.port)"
        let past = try await Self.get(direct) { $0.proxy = .url(url, exceptions: ["127.0.0.1"]) }
        #expect(past == "server: GET /a HTTP/1.1 \(host)")
        #expect(try await Self.get(direct) { $0.proxy = .url(url) } == "proxy: GET \(direct) HTTP/1.1 \(host)")
        let other = "http://a.service.example/b"
        let through = try await Self.get(other) { $0.proxy = .url(url, exceptions: ["127.0.0.1"]) }
        #expect(through == "proxy: GET \(other) HTTP/1.1 a.service.example")
        // Later libraries look such names up nowhere.
        guard try CurlLibrary.open().versionNumber >= 0x07_4E_00 else { return }
        let below = "a.localhost:\(server.port)"
        let beside = try await Self.get("http://\(below)/c") { $0.proxy = .url(url, exceptions: ["localhost"]) }
        #expect(beside == "server: GET /c HTTP/1.1 \(below)")
    }

    #if os(Linux) && compiler(>=6.2)
    // Each runs in a separate process, since the environment belongs to the whole process.
    @Test func `the environment's proxies are used where none is set`() async throws {
        await ExitTesting.alone {
            await #expect(processExitsWith: .success) {
                ExitTesting.endLater()
                let (proxy, server) = (try CurlRouteTests.echo("proxy"), try CurlRouteTests.echo("server"))
                setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
                let direct = "http://127.0.0.1:\(server.port)/a"
                for name in ["no_proxy", "NO_PROXY"] { unsetenv(name) }
                let other = "http://service.example/a"
                #expect(try await CurlRouteTests.get(other) { $0.proxy = .fromEnvironment }.hasPrefix("proxy: GET http://service.example"))
                #expect(try await CurlRouteTests.get(direct) { $0.proxy = .none }.hasPrefix("server: GET /a"))
                unsetenv("http_proxy")
                let early = try CurlTransport()
                setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
                let unseen = try await early.send(ServiceRequest(url: try #require(URL(string: direct)))).body.collect(upTo: 1000)
                #expect(String(decoding: unseen, as: UTF8.self).hasPrefix("server: GET /a"))
                setenv("no_proxy", "localhost,127.0.0.1", 1)
                #expect(try await CurlRouteTests.get(direct) { $0.proxy = .fromEnvironment }.hasPrefix("server: GET /a"))
            }
        }
    }

    @Test func `each of the environment's variables is asked`() async throws {
        await ExitTesting.alone {
            await #expect(processExitsWith: .success) {
                ExitTesting.endLater()
                let all = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"]
                let proxy = try CurlRouteTests.echo("proxy")
                // The proxy's tunnel doesn't speak TLS, so a call through it fails in the handshake. Other calls never reach it.
                let tunnels = Locked(0)
                let tunnel = try RawServer { connection in
                    guard let request = connection.readRequest(), request.line.hasPrefix("CONNECT service.example:443 ") else { return }
                    tunnels.withLock { $0 += 1 }
                    connection.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                }
                for (number, name) in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].enumerated() {
                    for name in all { unsetenv(name) }
                    setenv(name, "http://127.0.0.1:\(tunnel.port)", 1)
                    let error = await #expect(throws: TransportError.self) {
                        try await CurlRouteTests.get("https://service.example/") { $0.proxy = .fromEnvironment }
                    }
                    #expect(error?.code == .proxyRefused, "\(name): \(String(describing: error))")
                    #expect(tunnels.withLock { $0 } == number + 1, "\(name)")
                }
                for name in ["http_proxy", "all_proxy", "ALL_PROXY"] {
                    for name in all { unsetenv(name) }
                    setenv(name, "http://127.0.0.1:\(proxy.port)", 1)
                    let text = try await CurlRouteTests.get("http://service.example/a") { $0.proxy = .fromEnvironment }
                    #expect(text == "proxy: GET http://service.example/a HTTP/1.1 service.example", "\(name)")
                    let server = try CurlRouteTests.echo("server")
                    setenv("NO_PROXY", "127.0.0.1", 1)
                    let direct = try await CurlRouteTests.get("http://127.0.0.1:\(server.port)/b") { $0.proxy = .fromEnvironment }
                    #expect(direct.hasPrefix("server: GET /b "), "\(name)")
                }
            }
        }
    }
    #endif

    @Test func `no more connections go to a host than are allowed`() async throws {
        let open = Locked((now: 0, most: 0))
        let server = try RawServer { connection in
            open.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            while connection.readRequest() != nil {
                usleep(5_000)
                connection.write("HTTP/1.1 204 No Content\r\n\r\n")
            }
            open.withLock { $0.now -= 1 }
        }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        configuration.maximumConnectionsPerHost = 2
        let transport = try CurlTransport(configuration: configuration)
        let request = try server.request()
        try await watched {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<12 { group.addTask { try await transport.send(request).status } }
                for try await status in group { #expect(status == 204) }
            }
        }
        #expect((1...2).contains(open.withLock { $0.most }))
    }
}

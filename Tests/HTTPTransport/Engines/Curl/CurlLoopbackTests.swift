import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

/// This machine is never reached through the environment's proxies, however it is spelled.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlLoopbackTests {
    @Test(arguments: [
        "localhost", "LocalHost", "localhost.", "a.localhost", "a.b.localhost.", "127.0.0.1", "127.1", "127.0.1", "2130706433",
        "0x7f000001",
        "0x7F.1", "017700000001", "127.255.255.254", "127.0.0.2", "0177.0.0.1", "::1", "[::1]", "0:0:0:0:0:0:0:1", "0000::0001",
        "::0.0.0.1", "::ffff:127.0.0.1", "::FFFF:7f00:1", "[0:0:0:0:0:ffff:7f00:0001]", "::1%lo",
    ]) func `a loopback host`(host: String) {
        #expect(IPAddress.isLoopback(host), "\(IPAddress.canonical(host))")
    }

    @Test(arguments: [
        "example.com", "localhost.example.com", "alocalhost", "localhost.localdomain", "127.0.0.1.example.com", "127.example.com",
        "128.0.0.1",
        "12.7.0.1", "126.255.255.255", "2147483648", "0.0.0.0", "10.0.0.1", "::", "::2", "1::1", "::127.0.0.1", "::ffff:128.0.0.1",
        "fe80::1%lo", "127", "127.0.0.256", "127.0.0.1.1", "", ".", "[", "0x", "127.", "127.0.0.0x",
    ]) func `no loopback host`(host: String) {
        #expect(!IPAddress.isLoopback(host), "\(IPAddress.canonical(host))")
    }

    @Test(arguments: [
        ("127.1", "127.0.0.1"), ("2130706433", "127.0.0.1"), ("0xA.0x0.0x0.0x1", "10.0.0.1"), ("192.168.257", "192.168.1.1"),
        ("[0:0:0:0:0:0:0:1]", "::1"), ("FE80::1%lo", "fe80::1%lo"), ("Example.COM.", "example.com"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("1a.example", "1a.example"), ("4294967296", "4294967296"),
    ]) func `one form for all spellings`(host: String, form: String) {
        #expect(IPAddress.canonical(host) == form)
    }

    #if os(Linux) && compiler(>=6.2)
    /// A server or a proxy that answers with its name.
    private static func server(_ name: String, overIPv6: Bool = false) throws -> RawServer {
        try RawServer(overIPv6: overIPv6) { connection in
            while connection.readRequest() != nil {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(name.utf8.count)\r\n\r\n\(name)")
            }
        }
    }

    private static func answer(at url: String, over transport: CurlTransport) async throws -> String {
        let request = ServiceRequest(url: try #require(URL(string: url)))
        return try await watched { String(decoding: try await transport.send(request).body.collect(upTo: 100), as: UTF8.self) }
    }

    // Runs in a separate process, since the environment belongs to the whole process.
    @Test func `the environment's proxies are for other machines`() async throws {
        await ExitTesting.alone {
            await #expect(processExitsWith: .success) {
                ExitTesting.endLater()
                let (proxy, server) = (try CurlLoopbackTests.server("proxy"), try CurlLoopbackTests.server("server"))
                for name in ["no_proxy", "NO_PROXY", "https_proxy", "HTTPS_PROXY"] { unsetenv(name) }
                var hosts = ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "localhost"]
                if try CurlLibrary.open().versionNumber >= 0x07_4E_00 { hosts += ["a.localhost", "LOCALHOST"] }
                for name in ["http_proxy", "all_proxy", "ALL_PROXY"] {
                    for other in ["http_proxy", "all_proxy", "ALL_PROXY"] { unsetenv(other) }
                    setenv(name, "http://127.0.0.1:\(proxy.port)", 1)
                    // On one transport, so that no handle keeps what another exchange was given.
                    let transport = try CurlTransport()
                    for host in hosts {
                        let direct = try await CurlLoopbackTests.answer(at: "http://\(host):\(server.port)/", over: transport)
                        #expect(direct == "server", "\(name), \(host)")
                        let other = try await CurlLoopbackTests.answer(at: "http://service.example/", over: transport)
                        #expect(other == "proxy", "\(name), after \(host)")
                    }
                    guard transport.capabilities.contains(.ipv6Literals),
                        let local = try? CurlLoopbackTests.server("server", overIPv6: true)
                    else { continue }
                    for host in ["[::1]", "[0:0:0:0:0:0:0:1]"] {
                        let direct = try await CurlLoopbackTests.answer(at: "http://\(host):\(local.port)/", over: transport)
                        #expect(direct == "server", "\(name), \(host)")
                    }
                }
                // One that is set for the transport is the caller's own will.
                var configuration = CurlTransport.Configuration()
                configuration.proxy = .url(try #require(URL(string: "http://127.0.0.1:\(proxy.port)")))
                let chosen = try CurlTransport(configuration: configuration)
                #expect(try await CurlLoopbackTests.answer(at: "http://127.0.0.1:\(server.port)/", over: chosen) == "proxy")
            }
        }
    }
    #endif
}

import Foundation
import Testing

@testable import WebServiceClient

@Suite struct CookieTests {
    @Test func `a cookie has what it is given`() throws {
        let end = Date(timeIntervalSince1970: 1_800_000_000.25)
        let cookie = try Cookie(
            name: "sid", value: "a b", domain: ".API.Example.COM", isHostOnly: false, path: "/v1", isSecure: true, isHTTPOnly: true,
            sameSite: .lax, expires: end)
        #expect(cookie.name == "sid" && cookie.value == "a b" && cookie.domain == "api.example.com" && !cookie.isHostOnly)
        #expect(cookie.expires == Date(timeIntervalSince1970: 1_800_000_001), "whole seconds, never too early")
        #expect(try Cookie(name: "a", value: "", domain: "[::1]").domain == "::1")
        #expect(try Cookie(name: "a", value: "", domain: "bücher.example").domain == "xn--bcher-kva.example")
    }

    private static let faults: [(String, @Sendable () throws -> Cookie)] = [
        ("empty", { try Cookie(name: "", value: "", domain: "a.test") }),
        ("semicolon", { try Cookie(name: "a", value: "s3cret;x", domain: "a.test") }),
        ("control", { try Cookie(name: "a", value: "s3cret\r\nX: y", domain: "a.test") }),
        ("control", { try Cookie(name: "a\0", value: "s3cret", domain: "a.test") }),
        ("blank", { try Cookie(name: "a", value: " s3cret", domain: "a.test") }),
        ("equals", { try Cookie(name: "a=b", value: "s3cret", domain: "a.test") }),
        ("4096", { try Cookie(name: "a", value: String(repeating: "x", count: 4096), domain: "a.test") }),
        ("domain", { try Cookie(name: "a", value: "s3cret", domain: "") }),
        ("domain", { try Cookie(name: "a", value: "s3cret", domain: "https://a.test/") }),
        ("domain", { try Cookie(name: "a", value: "s3cret", domain: "a.test\t") }),
        ("path", { try Cookie(name: "a", value: "s3cret", domain: "a.test", path: "x") }),
        ("path", { try Cookie(name: "a", value: "s3cret", domain: "a.test", path: "/;x") }),
        ("__Host-", { try Cookie(name: "__Host-a", value: "s3cret", domain: "a.test") }),
        ("__Host-", { try Cookie(name: "__host-a", value: "s3cret", domain: "a.test", isHostOnly: false, isSecure: true) }),
        ("__Secure-", { try Cookie(name: "__SECURE-a", value: "s3cret", domain: "a.test") }),
        ("no name", { try Cookie(name: "", value: "__Host-s3cret", domain: "a.test", isSecure: true) }),
        ("date", { try Cookie(name: "a", value: "s3cret", domain: "a.test", expires: Date(timeIntervalSince1970: .nan)) }),
        ("date", { try Cookie(name: "a", value: "s3cret", domain: "a.test", expires: Date(timeIntervalSince1970: .infinity)) }),
    ]

    @Test(arguments: 0..<faults.count) func `what no server could set is an error that hides the value`(index: Int) throws {
        let (word, make) = Self.faults[index]
        let error = try #require(throws: InvalidCookie.self) { _ = try make() }
        #expect(error.message.contains(word) && !error.message.contains("s3cret"), "\(error)")
    }

    @Test func `descriptions and dumps mask the value`() throws {
        let cookie = try Cookie(
            name: "sid", value: "s3cret", domain: "a.test", isSecure: true, sameSite: .strict,
            expires: Date(timeIntervalSince1970: 784_111_777))
        let jar = CookieJar()
        jar.set(try Cookie(name: "", value: "s3cret", domain: "a.test"))
        var configuration = WebServiceClient.Configuration()
        configuration.cookies = jar
        for value in [cookie, jar, jar.all, configuration, WebServiceClient { $0.cookies = jar }.configuration] as [Any] {
            var text = "\(value) \(String(reflecting: value))"
            dump(value, to: &text)
            #expect(!text.contains("s3cret"), "\(text)")
        }
        #expect(
            cookie.description == "sid=<masked>; Host=a.test; Path=/; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Secure; SameSite=Strict")
        #expect("\(jar)" == "CookieJar(1 cookie, in memory)")
    }

    @Test func `dates beyond every calendar don't trap`() throws {
        for second in [1e300, -1e300, 1e18, 253_402_300_800] {
            let cookie = try Cookie(name: "a", value: "b", domain: "a.test", expires: Date(timeIntervalSince1970: second))
            let jar = CookieJar()
            jar.set(cookie)
            #expect(!cookie.description.isEmpty && !jar.netscape().isEmpty)
        }
    }
}

@Suite struct CookiePlaceTests {
    private static let places: [(String, String, String, Bool)] = [
        ("https://Example.COM", "example.com", "/", true), ("http://example.com:8080/a/b?c#d", "example.com", "/a/b", false),
        ("http://example.com./a", "example.com", "/a", false), ("https://example.com?x=/y", "example.com", "/", true),
        ("https://user:p@example.com/%C3%A9//", "example.com", "/%C3%A9//", true), ("http://127.0.0.1:1/", "127.0.0.1", "/", true),
        ("http://[::1]/a", "::1", "/a", true), ("http://localhost/a", "localhost", "/a", true),
        ("http://a.localhost", "a.localhost", "/", true),
        ("wss://example.com/s", "example.com", "/s", true), ("http://10.0.0.7/", "10.0.0.7", "/", false),
    ]

    @Test(arguments: places) func `a place is host, path and security`(url: String, host: String, path: String, isSecure: Bool) throws {
        let place = try CookieExchange.place(url)
        #expect(place.host == host && place.path == Array(path.utf8) && place.isSecure == isSecure)
    }

    @Test(arguments: ["file:///a", "mailto:a@b.test", "/a", "ftp://a.test/"]) func `other URLs have no place`(url: String) throws {
        #expect(CookiePlace(try #require(URL(string: url))) == nil)
    }

    @Test(arguments: [
        ("", "/"), ("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/b/", "/a/b"), ("//", "/"),
    ]) func `the default path ends before the last slash`(path: String, expected: String) throws {
        #expect(try CookieExchange.place("https://a.test\(path)").defaultPath == expected)
    }

    @Test(arguments: [
        ("/", "/", true), ("/a", "/", true), ("/a", "/a", true), ("/a/b", "/a", true), ("/ab", "/a", false), ("/a", "/a/", false),
        ("/a/", "/a/", true), ("/a/b", "/a/", true), ("/A", "/a", false), ("/a", "/a/b", false),
    ]) func `a path matches itself and what is below it`(path: String, cookie: String, matches: Bool) throws {
        #expect(try CookieExchange.place("https://a.test\(path)").isBelow(path: Array(cookie.utf8)) == matches)
    }

    @Test(arguments: [
        ("example.com", "example.com", true), ("www.example.com", "example.com", true), ("a.b.example.com", "example.com", true),
        ("badexample.com", "example.com", false), ("example.com", "www.example.com", false), ("1.2.3.4", "3.4", false),
        ("1.2.3.4", "1.2.3.4", true), ("example.com", "com", true), ("example.com", "", false),
    ]) func `a host matches its parent domains`(host: String, domain: String, matches: Bool) throws {
        #expect(try CookieExchange.place("https://\(host)/").isWithin(domain: domain) == matches)
    }
}

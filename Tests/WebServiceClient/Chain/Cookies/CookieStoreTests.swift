import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct CookieStoreTests {
    private var exchange = CookieExchange()

    // MARK: The examples of RFC 6265bis

    @Test mutating func `the examples of section 3`() throws {
        let site = "https://site.example/login"
        try exchange.receive("SID=31d4d96e407aad42", from: "https://site.example/")
        #expect(try exchange.sent(to: site) == "SID=31d4d96e407aad42")
        exchange.store.clear()
        try exchange.receive("SID=31d4d96e407aad42; Path=/; Domain=site.example", from: site)
        #expect(try exchange.sent(to: "https://www.site.example/x") == "SID=31d4d96e407aad42")
        exchange.store.clear()
        try exchange.receive("SID=31d4d96e407aad42; Path=/; Secure; HttpOnly", "lang=en-US; Path=/; Domain=site.example", from: site)
        #expect(try exchange.sent(to: site) == "SID=31d4d96e407aad42; lang=en-US")
        #expect(try exchange.sent(to: "http://site.example/") == "lang=en-US")
        try exchange.receive("lang=en-US; Path=/; Domain=site.example; Expires=Wed, 09 Jun 2027 10:18:14 GMT", from: site)
        #expect(try exchange.sent(to: site) == "SID=31d4d96e407aad42; lang=en-US")
        exchange.now = exchange.now.addingTimeInterval(365 * 86_400)
        #expect(try exchange.sent(to: site) == "SID=31d4d96e407aad42")
        exchange.now = CookieExchange.start
        try exchange.receive("lang=; Path=/; Domain=site.example; Expires=Sun, 06 Nov 1994 08:49:37 GMT", from: site)
        #expect(try exchange.sent(to: site) == "SID=31d4d96e407aad42" && exchange.store.count == 1)
    }

    private static let prefixed: [(String, String, Bool)] = [
        ("__Secure-SID=12345; Domain=site.example", "https://site.example/", false),
        ("__Secure-SID=12345; Domain=site.example; Secure", "https://site.example/", true),
        ("__Secure-SID=12345; Domain=site.example; Secure", "http://site.example/", false),
        ("__Host-SID=12345", "https://site.example/", false), ("__Host-SID=12345; Secure", "https://site.example/", false),
        ("__Host-SID=12345; Domain=site.example", "https://site.example/", false),
        ("__Host-SID=12345; Domain=site.example; Path=/", "https://site.example/", false),
        ("__Host-SID=12345; Secure; Domain=site.example; Path=/", "https://site.example/", false),
        ("__Host-SID=12345; Secure; Path=/", "https://site.example/", true),
        ("__Host-SID=12345; Secure; Path=/a", "https://site.example/a", false),
        ("__HOST-sid=12345; Path=/", "https://site.example/", false), ("__secure-sid=1", "https://site.example/", false),
        ("__Host-SID; Secure; Path=/", "https://site.example/", false), ("=__secure-x; Secure", "https://site.example/", false),
        ("__Hostile=1", "http://site.example/", true),
    ]

    @Test(arguments: prefixed) mutating func `the prefixes of section 4_1_3`(field: String, url: String, isStored: Bool) {
        #expect((exchange.refusal(of: field, from: url) == nil) == isStored)
    }

    @Test mutating func `a cookie without a name is sent as its value`() throws {
        try exchange.receive("token", "=other", "a=", from: "https://site.example/")
        #expect(try exchange.sent(to: "https://site.example/") == "other; a=")
        #expect(exchange.refusal(of: "", from: "https://site.example/") == .empty)
        #expect(exchange.refusal(of: "=; Path=/", from: "https://site.example/") == .empty)
    }

    // MARK: Domains

    private static let domains: [(String, String, CookieRefusal?, Bool)] = [
        // Host, Domain, refusal, host-only
        ("shop.example.com", "example.com", nil, false), ("shop.example.com", ".EXAMPLE.com", nil, false),
        ("shop.example.com", "shop.example.com", nil, false), ("shop.example.com", "", nil, true), ("shop.example.com", ".", nil, true),
        ("shop.example.com", "com", .publicSuffix, false), ("shop.example.co.uk", "co.uk", .publicSuffix, false),
        ("shop.example.co.uk", "uk", .publicSuffix, false), ("shop.example.co.uk", "example.co.uk", nil, false),
        ("shop.example.com", "other.com", .domain, false), ("shop.example.com", "a.shop.example.com", .domain, false),
        ("shop.example.com", "ample.com", .domain, false), ("shop.example.com", "example.com.", .domain, false),
        ("shop.example.com", "exämple.com", .domain, false), ("shop.example.com", "other.co.uk", .domain, false),
        ("a.b.ck", "b.ck", .publicSuffix, false), ("a.www.ck", "www.ck", nil, false), ("me.github.io", "github.io", .publicSuffix, false),
        ("github.io", "github.io", nil, true), ("localhost", "localhost", nil, true), ("intranet", "intranet", nil, true),
        ("a.unknown", "unknown", .publicSuffix, false), ("127.0.0.1", "127.0.0.1", nil, true), ("127.0.0.1", "0.0.1", .domain, false),
        ("127.0.0.1", "1", .publicSuffix, false), ("[::1]", "::1", nil, true), ("[::1]", "[::1]", .publicSuffix, false),
    ]

    @Test(arguments: domains) mutating func `a domain is the host's own and no public suffix`(
        host: String, domain: String, refusal: CookieRefusal?, isHostOnly: Bool
    ) {
        #expect(exchange.refusal(of: "a=b; Domain=\(domain)", from: "https://\(host)/") == refusal)
        #expect(exchange.store.all(at: exchange.now).map(\.isHostOnly) == (refusal == nil ? [isHostOnly] : []))
    }

    @Test mutating func `host-only cookies stay with the host, and ports don't count`() throws {
        try exchange.receive("a=1", "b=2; Domain=example.com", from: "https://example.com:8443/")
        #expect(try exchange.sent(to: "https://example.com/") == "a=1; b=2")
        #expect(try exchange.sent(to: "http://www.example.com:81/") == "b=2")
        #expect(try exchange.sent(to: "https://badexample.com/") == "")
        try exchange.receive("a=3; Domain=example.com", from: "https://example.com/")
        #expect(try exchange.sent(to: "https://example.com/") == "a=1; b=2; a=3", "host-only is part of the identity")
    }

    // MARK: Paths and order

    @Test mutating func `longer paths come first, then earlier cookies, and a new value keeps its place`() throws {
        try exchange.receive("root=1; Path=/", "deep=2; Path=/a/b", from: "https://x.example.com/a/b/c")
        exchange.now = exchange.now.addingTimeInterval(1)
        try exchange.receive("default=3", "wide=4; Path=/; Domain=example.com", from: "https://x.example.com/a/b/c")
        #expect(try exchange.sent(to: "https://x.example.com/a/b/c") == "deep=2; default=3; root=1; wide=4")
        try exchange.receive("deep=5; Path=/a/b", "root=6; Path=/", from: "https://x.example.com/a/b/c")
        #expect(try exchange.sent(to: "https://x.example.com/a/b/c") == "deep=5; default=3; root=6; wide=4")
        #expect(try exchange.sent(to: "https://x.example.com/a/bc") == "root=6; wide=4")
        #expect(exchange.store.all(at: exchange.now).first { $0.name == "deep" }?.created == CookieExchange.start)
        try exchange.receive("deep=7; Path=/a/b; Max-Age=0", from: "https://x.example.com/a/b/c")
        #expect(try exchange.sent(to: "https://x.example.com/a/b/c") == "default=3; root=6; wide=4")
    }

    // MARK: Secure

    @Test mutating func `Secure cookies are set and sent over secure connections only`() throws {
        #expect(exchange.refusal(of: "a=1; Secure", from: "http://shop.example/") == .insecure)
        try exchange.receive("a=1; Secure; Path=/p", from: "https://shop.example/")
        #expect(try exchange.sent(to: "http://shop.example/p") == "" && exchange.sent(to: "https://shop.example/p") == "a=1")
        for local in ["http://localhost/", "http://127.0.0.1/", "http://[::1]:80/"] {
            try exchange.receive("b=2; Secure", from: local)
            #expect(try exchange.sent(to: local) == "b=2")
        }
        #expect(exchange.refusal(of: "c=1; SameSite=None", from: "https://shop.example/") == .sameSite)
        #expect(exchange.refusal(of: "c=1; SameSite=None; Secure", from: "https://shop.example/") == nil)
    }

    private static let overlays: [(String, String, Bool)] = [
        ("a=2", "http://shop.example.com/p/q", false), ("a=2; Path=/p", "http://shop.example.com/", false),
        ("a=2; Path=/", "http://shop.example.com/", true), ("b=2; Path=/p", "http://shop.example.com/", true),
        ("a=2; Path=/p; Domain=example.com", "http://shop.example.com/", false),
        ("a=2; Path=/p; Domain=example.com", "http://example.com/", false),
        ("a=2; Path=/p; Domain=example.com", "http://www.example.com/", false),
        ("a=2; Path=/p", "http://www.example.com/", true), ("a=2; Path=/p", "http://other.com/", true),
        ("a=2; Path=/p", "http://example.com/", false), ("a=2; Path=/p", "http://x.shop.example.com/", false),
        ("a=2; Path=/", "http://example.com/", true),
        ("a=2; Path=/p", "https://shop.example.com/", true), ("a=; Path=/p; Max-Age=0", "http://shop.example.com/", false),
    ]

    @Test(arguments: overlays) mutating func `an insecure connection can't replace or shadow a Secure cookie`(
        field: String, url: String, isStored: Bool
    ) throws {
        try exchange.receive("a=1; Secure; Path=/p", from: "https://shop.example.com/")
        #expect(exchange.refusal(of: field, from: url) == (isStored ? nil : .overlay))
    }

    // MARK: Time

    @Test(
        arguments: [
            ("a=1", nil), ("a=1; Max-Age=60", 60), ("a=1; Max-Age=60; Expires=Sun, 06 Nov 1994 08:49:37 GMT", 60),
            ("a=1; Expires=Fri, 15 Jan 2027 08:01:00 GMT", 60), ("a=1; Max-Age=99999999999999999999", 400 * 86_400),
            ("a=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT", 400 * 86_400), ("a=1; Max-Age=junk", nil),
        ] as [(String, Int?)]) mutating func `a cookie lives as long as the server says, up to 400 days`(field: String, seconds: Int?)
        throws
    {
        try exchange.receive(field, from: "https://shop.example/")
        let cookie = try #require(exchange.store.all(at: exchange.now).first)
        #expect(cookie.expires?.timeIntervalSince(exchange.now) == seconds.map(TimeInterval.init))
    }

    // MARK: Limits

    @Test mutating func `a domain keeps 180 cookies: ended ones go first, then insecure, then unused ones`() throws {
        let url = "https://shop.example/"
        try exchange.receive("short=1; Max-Age=1", from: url)
        for number in 0..<179 { try exchange.receive("n\(number)=1\(number < 3 ? "" : "; Secure")", from: url) }
        exchange.now = exchange.now.addingTimeInterval(2)
        try exchange.receive("x=1; Secure", from: url)
        let sent = try exchange.sent(to: url)
        #expect(exchange.store.count == 180 && !sent.contains("short"))
        for (number, lost) in [("y", "n0="), ("z", "n1="), ("u", "n2="), ("v", "n150=")] {
            try exchange.receive("\(number)=1; Secure", from: url)
            let names = exchange.store.all(at: exchange.now).map { $0.name + "=" }
            #expect(names.count == 180 && !names.contains(lost) && names.contains("\(number)="), "\(lost)")
        }
        try exchange.receive("w=1", from: url)
        #expect(exchange.store.count == 180 && !exchange.store.all(at: exchange.now).contains { $0.name == "w" })
    }

    @Test mutating func `a jar keeps 3000 cookies, those used last`() throws {
        for number in 0..<3000 { try exchange.receive("a=1", from: "https://h\(number).test/") }
        #expect(try exchange.sent(to: "https://h0.test/") == "a=1")
        try exchange.receive("a=1", "b=2", from: "https://new.test/")
        #expect(exchange.store.count == 3000)
        #expect(try exchange.sent(to: "https://h0.test/") == "a=1" && exchange.sent(to: "https://h1.test/") == "")
        #expect(try exchange.sent(to: "https://h2.test/") == "" && exchange.sent(to: "https://h3.test/") == "a=1")
    }

    @Test mutating func `a request carries at most 8190 bytes, the most specific first`() throws {
        let value = String(repeating: "v", count: 1000)
        for number in 0..<20 { try exchange.receive("n\(number)=\(value); Path=/", from: "https://shop.example/") }
        try exchange.receive("first=1; Path=/p", from: "https://shop.example/")
        var field: [UInt8] = []
        let place = try CookieExchange.place("https://shop.example/p")
        let omitted = exchange.store.append(to: &field, for: place, omitting: [], at: exchange.now)
        let text = String(decoding: field, as: UTF8.self)
        #expect(text.hasPrefix("first=1; n0=") && field.count <= 8190 && omitted == 12)
    }

    @Test mutating func `floods cost a bounded time and memory`() throws {
        var random = SeededGenerator(seed: 1)
        for number in 0..<4000 {
            let host = "h\(Int.random(in: 0..<40, using: &random)).flood.test"
            _ = exchange.refusal(of: "n\(number)=1; Domain=\(Bool.random(using: &random) ? "flood.test" : host)", from: "https://\(host)/")
        }
        #expect(exchange.store.count <= 3000)
        #expect(try exchange.sent(to: "https://h1.flood.test/").utf8.count <= 8190)
    }
}

import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct CookiesTests {
    private let jar = CookieJar(publicSuffixes: CookieExchange.suffixes)

    private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func client(
        _ answer: StubAnswer, _ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }
    ) -> (client: Store, stub: StubTransport) {
        Store.stubbed(answer) {
            $0.cookies = jar
            configure(&$0)
        }
    }

    private func sent(_ stub: StubTransport) -> [String?] { stub.requests.map { $0.request.headers[.cookie] } }

    @Test func `cookies of a login go with the next calls`() async throws {
        let (client, stub) = client(
            .inTurn(
                .status(204, headers: ["Set-Cookie": "sid=7; Path=/", "set-cookie": "e=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT"]),
                .status(204)))
        try await client.http.post("/login").send()
        try await client.http.get("/items").send()
        #expect(sent(stub) == [nil, "e=1; sid=7"])
    }

    @Test func `a request has one Cookie field, in which a cookie may replace another`() {
        var fields: HTTPFields = [:]
        fields.append("Cookie", "a=1; b=2")
        fields.append("cookie", " c=3 ;")
        fields.addCookie("b=4")
        #expect(fields[values: .cookie] == ["a=1; b=2; c=3; b=4"])
        fields.addCookie("b=5", replacing: "b")
        #expect(fields[values: .cookie] == ["a=1; c=3; b=5"])
        fields.addCookie("bb=6", replacing: "bb")
        #expect(fields[values: .cookie] == ["a=1; c=3; b=5; bb=6"])
    }

    @Test func `without a jar nothing is kept`() async throws {
        let (client, stub) = Store.stubbed(.status(204, headers: ["Set-Cookie": "sid=7; Path=/"]))
        for _ in 0..<2 { try await client.http.get("/a").send() }
        #expect(sent(stub) == [nil, nil])
    }

    @Test func `each hop, attempt and refusal sets cookies`() async throws {
        let (client, stub) = client(
            .inTurn(
                .status(302, headers: ["Location": "/v1/home", "Set-Cookie": "hop=1; Path=/"]),
                .status(503, headers: ["Set-Cookie": "retry=2; Path=/"]),
                .status(401, headers: ["WWW-Authenticate": "Basic realm=\"a\"", "Set-Cookie": "challenge=3; Path=/"]), .status(204))
        ) {
            $0.retry = RetryPolicy(attempts: 2, backoff: Backoff(base: .zero, cap: .zero))
            $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "secret", isPreemptive: false)
        }
        try await client.http.get("/login").send()
        #expect(sent(stub) == [nil, "hop=1", "hop=1; retry=2", "hop=1; retry=2; challenge=3"])
    }

    @Test func `the answer of an error is kept`() async throws {
        let (client, stub) = client(.inTurn(.status(404, headers: ["Set-Cookie": "seen=1; Path=/"]), .status(204)))
        await #expect(throws: ServiceError.self) { try await client.http.get("/a").send() }
        try await client.http.get("/a").send()
        #expect(sent(stub) == [nil, "seen=1"])
    }

    // MARK: Where cookies go

    @Test func `another origin neither gets nor sets cookies`() async throws {
        let cookies: HTTPFields = ["Set-Cookie": "a=1; Path=/; Domain=api.test"]
        var back = cookies
        back["Location"] = "https://www.api.test/x"
        let (client, stub) = client(
            .inTurn(
                .status(302, headers: back), .status(200, headers: ["Set-Cookie": "evil=1; Path=/; Domain=api.test"]),
                .status(200, headers: cookies)))
        try await client.http.get("/a").send()
        try await client.http.request(outside: Self.url("https://www.api.test/y")).send()
        try await client.http.request(outside: Self.url("https://api.test/y")).send()
        #expect(sent(stub) == [nil, nil, nil, nil] && jar.all.map(\.name) == ["a"])
    }

    @Test func `the service's other origins and matching hosts get theirs`() async throws {
        jar.set(try Cookie(name: "a", value: "1", domain: "api.test", isHostOnly: false))
        let (allowing, stub) = client(
            .inTurn(.redirect(to: "https://eu.api.test/x"), .status(200, headers: ["Set-Cookie": "eu=2; Path=/"]))
        ) {
            $0.allowedOrigins = ["https://eu.api.test"]
        }
        try await allowing.http.get("/a").send()
        #expect(sent(stub) == ["a=1", "a=1"] && jar.all.map(\.name) == ["a", "eu"])
        let (matching, other) = client(
            .inTurn(.redirect(to: "https://sso.test/x"), .status(200, headers: ["Set-Cookie": "sso=3; Path=/"]))
        ) {
            $0.attributes[CookiePolicy.self] = .matchingHosts
        }
        try await matching.http.get("/a").send()
        try await matching.http.request(outside: Self.url("https://sso.test/y")).send()
        #expect(sent(other) == ["a=1", nil, "sso=3"])
    }

    @Test func `an endpoint or call can do without`() async throws {
        final class Shop: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable {
                ["health()": .get("/health").cookies(.off), "prices()": .get("/prices")]
            }
            func health() async throws { try await call() }
            func prices() async throws { try await call() }
        }
        #expect(Shop.verify().isEmpty && Shop.describe().endpoints.map(\.attributes) == [["cookies(.off)"], []])
        let stub = StubTransport()
        stub.fallback(.status(204, headers: ["Set-Cookie": "new=1; Path=/"]))
        jar.set(try Cookie(name: "a", value: "1", domain: "api.test"))
        let shop = Shop(serviceRoot: "https://api.test") {
            $0.transport = stub
            $0.cookies = jar
        }
        try await shop.health()
        try await shop.with(.cookies(.off)) { try await $0.prices() }
        #expect(jar.all.map(\.name) == ["a"])
        try await shop.prices()
        try await shop.http.get("/x").describing { $0.cookies(.off) }.send()
        #expect(sent(stub) == [nil, nil, "a=1", nil] && jar.all.map(\.name) == ["a", "new"])
    }

    @Test func `clients share a jar, and a configured client keeps it`() async throws {
        let (one, _) = client(.status(204, headers: ["Set-Cookie": "a=1; Path=/"]))
        let (other, stub) = client(.status(204))
        try await one.http.get("/a").send()
        other.configure { $0.timeouts.total = .seconds(60) }
        try await other.http.get("/a").send()
        other.configure { $0.cookies = nil }
        try await other.http.get("/a").send()
        #expect(sent(stub) == ["a=1", nil])
    }

    // MARK: The field

    @Test func `a Cookie field of the program is kept`() async throws {
        jar.set(try Cookie(name: "a", value: "jar", domain: "api.test"))
        jar.set(try Cookie(name: "b", value: "jar", domain: "api.test"))
        let (client, stub) = client(.status(204)) { $0.headers = ["Cookie": "b=own"] }
        try await client.http.get("/a").send()
        #expect(stub.requests.map { $0.request.headers[values: .cookie] } == [["b=own; a=jar"]])
    }

    @Test func `a dry run shows the cookies, masked`() async throws {
        jar.set(try Cookie(name: "sid", value: "s3cret", domain: "api.test"))
        let (client, stub) = client(.status(204))
        let request = try await client.dryRun { try await $0.http.get("/a").send() }
        #expect(request.headers[.cookie] == "sid=s3cret" && stub.requests.isEmpty)
        #expect(!"\(request)".contains("s3cret") && !request.curlCommand.contains("s3cret"))
    }

    @Test func `errors and diagnostics show no values`() async throws {
        let events = Locked<[String]>([])
        jar.set(try Cookie(name: "sid", value: "s3cret", domain: "api.test"))
        let (client, _) = client(.status(500, headers: ["Set-Cookie": "x=s3cret; Domain=other.test", "set-cookie": "y=s3cret2; Path=/"])) {
            $0.diagnostics = Diagnostics { event in events.withLock { $0.append("\(event)") } }
        }
        let error = try await #require(throws: ServiceError.self) { try await client.http.get("/a").send() }
        var text = "\(error)"
        dump(error, to: &text)
        text += events.withLock { $0.joined() }
        #expect(!text.contains("s3cret") && text.contains("The cookie \"x\" isn't kept: its domain doesn't include the host."))
    }

    @Test func `floods end with a bound, and the diagnostics say so`() async throws {
        let events = Locked<[String]>([])
        var fields = HTTPFields()
        for number in 0..<1000 { fields.append(.setCookie, "n\(number)=\(String(repeating: "v", count: 4000))") }
        fields.append(.setCookie, "huge=\(String(repeating: "v", count: 100_000))")
        let (client, stub) = client(.status(204, headers: fields)) {
            $0.diagnostics = Diagnostics { event in events.withLock { $0.append(event.message) } }
        }
        for _ in 0..<3 { try await client.http.get("/a").send() }
        #expect(jar.all.count == 50 && sent(stub).compactMap { $0 }.allSatisfy { $0.utf8.count <= 8190 })
        let told = events.withLock { $0 }
        #expect(told.contains { $0.hasPrefix("48 cookies aren't sent") } && told.contains("946 more cookies of the response aren't kept."))
    }

    @Test func `a cancelled call waits for no disk`() async throws {
        let folder = TemporaryFolder()
        let jar = try CookieJar(file: folder.url.appending(path: "c.txt"))
        let stage = Cookies(jar: jar, boundary: OriginBoundary(), clock: .system)
        let context = CallContext(serviceOrigin: Origin(try Self.url("https://a.test")))
        context.record.cancellation.cancel(CallCancelled(reason: "no longer needed"))
        let response = try await stage.intercept(ServiceRequest(url: Self.url("https://a.test/")), context: context) { request, _ in
            TransportResponse(status: 200, headers: ["Set-Cookie": "a=1; Max-Age=6000"], url: request.url)
        }
        #expect(response.status == 200 && jar.all.count == 1)
    }
}

import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the article on cookies.

private final class CookieShop: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "logIn(user:password:)": .post("/session").header("X-User", "%%user%%").header("X-Password", "%%password%%").withoutBody(),
            "orders()": .get("/orders"),
            "health()": .get("/health").cookies(.off),
        ]
    }

    func logIn(user: String, password: String) async throws { try await call(user, password) }
    func orders() async throws -> [String] { try await call() }
    func health() async throws { try await call() }
}

@Suite struct CookieSampleTests {
    private func stub() -> StubTransport {
        let stub = StubTransport()
        stub.fallback(.status(204))
        stub["logIn(user:password:)"] = .status(204, headers: ["Set-Cookie": "sid=31d4d96e; Path=/; Secure; HttpOnly"])
        stub["orders()"] = .json("[]")
        return stub
    }

    @Test func `Cookies of a login go with the next calls`() async throws {
        let stub = stub()
        let shop = CookieShop(serviceRoot: "https://shop.example.com/v1") {
            $0.transport = stub
            $0.cookies = CookieJar()
        }
        #expect(CookieShop.verify().isEmpty)
        try await shop.logIn(user: "ada", password: "secret")
        #expect(try await shop.orders().isEmpty)
        try await shop.health()
        _ = try await shop.with(.cookies(.off)) { try await $0.orders() }
        #expect(stub.requests.map { $0.request.headers[.cookie] } == [nil, "sid=31d4d96e", nil, nil])
        shop.configure { $0.attributes[CookiePolicy.self] = .matchingHosts }
        try await shop.http.request(outside: try #require(URL(string: "https://shop.example.com/other"))).send()
        #expect(stub.requests.last?.request.headers[.cookie] == "sid=31d4d96e")
    }

    @Test func `A jar is kept in a file, edited and exported`() throws {
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: ".shop-cookies")
        let jar = try CookieJar(file: file, keepsSessionCookies: true)
        jar.set(try Cookie(name: "sid", value: "31d4d96e", domain: "shop.example.com", isSecure: true))
        jar.set(try Cookie(name: "id", value: "7", domain: "ads.example.com"))
        jar.remove { $0.domain == "ads.example.com" }
        let url = try #require(URL(string: "https://shop.example.com/v1/orders"))
        #expect(jar.cookies(for: url).map { "\($0.name) \($0.domain)" } == ["sid shop.example.com"])
        try jar.synchronize()
        #expect(try CookieJar(file: file).all.map(\.name) == ["sid"])
        let exported = folder.url.appending(path: "exported.txt")
        try jar.netscape().write(to: exported)
        jar.removeSessionCookies()
        #expect(jar.all.isEmpty)
        let unread = jar.importNetscape(try Data(contentsOf: exported))
        #expect(unread.isEmpty && jar.all.map(\.name) == ["sid"])
    }
}

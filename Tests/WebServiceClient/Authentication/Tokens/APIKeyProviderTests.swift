import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct APIKeyProviderTests {
    private static let key = "s3cret key&=+/é"
    private static let encoded = "s3cret%20key%26%3D%2B%2F%C3%A9"

    @Test(arguments: [
        ("http://api.test/a", "http://api.test/a?api%20key="), ("http://api.test", "http://api.test?api%20key="),
        ("http://api.test/a?", "http://api.test/a?api%20key="), ("http://api.test/a?b=c", "http://api.test/a?b=c&api%20key="),
        ("http://api.test/a?api%20key=old&b", "http://api.test/a?b&api%20key="),
        ("http://api.test/a?api%20key=1&api%20key=2&x=api%20key", "http://api.test/a?x=api%20key&api%20key="),
        ("http://api.test/a?b=%2F&c=+", "http://api.test/a?b=%2F&c=+&api%20key="),
    ]) func `the key is the last item of the query, once`(url: String, expected: String) async throws {
        let server = StubServer { _, _ in .stub(200) }
        _ = try await server.send(.stub(url), APIKeyProvider(query: "api key", key: Self.key))
        #expect(server.requests.map(\.url.absoluteString) == [expected + Self.encoded])
    }

    private func client(_ stub: StubTransport, _ provider: APIKeyProvider) -> WebServiceClient {
        WebServiceClient(serviceRoot: "https://api.test") {
            $0.transport = stub
            $0.authenticationProvider = provider
        }
    }

    @Test func `a key in the query is in no text, and in no URL of a response`() async throws {
        let stub = StubTransport()
        stub.fallback(.status(500))
        let client = client(stub, APIKeyProvider(query: "k", key: "s3cret"))
        let error = try #require(await serviceError { try await client.http.request(.get, "/a?b=c").send() })
        var text = "\(error) \(String(reflecting: error)) \(String(describing: error.response))"
        dump(error, to: &text)
        #expect(!text.contains("s3cret"), "\(text)")
        let sent = try #require(stub.requests.first?.request)
        #expect(sent.url.absoluteString == "https://api.test/a?b=c&k=s3cret")
        #expect(!"\(sent)".contains("s3cret"))
        stub.fallback(.text("fine"))
        let response: ServiceResponse<String> = try await client.http.request(.get, "/a?b=c").response()
        #expect(response.url.absoluteString == "https://api.test/a?b=c")
        let dry = try await client.dryRun { try await $0.http.request(.get, "/a").send() }
        #expect(!"\(dry) \(dry.curlCommand)".contains("s3cret"))
    }

    @Test func `a key goes to the service's origin only, on each hop`() async throws {
        let stub = StubTransport()
        stub.on(.get, "/a", .redirect(to: "/b?c=d"))
        stub.on(.get, "/b", .redirect(to: "https://other.test/c"))
        stub.on(.get, "/c", .status(200))
        let client = client(stub, APIKeyProvider(query: "k", key: "s3cret"))
        try await client.http.request(.get, "/a").send()
        #expect(
            stub.requests.map { $0.request.url.absoluteString } == [
                "https://api.test/a?k=s3cret", "https://api.test/b?c=d&k=s3cret", "https://other.test/c",
            ])
        let header = self.client(stub, APIKeyProvider(header: "X-Key", key: "s3cret"))
        stub.forgetRequests()
        try await header.http.request(.get, "/a").send()
        #expect(stub.requests.map { $0.request.headers["X-Key"] } == ["s3cret", "s3cret", nil])
    }

    @Test func `a refused key is replaced once`() async throws {
        for provider in [
            APIKeyProvider(header: "X-Key") { refused in refused == nil ? "old" : "new" },
            APIKeyProvider(query: "k") { refused in refused == nil ? "old" : "new" },
        ] {
            let server = StubServer { _, number in .stub(number == 0 ? 401 : 200) }
            #expect(try await server.send(provider).status == 200)
            #expect(provider.isSessionOpened)
            let sent = server.requests.map {
                $0.headers["X-Key"] ?? String($0.url.query(percentEncoded: true)?.split(separator: "=").last ?? "")
            }
            #expect(sent == ["old", "new"])
            let closed = StubServer { _, _ in .stub(401) }
            #expect(try await closed.send(provider).status == 401)
            #expect(closed.requests.count == 2 && !provider.isSessionOpened)
        }
    }

    @Test func `what fits no header or query is an error without the key`() async {
        let server = StubServer { _, _ in .stub(200) }
        for provider in [
            APIKeyProvider(header: "X-Key", key: "s3cret\n"), APIKeyProvider(header: "X Key", key: "s3cret"),
            APIKeyProvider(query: "", key: "s3cret"),
        ] {
            let error = await #expect(throws: AuthenticationError.self) { try await server.send(provider) }
            #expect(error?.description.contains("s3cret") == false)
        }
        #expect(server.requests.isEmpty)
    }
}

import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

private final class Secured: WebServiceClient, @unchecked Sendable {
    static let key = SecurityScheme(name: "key", kind: .apiKey(name: "X-Key", in: .header))
    static let query = SecurityScheme(name: "query", kind: .apiKey(name: "api_key", in: .query))
    static let cookie = SecurityScheme(name: "cookie", kind: .apiKey(name: "sid", in: .cookie))
    static let bearer = SecurityScheme(name: "bearer", kind: .http(scheme: "bearer"))
    static let basic = SecurityScheme(name: "basic", kind: .http(scheme: "basic"))
    static let oauth = SecurityScheme(name: "oauth", kind: .oauth2)

    private static func requiring(_ alternatives: [[SecurityScheme]]) -> SecurityRequirements {
        SecurityRequirements(alternatives.map { $0.map { SecurityRequirements.Requirement($0) } })
    }

    override class var endpoints: EndpointTable {
        [
            "either()": .get("/either").attribute(requiring([[bearer], [key, query]])),
            "cookies()": .get("/cookies").attribute(requiring([[cookie]])), "basic()": .get("/basic").attribute(requiring([[basic]])),
            "oauth()": .get("/oauth").attribute(requiring([[oauth]])), "optional()": .get("/optional").attribute(requiring([[key], []])),
            "open()": .get("/open").attribute(requiring([])), "plain()": .get("/plain"),
        ]
    }
}

@Suite struct SchemeAuthenticationTests {
    private func request(
        _ name: String, _ credentials: [String: SecurityCredential], provider: (any AuthenticationProvider)? = nil,
        _ diagnostics: Diagnostics = Diagnostics()
    ) async throws -> ServiceRequest {
        let client = Secured(serviceRoot: "https://a.test") {
            $0.credentials = credentials
            $0.authenticationProvider = provider
            $0.transport = StubTransport()
            $0.diagnostics = diagnostics
        }
        #expect(client.verify() == [])
        return try await client.dryRun {
            try await DynamicCalls(client: $0)[dynamicMember: name].dynamicallyCall(withKeywordArguments: [:])
        }
    }

    @Test func `The first alternative with all of its credentials is used`() async throws {
        #expect(
            try await request("either", ["bearer": .key("t"), "key": .key("k"), "query": .key("q")]).headers["Authorization"] == "Bearer t")
        let both = try await request("either", ["key": .key("k"), "query": .key("q")])
        #expect(
            both.headers["X-Key"] == "k" && both.url.absoluteString == "https://a.test/either?api_key=q"
                && both.headers["Authorization"] == nil)
        // One of two isn't enough.
        #expect(try await request("either", ["key": .key("k")]).headers["X-Key"] == nil)
        #expect(
            try await request("either", ["key": .key("k")], provider: APIKeyProvider(header: "X-Own", key: "o")).headers["X-Own"] == "o")
    }

    @Test func `Credentials go where their schemes say`() async throws {
        #expect(try await request("cookies", ["cookie": .key("c")]).headers["Cookie"] == "sid=c")
        #expect(try await request("basic", ["basic": .basic(user: "ada", password: "pw")]).headers["Authorization"] == "Basic YWRhOnB3")
        #expect(try await request("oauth", ["oauth": .key("t")]).headers["Authorization"] == "Bearer t")
        #expect(try await request("oauth", ["oauth": .provider(APIKeyProvider(header: "X-T", key: "t"))]).headers["X-T"] == "t")
        #expect(await serviceError { _ = try await request("basic", ["basic": .key("k")]) }?.message.contains("use .key for keys") == true)
        #expect(await serviceError { _ = try await request("cookies", ["cookie": .key("a;b")]) } != nil)
    }

    @Test func `No requirements send none, and endpoints without any use the provider`() async throws {
        let own = APIKeyProvider(header: "X-Own", key: "o")
        #expect(try await request("open", ["key": .key("k")], provider: own).headers["X-Own"] == nil)
        #expect(try await request("plain", ["key": .key("k")], provider: own).headers["X-Own"] == "o")
        #expect(try await request("optional", [:]).headers["X-Key"] == nil)
        #expect(try await request("optional", ["key": .key("k")]).headers["X-Key"] == "k")
    }

    @Test func `A call without the credentials that are required is told`() async throws {
        let events = Locked<[String]>([])
        let diagnostics = Diagnostics { event in events.withLock { $0.append(event.message) } }
        _ = try await request("either", [:], diagnostics)
        _ = try await request("optional", [:], diagnostics)
        _ = try await request("either", ["bearer": .sentElsewhere], diagnostics)
        let told = events.withLock { $0 }.filter { $0.contains("requires") }
        #expect(told.count == 1 && told.first?.contains("bearer (HTTP bearer), or key (header X-Key) and query (query api_key)") == true)
    }

    @Test func `A refused provider answers the challenge`() async throws {
        let stub = StubTransport()
        stub["oauth()"] = .inTurn(.status(401, headers: ["WWW-Authenticate": "Bearer"]), .json("{}"))
        let keys = Locked(0)
        let client = Secured(serviceRoot: "https://a.test") {
            $0.transport = stub
            $0.credentials["oauth"] = .provider(
                APIKeyProvider(header: "X-T") { refused in
                    keys.withLock { keys in
                        if refused != nil { keys += 1 }
                        return "t\(keys)"
                    }
                })
        }
        let answer: JSONValue = try await client.dynamic.oauth()
        #expect(answer == [:] && stub.requests.map { $0.request.headers["X-T"] } == ["t0", "t1"])
    }

    @Test func `Texts don't show credentials`() {
        var configuration = WebServiceClient.Configuration()
        configuration.credentials = ["key": .key("sesame"), "basic": .basic(user: "ada", password: "sesame")]
        for text in ["\(configuration)", "\(configuration.credentials)", String(reflecting: configuration.credentials)] {
            #expect(!text.contains("sesame"))
        }
        var dumped = ""
        dump(configuration.credentials, to: &dumped)
        #expect(!dumped.contains("sesame"))
    }
}

import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// Calls with shared settings, which are compiled once per kind and state of the client.
@Suite struct CallKindTests {
    private let stub = StubTransport.answering(.text("x"))

    private var client: WebServiceClient {
        WebServiceClient(serviceRoot: "https://kinds.test/v1") { $0.transport = stub }
    }

    private let settings = SharedCallSettings { $0.accepting(.ok).raw() }

    private func call(_ client: WebServiceClient, _ target: String) -> ServiceCall {
        client.http.request(encoded: target).named("Items", route: "Items").sharing(settings)
    }

    @Test func `calls that differ in URL and values only are compiled once`() async throws {
        let client = client
        for number in 1...5 {
            let _: String = try await call(client, "Items(\(number))?x=\(number)").header("X-Number", "\(number)").value()
        }
        #expect(client.state.compiledKinds == 1)
        #expect(stub.requests.map(\.request.url.absoluteString) == (1...5).map { "https://kinds.test/v1/Items(\($0))?x=\($0)" })
        #expect(stub.requests.map { $0.request.headers["X-Number"] } == (1...5).map { "\($0)" })
    }

    @Test func `whatever else differs makes another kind`() async throws {
        let client = client
        let plain = call(client, "Items")
        let kinds = [
            plain, plain.header("A", "1"), plain.header("B", "1"), plain.constantHeader("B", "1"), plain.constantHeader("B", "2"),
            plain.body("x"), plain.withoutBody(), plain.query("a", 1), plain.argument("a", 1), plain.named("Others", route: "Others"),
            plain.sharing(SharedCallSettings { $0.raw() }),
            client.http.request(.delete, encoded: "Items").named("Items", route: "Items").sharing(settings),
            client.http.request(outside: try #require(.init(string: "https://else.test"))).named("Items", route: "Items").sharing(settings),
        ]
        for call in kinds + kinds { _ = try? call.url() }
        // Calls with faults aren't kept: a body of a GET request, and an argument that nothing uses.
        #expect(client.state.compiledKinds == kinds.count - 2)
    }

    @Test func `settings of a call's own end the sharing`() async throws {
        let client = client
        _ = try await call(client, "Items").accepting(.ok).raw().response(String.self).status == 200
        #expect(client.state.compiledKinds == 0)
    }

    @Test func `later configurations and profiles apply to the next call`() async throws {
        let client = client
        let _: String = try await call(client, "Items").value()
        client.configure { $0.headers = ["X-Team": "core"] }
        let _: String = try await call(client, "Items").value()
        #expect(stub.requests.map { $0.request.headers["X-Team"] } == [nil, "core"])
        client.configure { $0.serviceRoot = "https://kinds.test/v2" }
        let _: String = try await call(client, "Items").value()
        #expect(stub.requests.last?.request.url.absoluteString == "https://kinds.test/v2/Items")
        let json = #"{"BaseURL": "https://kinds.test/v3", "Resources": [{"Name": "a()", "URITemplate": "/a"}]}"#
        let other = WebServiceClient(profile: try ServiceProfile(data: .init(json.utf8))) { $0.transport = stub }
        let _: String = try await call(other, "Items").value()
        try other.replaceProfile(ServiceProfile(data: .init(json.replacing("v3", with: "v4").utf8)))
        let _: String = try await call(other, "Items").value()
        #expect(stub.requests.suffix(2).map(\.request.url.path) == ["/v3/Items", "/v4/Items"])
    }

    @Test func `calls at once get one endpoint, and the number of endpoints is bounded`() async throws {
        let client = client
        let cache = EndpointCache<Int>(limit: 3)
        let name = MethodName(baseName: "a", labels: [])
        let endpoint = client.state.resolve(EndpointCompiler.compile(.get("/a"), for: name, root: nil).0)
        for key in 0..<100 {
            _ = cache.endpoint(for: key) { endpoint }
            #expect(cache.count <= 3)
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    if number % 10 == 0 { client.configure { $0.headers = ["X-Number": "\(number)"] } }
                    _ = try? await call(client, "Items(\(number))").value(String.self)
                }
            }
        }
        #expect(client.state.compiledKinds <= 1 && stub.requests.count == 200)
    }
}

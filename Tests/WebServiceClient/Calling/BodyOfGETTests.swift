import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct BodyOfGETTests {
    private struct Query: Codable, Sendable, Equatable { var match = "tea" }

    private final class Search: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            [
                "search(index:query:)": .get("/%%index%%/_search").allowingBody(),
                "count(query:)": .get("/_count").body(.argument(0)).allowingBody(),
                "clear(ids:)": .delete("/_scroll").allowingBody(),
                "drop(ids:)": .delete("/_pit").body(.argument(0)),
                "plain(index:)": .get("/%%0%%").allowingBody(),
            ]
        }

        func search(index: String, query: Query?) async throws -> String { try await call(index, query) }
        func count(query: Query) async throws -> String { try await call(query) }
        func clear(ids: [String]) async throws { try await call(ids) }
        func drop(ids: [String]) async throws { try await call(ids) }
        func plain(index: String) async throws { try await call(index) }
    }

    @Test func `A GET that says so sends its body over the wire`() async throws {
        let server = try LoopbackServer { routes in
            for (method, path) in [("GET", "/*path"), ("DELETE", "/*path")] {
                routes.on(method, path) { request in .text("\(request.method) \(request.text) \(request.fields["Content-Type"] ?? "-")") }
            }
        }
        let transport = try #require(CurlTransport.shared)
        let client = Search(serviceRoot: "\(server.url)") { $0.transport = transport }
        #expect(client.verify().isEmpty)
        #expect(try await client.search(index: "a", query: Query()) == #"GET {"match":"tea"} application/json"#)
        #expect(try await client.search(index: "a", query: nil) == "GET  -")
        #expect(try await client.count(query: Query()) == #"GET {"match":"tea"} application/json"#)
        try await client.clear(ids: ["1"])
        try await client.drop(ids: ["2"])
        try await client.plain(index: "b")
        let adHoc = try await client.http.get("/x").body(Query()).allowingBody().value(String.self)
        #expect(adHoc == #"GET {"match":"tea"} application/json"#)
        #expect(server.requests.map(\.text).suffix(4) == [#"["1"]"#, #"["2"]"#, "", #"{"match":"tea"}"#])
    }

    @Test func `Without it, a body of a GET stays a fault, and HEAD and TRACE never have one`() async throws {
        func faults(_ descriptor: EndpointDescriptor) -> [TableFault] { CompiledTable(["x(a:)": descriptor], root: nil).faults }
        let plain = faults(.get("/").body(.argument(0)))
        #expect(plain.map(\.kind) == [.unfitBody] && plain[0].fix.contains(".allowingBody()"))
        #expect(faults(.get("/")).map(\.kind) == [.unusedArgument])
        #expect(faults(.get("/").allowingBody()).isEmpty)
        #expect(faults(.get("/").withoutBody().allowingBody()).map(\.kind) == [.unusedArgument])
        #expect(faults(.head("/").body(.argument(0))).map(\.kind) == [.unfitBody])
        #expect(faults(.head("/%%a%%").allowingBody()).map(\.kind) == [.unfitBody])
        #expect(faults(.endpoint("TRACE", "/").body(.argument(0))).map(\.kind) == [.unfitBody])
        #expect(faults(.endpoint("PROPFIND", "/").allowingBody()).isEmpty)
        #expect(faults(.endpoint("OPTIONS", "/").body(.argument(0))).isEmpty)
        let (client, stub) = Store.stubbed()
        let error = try #require(await serviceError { try await client.http.get("/x").body("q").send() })
        #expect(error.kind == .table && error.message.contains(".allowingBody()") && stub.requests.isEmpty)
    }

    @Test func `A transport that sends none is refused before the first call`() async throws {
        #expect(Search.verify(for: URLSessionTransport.shared.capabilities).contains { $0.kind == .missingCapability })
        let client = Search(serviceRoot: "https://a.test") { $0.transport = StubTransport(capabilities: []) }
        let faults = client.verify()
        #expect(
            faults.count == 3 && faults.allSatisfy { $0.kind == .missingCapability && $0.description.contains(".allowingBody()") },
            "\(faults)")
        let (other, stub) = (
            WebServiceClient(serviceRoot: "https://a.test") { $0.transport = StubTransport(capabilities: []) }, StubTransport()
        )
        let error = try #require(await serviceError { try await other.http.get("/x").body("q").allowingBody().send() })
        #expect(error.kind == .table && stub.requests.isEmpty)
    }

    @Test func `Profiles and descriptions say it, too`() async throws {
        let json = #"{"BaseURL": "https://a.test", "Resources": [{"Name": "find(q:)", "URITemplate": "/find", "AllowsBody": true}]}"#
        let profile = try ServiceProfile(data: Data(json.utf8))
        #expect(profile.notes.isEmpty)
        let request = try await WebServiceClient(profile: profile) { $0.transport = StubTransport() }.dryRun {
            try await $0.dynamic.find(q: Query()) as String
        }
        #expect(request.method == .get && request.body?.data == Data(#"{"match":"tea"}"#.utf8))
        let list = """
            <plist version="1.0"><dict><key>Resources</key><array><dict><key>Name</key><string>find</string>
            <key>URITemplate</key><string>/find</string><key>AllowsBody</key><true/></dict></array></dict></plist>
            """
        #expect(ServiceProfile.verify(Data(list.utf8)) == [])
        for (value, words) in [("\"yes\"", "neither true nor false"), ("1", "neither true nor false"), ("null", "neither true nor false")] {
            let faults = ServiceProfile.verify(
                Data(#"{"Resources": [{"Name": "a()", "URITemplate": "/a", "AllowsBody": \#(value)}]}"#.utf8))
            #expect(faults.count == 1 && faults[0].contains(words), "\(value): \(faults)")
        }
        let faults = ServiceProfile.verify(
            Data(#"{"Resources": [{"Name": "a", "URITemplate": "/a", "Method": "HEAD", "AllowsBody": true}]}"#.utf8))
        #expect(faults.count == 1 && faults[0].contains("never has a body"), "\(faults)")
        let described = Search.describe().endpoints
        #expect(described.map(\.allowsBody) == [true, true, true, nil, true])
        #expect(described[0].requires.contains("bodies with GET") && described[2].requires.isEmpty)
        // Previously stored descriptions can still be decoded.
        let stored = try JSONEncoder().encode(Store.describe())
        #expect(!String(decoding: stored, as: UTF8.self).contains("allowsBody"))
        #expect(try JSONDecoder().decode(ClientDescription.self, from: stored) == Store.describe())
    }
}

import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// Endpoint methods named like HTTP methods. No member of the base class conflicts with them.
private final class KeyValueStore: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "get(_:)": .get("/kv/%%0%%").raw(), "put(_:_:)": .put("/kv/%%0%%"), "delete(_:)": .delete("/kv/%%0%%"),
            "head(_:)": .head("/kv/%%0%%"), "post(_:)": .post("/kv").body(.argument(0)), "patch(_:_:)": .patch("/kv/%%0%%"),
            "request(_:_:)": .get("/ask/%%0%%/%%1%%"),
        ]
    }

    func get(_ key: String) async throws -> String { try await call(key) }
    func put(_ key: String, _ value: [Int]) async throws { try await call(key, value) }
    func delete(_ key: String) async throws { try await call(key) }
    func head(_ key: String) async throws { try await call(key) }
    func post(_ value: [Int]) async throws { try await call(value) }
    func patch(_ key: String, _ value: [Int]) async throws { try await call(key, value) }
    func request(_ method: String, _ key: String) async throws { try await call(method, key) }
}

@Suite struct ReservedKeyTests {
    @Test func `Endpoint methods may be called as HTTP methods are`() async throws {
        #expect(KeyValueStore.verify().isEmpty)
        let stub = StubTransport()
        stub.fallback(.text("it"))
        let store = KeyValueStore(serviceRoot: "https://kv.test") { $0.transport = stub }
        #expect(try await store.get("a") == "it")
        try await store.put("a", [1])
        try await store.delete("a")
        try await store.head("a")
        try await store.post([2])
        try await store.patch("a", [3])
        try await store.request("x", "y")
        try await store.http.delete("/kv/%%0%%", "b").send()
        #expect(
            stub.requests.map { "\($0.request.method) \($0.request.url.path())" } == [
                "GET /kv/a", "PUT /kv/a", "DELETE /kv/a", "HEAD /kv/a", "POST /kv", "PATCH /kv/a", "GET /ask/x/y", "DELETE /kv/b",
            ])
    }

    @Test(arguments: [
        "call()", "call(_:)", "call(_:_:)", "call(_:id:)", "call(timeout:)", "call(prepare:)", "call(function:)", "call(_:timeout:)",
        "stream()", "stream(_:)", "stream(_:_:_:)", "stream(prepare:timeout:)", "call", "stream", "http", "dynamic", "dynamic()",
        "dynamic(timeout:)", "dynamic(timeout:prepare:)", "configuration", "configure(_:)", "profile", "replaceProfile(_:)", "dryRun(_:)",
        "dryRun(isolation:_:)", "verify()", "verify(_:)", "circuits", "queue", "profileHistory", "rollBackProfile()", "activity",
        "environment", "session", "transfers",
    ])
    func `A key that is a member of the base class is a fault`(key: String) throws {
        let name = try MethodName(key)
        let route = "/x/" + name.labels.indices.map { "%%\($0)%%" }.joined(separator: "/")
        let faults = CompiledTable([key: .get(route)], root: nil).faults
        #expect(faults.map(\.kind) == [.reservedKey] && faults.map(\.key) == [key], "\(faults)")
        let fix = try #require(faults.first?.fix)
        #expect(fix.contains("another name") && fix.contains("never sent"))
        // The proposed name must itself be valid.
        let proposed = try #require(fix.split(separator: "\"").dropFirst().first)
        #expect(ReservedKeys.fault(of: try MethodName(String(proposed))) == nil)
    }

    @Test(arguments: [
        "call(number:)", "stream(id:)", "get(_:)", "request(_:)", "head()", "http(id:)", "dynamic(id:)", "configure(device:)",
        "verify(code:)",
        "dryRun(id:)", "profile(of:)", "session()", "state", "options(_:)", "describe()", "endpoints", "calls(_:)", "replaceProfile(of:)",
    ])
    func `Other keys are none`(key: String) throws {
        #expect(ReservedKeys.fault(of: try MethodName(key)) == nil)
    }

    @Test func `A client with such a key makes no call, and neither does a profile bring one`() async throws {
        class Phone: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable { ["call(_:)": .post("/calls/%%0%%").withoutBody(), "list()": .get("/calls")] }
        }
        #expect(Phone.verify().map(\.kind) == [.reservedKey])
        let stub = StubTransport()
        stub.fallback(.status(200))
        let phone = Phone(serviceRoot: "https://phone.test") { $0.transport = stub }
        let error = try #require(await serviceError { try await phone.dynamic.list() })
        #expect(error.kind == .table && error.message.contains("call(_:)") && stub.requests.isEmpty)
        let faults = ServiceProfile.verify(Data(#"{"Resources": [{"Name": "stream(_:)", "URITemplate": "/{0}"}]}"#.utf8))
        #expect(faults.count == 1 && faults[0].contains("stream"), "\(faults)")
        let bare = try ServiceProfile(
            data: Data(#"{"BaseURL": "https://a.test", "Resources": [{"Name": "call", "URITemplate": "/{0}"}]}"#.utf8))
        let client = WebServiceClient(profile: bare) { $0.transport = stub }
        let refused = try #require(await serviceError { try await client.dynamic.call(1) })
        #expect(refused.kind == .table && stub.requests.isEmpty)
        try await client.dynamic.call(number: 1)
        #expect(stub.requests.count == 1)
    }
}

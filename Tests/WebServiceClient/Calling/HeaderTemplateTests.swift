import Foundation
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct HeaderTemplateTests {
    private final class Tenants: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            [
                "list(tenant:)": .get("/list"),
                "create(tenant:_:)": .post("/items"),
                "login(user:)": .get("/login/%%user%%").header("X-Tenant", "none"),
                "item(tenant:id:)": .get("/items/%%id%%"),
            ]
        }
        override class var defaults: EndpointDefaults {
            EndpointDefaults(serviceRoot: "https://a.test", headers: ["X-Tenant": "t-%%tenant%%", "X-Plain": "1"])
        }
        func list(tenant: String?) async throws { try await call(tenant) }
        func create(tenant: String, _ item: [String: Int]) async throws { try await call(tenant, item) }
        func login(user: String) async throws { try await call(user) }
    }

    private func tenants(_ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }) -> Tenants {
        Tenants {
            $0.transport = StubTransport()
            configure(&$0)
        }
    }

    @Test func `a header of the class is bound for each endpoint`() async throws {
        #expect(Tenants.verify().isEmpty, "\(Tenants.verify())")
        let client = tenants { $0.headers["X-Client"] = "%%tenant%%" }
        // The client's header needs the argument, too, which login doesn't have.
        #expect(client.verify().map(\.key) == ["login(user:)"])
        let plain = tenants()
        let list = try await plain.dryRun { try await $0.list(tenant: "acme") }
        #expect(list.headers["X-Tenant"] == "t-acme" && list.headers["X-Plain"] == "1")
        // The argument is used, so the body is the other one.
        let create = try await plain.dryRun { try await $0.create(tenant: "acme", ["a": 1]) }
        #expect(create.headers["X-Tenant"] == "t-acme" && create.body?.data == Data(#"{"a":1}"#.utf8))
        let login = try await plain.dryRun { try await $0.login(user: "ada") }
        #expect(login.headers[values: "X-Tenant"] == ["none"])
    }

    @Test func `a nil argument omits the header`() async throws {
        let list = try await tenants().dryRun { try await $0.list(tenant: nil) }
        #expect(!list.headers.contains("X-Tenant") && list.headers["X-Plain"] == "1")
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\u{0}", "a "]) func `a value can't add a line or end with a blank`(value: String) async throws {
        let error = await #expect(throws: ServiceError.self) { try await tenants().dryRun { try await $0.list(tenant: value) } }
        #expect(error?.kind == .argument && error?.message.contains("X-Tenant") == true)
    }

    @Test func `a value isn't searched for placeholders`() async throws {
        let list = try await tenants().dryRun { try await $0.list(tenant: "%%0%%") }
        #expect(list.headers["X-Tenant"] == "t-%%0%%")
    }

    @Test func `ad-hoc calls give the value by name`() async throws {
        let client = tenants()
        let named = try await client.dryRun { try await $0.http.get("/x/%%0%%", 7).argument("tenant", "acme").send() }
        #expect(named.headers["X-Tenant"] == "t-acme" && named.url.path == "/x/7")
        let replaced = try await client.dryRun { try await $0.http.get("/x").header("X-Tenant", "own").send() }
        #expect(replaced.headers["X-Tenant"] == "own")
        let outside = try #require(URL(string: "https://other.test/"))
        let foreign = try await client.dryRun { try await $0.http.request(outside: outside).send() }
        #expect(!foreign.headers.contains("X-Tenant"))
        let error = await #expect(throws: ServiceError.self) { try await client.dryRun { try await $0.http.get("/x").send() } }
        #expect(error?.kind == .argument)
        #expect(error?.message.contains("X-Tenant") == true && error?.message.contains(#".argument("tenant", …)"#) == true)
        let byPosition = WebServiceClient(serviceRoot: "https://a.test") {
            $0.transport = StubTransport()
            $0.headers["X-Id"] = "%%0%%"
        }
        let positioned = try await byPosition.dryRun { try await $0.http.get("/x/%%0%%", 7).send() }
        #expect(positioned.headers["X-Id"] == "7")
        let missing = await #expect(throws: ServiceError.self) { try await byPosition.dryRun { try await $0.http.get("/x").send() } }
        #expect(missing?.message.contains("argument 0") == true)
    }

    @Test func `several values of a name keep their order, and each may be omitted`() async throws {
        let client = WebServiceClient(serviceRoot: "https://a.test") {
            $0.transport = StubTransport()
            $0.headers.append("X-A", "%%one%%")
            $0.headers.append("X-A", "fixed")
            $0.headers.append("X-A", "%%two%%")
        }
        func values(_ one: String?, _ two: String?) async throws -> [String] {
            try await client.dryRun { try await $0.http.get("/x").argument("one", one).argument("two", two).send() }.headers[values: "X-A"]
        }
        #expect(try await values("1", "2") == ["1", "fixed", "2"])
        #expect(try await values(nil, "2") == ["fixed", "2"])
        #expect(try await values(nil, nil) == ["fixed"])
    }

    @Test func `a secret argument in a header is masked everywhere`() async throws {
        let client = WebServiceClient(serviceRoot: "https://a.test") {
            $0.transport = StubTransport()
            $0.headers["X-Request-Id"] = "%%token%%"
        }
        let request = try await client.dryRun { try await $0.http.get("/x").argument("token", "s3cr3t-value").send() }
        #expect(request.headers["X-Request-Id"] == "s3cr3t-value" && !request.description.contains("s3cr3t-value"))
    }
}

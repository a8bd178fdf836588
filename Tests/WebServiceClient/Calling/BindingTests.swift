import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct BindingTests {
    private struct Filter: Codable, Sendable {
        var text: String
        var pageSize: Int?
        var tags: [String] = []

        enum CodingKeys: String, CodingKey {
            case text = "q"
            case pageSize = "page_size"
            case tags
        }
    }

    private enum Order: String, Sendable { case newestFirst = "-date" }

    // MARK: Path

    @Test(arguments: [
        ("a/b", "a%2Fb"), ("?a=b&c", "%3Fa%3Db%26c"), ("#", "%23"), ("%2F", "%252F"), ("%%0%%", "%25%250%25%25"),
        ("ü 😀", "%C3%BC%20%F0%9F%98%80"),
        ("\r\n", "%0D%0A"), ("\0", "%00"), ("...", "..."), ("%2e%2e", "%252e%252e"), ("a:b", "a%3Ab"), ("../x", "..%2Fx"),
    ])
    func `A value stays in its segment`(value: String, encoded: String) async throws {
        #expect(try await url { $0.http.get("/a/%%0%%/z", value) } == "https://api.test/v1/a/\(encoded)/z")
    }

    @Test(arguments: ["", ".", ".."]) func `Empty and dot segments are refused by the argument's name`(value: String) async throws {
        let error = try #require(await serviceError { _ = try await url { $0.http.get("/a/%%0%%", value) } })
        #expect(error.kind == .argument && error.stage == .binding)
        #expect((error.cause as? ArgumentError)?.argument == "argument 0")
        let whole = await serviceError { _ = try await url { $0.http.get("%%0%%", value) } }
        #expect(whole?.kind == .argument)
    }

    @Test func `A dot segment made of a literal and a value is refused`() async throws {
        #expect(await serviceError { _ = try await url { $0.http.get("/a/.%%0%%", ".") } }?.kind == .argument)
        #expect(await serviceError { _ = try await url { $0.http.get(uriTemplate: "/a/{+0}", "../b") } }?.kind == .argument)
        #expect(try await url { $0.http.get("/a/%%0%%.json", "..") } == "https://api.test/v1/a/...json")
    }

    @Test func `nil in a path names the argument`() async throws {
        let error = await serviceError { _ = try await url { $0.http.get("/a/%%0%%", nil as String?) } }
        #expect(error?.message.contains("argument 0") == true && error?.message.contains("nil") == true)
    }

    @Test func `A hole in a URI template's path names the argument`() async throws {
        for template in ["/a/{0}", "/a/{+0}/b", "{+0}", "/a/{0}{?0}"] {
            for value in [nil, ""] as [String?] {
                let error = await serviceError { _ = try await url { $0.http.get(uriTemplate: template, value) } }
                #expect(error?.kind == .argument && (error?.cause as? ArgumentError)?.argument == "argument 0", "\(template)")
            }
        }
        #expect(await serviceError { _ = try await url { $0.http.get(uriTemplate: "/a/{0}", [String]()) } }?.kind == .argument)
        for template in ["/a{/0}/b", "/a{/0*}"] {
            #expect(await serviceError { _ = try await url { $0.http.get(uriTemplate: template, "") } }?.kind == .argument, "\(template)")
            #expect(await serviceError { _ = try await url { $0.http.get(uriTemplate: template, ["a", "", "b"]) } }?.kind == .argument)
        }
        // These omit their separator too, or aren't in the path.
        for template in ["/a{/0}", "/a{;0}", "/a{.0}", "/a{?0}", "/a?b={0}", "/a?b=c{&0}"] {
            let sent = try await url { $0.http.get(uriTemplate: template, nil as String?) }
            #expect(sent.hasPrefix("https://api.test/v1/a"), "\(template)")
        }
        #expect(try await url { $0.http.get(uriTemplate: "/a/{0,1}", nil as String?, "x") } == "https://api.test/v1/a/x")
    }

    @Test(arguments: [
        ("a/b c", "a/b%20c"), ("a?b", "a%3Fb"), ("a#b", "a%23b"), ("basic-auth/user/passwd", "basic-auth/user/passwd"),
        ("a/b:c", "a/b%3Ac"),
    ])
    func `A whole path keeps its slashes only`(value: String, encoded: String) async throws {
        #expect(try await url { $0.http.get("%%0%%", value) } == "https://api.test/v1/\(encoded)")
    }

    @Test(arguments: ["/a", "a/", "a//b", "a/../b", "./a", "http://other.test/a", "mailto:x", "//other.test/a"])
    func `A whole path that leads elsewhere is refused`(value: String) async throws {
        #expect(await serviceError { _ = try await url { $0.http.get("%%0%%", value) } }?.kind == .argument)
    }

    @Test func `Values of many types become text`() async throws {
        let id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        #expect(
            try await url { $0.http.get("/%%0%%/%%1%%/%%2%%/%%3%%", 1, true, 2.5, id) } == "https://api.test/v1/1/true/2.5/\(id.uuidString)"
        )
        #expect(try await url { $0.http.get("/%%0%%", Date(timeIntervalSince1970: 0)) } == "https://api.test/v1/1970-01-01T00%3A00%3A00Z")
        #expect(try await url { $0.http.get("/%%0%%", Order.newestFirst) } == "https://api.test/v1/-date")
        let error = await serviceError { _ = try await url { $0.http.get("/%%0%%", StoreItem(id: 1, name: "x")) } }
        #expect(error?.kind == .argument && error?.message.contains("StoreItem") == true)
    }

    // MARK: Root

    @Test(arguments: [
        ("https://a.test", "/x", "https://a.test/x"), ("https://a.test/", "x", "https://a.test/x"),
        ("https://a.test/v1/", "/x", "https://a.test/v1/x"),
        ("https://a.test/v1?k=1", "/x?y=2", "https://a.test/v1/x?k=1&y=2"), ("https://a.test/v1?", "/x?", "https://a.test/v1/x"),
        ("https://a.test/v1", "", "https://a.test/v1"), ("https://a.test", "//evil.test/x", "https://a.test/evil.test/x"),
        ("https://a.test/v1?k=1", "", "https://a.test/v1?k=1"), ("https://a.test", "/ü b", "https://a.test/%C3%BC%20b"),
    ])
    func `Root and route are joined at one slash`(root: String, route: String, whole: String) async throws {
        #expect(try await url(root: root) { $0.http.get(route) } == whole)
    }

    @Test(arguments: ["nowhere", "ftp://a.test", "https://", "https://ada:pw@a.test", "https://a.test/#f", "https://a.test/ü", "/v1"])
    func `A bad root is refused`(root: String) async throws {
        let error = await serviceError { _ = try await url(root: root) { $0.http.get("/x") } }
        #expect(error?.kind == .table)
        #expect(error?.description.contains("pw@") == false)
    }

    @Test func `No root is told`() async throws {
        let error = await serviceError { _ = try await url(root: "") { $0.http.get("/x") } }
        #expect(error?.message.contains("service root") == true)
    }

    @Test(
        "The query of a root and that of an endpoint are joined by one ampersand",
        arguments: [
            ("?key=1&", "key=1"), ("?key=1", "key=1"), ("?", ""), ("?&", ""), ("?&&", ""), ("?&key=1", "key=1"), ("?key=1&&", "key=1"),
            ("?a&b&", "a&b"), ("?a&&b", "a&&b"), ("/?key=1&", "key=1"), ("?key=", "key="), ("?=&", "="), ("?a=%26&", "a=%26"),
            ("?a=b?&", "a=b?"),
        ])
    func rootQuery(root: String, kept: String) async throws {
        let start = "https://api.test/v1/x"
        let root = "https://api.test/v1" + root
        #expect(try await url(root: root) { $0.http.get("/x") } == start + (kept.isEmpty ? "" : "?" + kept))
        let joined = start + "?" + (kept.isEmpty ? "" : kept + "&")
        #expect(try await url(root: root) { $0.http.get("/x?x=2") } == joined + "x=2")
        #expect(try await url(root: root) { $0.http.get("/x?&x=2") }.hasSuffix("x=2"))
        #expect(try await url(root: root) { $0.http.get("/x?x=2&").query("y", 3) } == joined + "x=2&y=3")
    }

    private final class Tenants: WebServiceClient, @unchecked Sendable {
        override class var defaults: EndpointDefaults { EndpointDefaults(serviceRoot: "https://%%tenant%%.api.test/%%area%%/v1?k=1") }
        override class var endpoints: EndpointTable { ["list(tenant:area:)": .get("/list")] }
        func list(tenant: String, area: String) async throws { try await call(tenant, area) }
    }

    @Test func `A root has placeholders`() async throws {
        #expect(Tenants.verify().isEmpty)
        let request = try await Tenants().dryRun { try await $0.list(tenant: "acme", area: "a/b") }
        #expect(request.url.absoluteString == "https://acme.api.test/a%2Fb/v1/list?k=1")
        for (tenant, area) in [("evil.test/", "a"), ("a@evil", "b"), ("", "a"), ("acme", ".."), ("acme", "")] {
            let error = await serviceError { _ = try await Tenants().dryRun { try await $0.list(tenant: tenant, area: area) } }
            #expect(error?.kind == .argument, "\(tenant) \(area)")
        }
    }

    @Test func `Ad-hoc calls give a root's placeholders their values`() async throws {
        let tenants = Tenants { $0.transport = StubTransport() }
        let list = try await tenants.dryRun {
            try await $0.http.get("/users/%%0%%", 7).argument("tenant", "acme").argument("area", "a/b").send()
        }
        #expect(list.url.absoluteString == "https://acme.api.test/a%2Fb/v1/users/7?k=1")
        let numbered = try await WebServiceClient(serviceRoot: "https://%%0%%.api.test").dryRun {
            try await $0.http.get("/users/%%1%%", "acme", 7).send()
        }
        #expect(numbered.url.absoluteString == "https://acme.api.test/users/7")
        let evil = await serviceError {
            _ = try await tenants.http.get("/users").argument("tenant", "evil.test/").argument("area", "a").send()
        }
        #expect(evil?.kind == .argument)
    }

    @Test func `A root's placeholder without a value names the fix`() async throws {
        let missing = try #require(await serviceError { _ = try await Tenants().http.get("/users").argument("tenant", "acme").send() })
        #expect(missing.kind == .argument && missing.stage == .binding && missing.call.key == "GET /users")
        #expect(missing.message.contains("argument \"area\"") && missing.message.contains(".argument(\"area\", …)"))
        let client = WebServiceClient(serviceRoot: "https://%%0%%.api.test")
        let numbered = try #require(await serviceError { _ = try await client.http.get("/users").send() })
        #expect(numbered.message.contains("argument 0") && numbered.message.contains("after the route"))
        let unused = await serviceError { _ = try await url { $0.http.get("/users").argument("tenant", "acme") } }
        #expect(unused?.kind == .table && unused?.message.contains("\"tenant\" isn't used") == true)
    }

    @Test func `A link belongs to the origin that the call's arguments make`() async throws {
        let stub = StubTransport()
        stub.fallback(.status(200))
        let tenants = Tenants {
            $0.transport = stub
            $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "pw")
        }
        let link = try #require(URL(string: "https://acme.api.test/next"))
        try await tenants.http.request(link: link).argument("tenant", "acme").argument("area", "a").send()
        #expect(stub.requests.first?.request.headers[.authorization] != nil)
        let other = await serviceError { try await tenants.http.request(link: link).argument("tenant", "b").argument("area", "a").send() }
        #expect(other?.message.contains("leaves the service's origin") == true)
        #expect(await serviceError { try await tenants.http.request(link: link).send() }?.message.contains("tenant") == true)
        try await tenants.http.request(outside: link).send()
        #expect(stub.requests.count == 2 && stub.requests[1].request.headers[.authorization] == nil)
    }

    @Test(arguments: ["ftp://%%0%%.a.test", "%%0%%/x", "https://ada:pw@%%0%%.test", "https://%%0%%.test/#f"])
    func `A root with placeholders is verified`(root: String) {
        let faults = WebServiceClient(serviceRoot: root).verify()
        #expect(faults.map(\.kind) == [.badServiceRoot] && !faults.description.contains("pw@"))
    }

    @Test(arguments: ["https://%%0%%.a.test", "%%0%%://a.test", "https://a.test:%%0%%/x", "https://a.test/%%0%%?x=%%1%%"])
    func `Placeholders may stand anywhere in a root`(root: String) {
        #expect(WebServiceClient(serviceRoot: root).verify().isEmpty)
    }

    // MARK: Query

    @Test func `Query values are encoded, nil pairs are left out`() async throws {
        #expect(
            try await url { $0.http.get("/s?q=%%0%%&p=%%1%%&x=1", "a&b=c+d e", nil as String?) }
                == "https://api.test/v1/s?q=a%26b%3Dc%2Bd%20e&x=1")
        #expect(try await url { $0.http.get("/s?q=%%0%%", nil as String?) } == "https://api.test/v1/s")
        #expect(try await url { $0.http.get("/s").query("a", nil as String?) } == "https://api.test/v1/s")
        #expect(
            try await url { $0.http.get("/s", "v").describing { $0.query(["a b": "x%%0%%y&", "f": "1"]) } }
                == "https://api.test/v1/s?a%20b=xvy%26&f=1")
        #expect(try await url { $0.http.get("/s?flag&empty=") } == "https://api.test/v1/s?flag&empty=")
    }

    @Test func `A struct becomes query items by its coding keys`() async throws {
        let filter = Filter(text: "a b", tags: ["x", "y"])
        #expect(try await url { $0.http.get("/s").query(filter) } == "https://api.test/v1/s?q=a%20b&tags=x&tags=y")
        #expect(
            try await url { $0.http.get("/s").query(filter).describing { $0.arrays(.comma) } } == "https://api.test/v1/s?q=a%20b&tags=x,y")
        let brackets = try await request(configure: { $0.arrays = .brackets }) { $0.http.get("/s").query("t", [1, 2]) }
        #expect(brackets.url.query() == "t%5B%5D=1&t%5B%5D=2")
    }

    @Test func `URI templates take structs and lists`() async throws {
        #expect(try await url { $0.http.get(uriTemplate: "/s{?0*}", ["a", "b"]) } == "https://api.test/v1/s?0=a&0=b")
        #expect(
            try await url { $0.http.get(uriTemplate: "/s{?0*}", Filter(text: "x", pageSize: 2)) }.hasPrefix(
                "https://api.test/v1/s?q=x&page_size=2"))
        #expect(
            try await url(root: "https://a.test?k=1") { $0.http.get(uriTemplate: "/{0}{?1}", "a/b", "c") }
                == "https://a.test/a%2Fb?k=1&1=c")
        #expect(try await url { $0.http.get(uriTemplate: "/s{?0}", nil as String?) } == "https://api.test/v1/s")
    }

    // MARK: Headers

    @Test func `Header values are put in, nil ones left out, line breaks refused`() async throws {
        let request = try await request { $0.http.get("/").header("X-A", "ü").header("X-B", nil as String?) }
        #expect(request.headers["X-A"] == "ü" && request.headers["X-B"] == nil)
        for value in ["a\r\nX-Evil: 1", "a\n", "\0"] {
            let error = try #require(await serviceError { _ = try await url { $0.http.get("/").header("X-A", value) } })
            #expect((error.cause as? ArgumentError)?.argument == "argument 0")
            #expect(error.message.contains("X-A") && !error.description.contains("Evil"))
        }
    }

    @Test func `Of several arguments in a header the one at fault is named`() async throws {
        let error = await serviceError {
            _ = try await url { $0.http.get("/", "good", "b\nd").describing { $0.header("X-A", "%%0%% %%1%%") } }
        }
        #expect((error?.cause as? ArgumentError)?.argument == "argument 1")
    }

    @Test func `A list in a header follows the array strategy as far as headers can`() async throws {
        let comma = try await request(configure: { $0.arrays = .comma }) {
            $0.http.get("/", Marks()).describing { $0.headers(.argument(0)) }
        }
        #expect(comma.headers[values: "X-Accept"] == ["a/b,c/d"])
    }

    private struct Marks: Codable, Sendable {
        var accept = ["a/b", "c/d"]
        var trace: String?

        enum CodingKeys: String, CodingKey {
            case accept = "X-Accept"
            case trace = "X-Trace"
        }
    }

    @Test func `A struct becomes headers, a list several`() async throws {
        let request = try await request(configure: { $0.arrays = .brackets }) {
            $0.http.get("/", Marks()).describing { $0.headers(.argument(0)) }
        }
        #expect(request.headers[values: "X-Accept"] == ["a/b", "c/d"])
        #expect(!request.headers.contains("X-Trace"))
    }

    @Test func `Arguments that don't fit the key are counted`() async throws {
        let client = Store.stubbed().client
        let error = try #require(await serviceError { try await client.ping() })
        #expect(error.kind == .request && error.message.contains("1 arguments") && error.message.contains("key has 0"))
    }
}

extension HTTPCalls {
    /// Creates a call with a URI template whose variables are named by position.
    func get(uriTemplate: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .get(uriTemplate: uriTemplate), arguments: arguments)
    }
}

import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct BodyTests {
    private struct Opaque: Sendable {}

    private struct Stubborn: Encodable, Sendable {
        func encode(to encoder: any Encoder) throws { throw Refusal() }
    }

    @Test func `The one argument that nothing uses is the body`() async throws {
        let (client, stub) = Store.stubbed(.status(201))
        try await client.create(StoreItem(id: 1, name: "tea"))
        let recorded = try #require(stub.requests.first)
        #expect(try JSONDecoder().decode(StoreItem.self, from: recorded.body ?? Data()) == StoreItem(id: 1, name: "tea"))
        #expect(recorded.request.headers[.contentType] == "application/json")
    }

    @Test func `A declared argument is the body`() async throws {
        let (client, stub) = Store.stubbed(.json(#"{"id":2,"name":"x"}"#))
        let response = try await client.replace(id: 2, item: StoreItem(id: 2, name: "x"))
        #expect(response.value.id == 2 && response.status == 200)
        #expect(stub.requests.first?.request.url.path() == "/v1/items/2" && stub.requests.first?.body != nil)
    }

    @Test func `Bytes, forms and bodies go as they are`() async throws {
        let data = try await request { $0.http.post("/").body(Data([1, 2])) }
        #expect(data.body?.data == Data([1, 2]) && data.headers[.contentType] == "application/octet-stream")
        let form = try await request { $0.http.post("/").body(MultipartForm([.text("a", "b")], boundary: "xyz")) }
        #expect(form.headers[.contentType]?.contains("boundary=xyz") == true)
        let body = try await request { $0.http.post("/").body(RequestBody(Data("x".utf8), contentType: "text/x")) }
        #expect(body.headers[.contentType] == "text/x" && body.body?.data == Data("x".utf8))
        let deleted = try await request { $0.http.delete("/").body(StoreItem(id: 1, name: "")) }
        #expect(deleted.body != nil && deleted.method == .delete)
    }

    @Test func `nil is no body, also inside of an existential`() async throws {
        let none = try await request { $0.http.post("/", nil as StoreItem?) }
        #expect(none.body == nil && !none.headers.contains(.contentType))
        func generic<Value: Sendable>(_ value: Value) -> any Sendable { value }
        let wrapped = generic(nil as StoreItem?)
        let inner = try await request { $0.http.post("/").body(wrapped) }
        #expect(inner.body == nil)
        let without = try await request { $0.http.post("/").describing { $0.withoutBody() } }
        #expect(without.body == nil)
    }

    @Test func `What can't be encoded is told by name, with the encoder's own error`() async throws {
        let opaque = try #require(await serviceError { _ = try await request { $0.http.post("/").body(Opaque()) } })
        #expect(opaque.kind == .argument && opaque.message.contains("Opaque") && opaque.message.contains("argument 0"))
        let stubborn = try #require(await serviceError { _ = try await request { $0.http.post("/").body(Stubborn()) } })
        #expect(stubborn.kind == .encoding && stubborn.stage == .binding)
        #expect((stubborn.cause as? BodyEncodingError)?.cause as? Refusal == Refusal())
    }

    // MARK: Precedence

    private final class Layers: WebServiceClient, @unchecked Sendable {
        override class var defaults: EndpointDefaults {
            EndpointDefaults(headers: [
                "X-1": "class", "X-2": "class", "X-3": "class", "X-4": "class", "X-5": "class", "Content-Type": "class/type",
            ])
        }
        override class var endpoints: EndpointTable {
            [
                "send(_:)": .post("/").headers([
                    "X-2": "method", "X-3": "method", "X-4": "method", "X-5": "method", "Authorization": "method",
                ]),
                "typed(_:)": .post("/").header("Content-Type", "method/type"),
                "plain()": .get("/"),
            ]
        }
        func send(_ item: StoreItem, team: String = "call") async throws {
            try await call(
                item,
                prepare: {
                    $0.headers["X-4"] = team; $0.headers["X-5"] = team
                }, function: "send(_:)")
        }
        func typed(_ body: any Sendable) async throws { try await call(body) }
        func plain() async throws { try await call() }
    }

    private func layers(_ change: (inout WebServiceClient.Configuration) -> Void = { _ in }) -> Layers {
        Layers(serviceRoot: "https://api.test") {
            $0.headers = ["X-0": "client", "X-1": "client", "X-2": "client", "Content-Type": "client/type", "Accept": "client/accept"]
            change(&$0)
        }
    }

    @Test func `Headers win in the declared order`() async throws {
        let client = layers {
            $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "pw")
            $0.interceptors = [
                RequestPreparer {
                    $0.headers["X-3"] = "preparer"
                    $0.headers["X-4"] = "preparer"
                    $0.headers["Authorization"] = "preparer"
                }
            ]
        }
        let headers = try await client.dryRun { try await $0.send(StoreItem(id: 1, name: "")) }.headers
        #expect(headers["User-Agent"]?.isEmpty == false && headers["Accept"] == "client/accept")
        #expect((0...5).map { headers[HTTPFields.Name("X-\($0)")] } == ["client", "class", "method", "preparer", "call", "call"])
        #expect(headers[.contentType] == "application/json")
        #expect(headers[.authorization]?.hasPrefix("Basic ") == true && headers[values: .authorization].count == 1)
    }

    @Test func `The serializer's Content-Type wins over the method's, bytes keep the declared one`() async throws {
        let client = layers()
        let encoded = try await client.dryRun { try await $0.typed(StoreItem(id: 1, name: "")) }
        #expect(encoded.headers[.contentType] == "application/json")
        let bytes = try await client.dryRun { try await $0.typed(Data([1])) }
        #expect(bytes.headers[.contentType] == "method/type")
        let none = try await client.dryRun { try await $0.plain() }
        #expect(none.headers[.contentType] == "class/type")
    }

    @Test func `Preparers win over the serializer, a multipart boundary over everybody`() async throws {
        let client = layers { $0.interceptors = [RequestPreparer { $0.headers[.contentType] = "application/merge-patch+json" }] }
        let encoded = try await client.dryRun { try await $0.typed(StoreItem(id: 1, name: "")) }
        #expect(encoded.headers[.contentType] == "application/merge-patch+json")
        let form = try await client.dryRun { try await $0.typed(MultipartForm([.text("a", "b")], boundary: "xyz")) }
        #expect(form.headers[.contentType]?.contains("boundary=xyz") == true)
    }

    @Test func `What an endpoint reads is what it accepts, unless client or class say otherwise`() async throws {
        func accepted(
            by client: [(HTTPFields.Name, String)] = [], _ change: @escaping @Sendable (EndpointDescriptor) -> EndpointDescriptor
        ) async throws -> String? {
            let made = WebServiceClient(serviceRoot: "https://api.test") { for (name, value) in client { $0.headers[name] = value } }
            return try await made.dryRun { try await $0.http.post("/").body(["a": "b"]).describing(change).send() }.headers[.accept]
        }
        let list = PropertyListSerializer()
        #expect(try await accepted { $0 } == "application/json")
        #expect(try await accepted { $0.raw() } == "*/*")
        #expect(try await accepted { $0.decoding(with: list) } == list.contentType)
        #expect(try await accepted { $0.serializer(FormSerializer()).decoding(with: JSONSerializer()) } == "application/json")
        let outside = try #require(URL(string: "https://other.test/x"))
        let foreign = try await WebServiceClient(serviceRoot: "https://api.test").dryRun {
            try await $0.http.request(outside: outside).describing { $0.decoding(with: list) }.send()
        }
        #expect(foreign.headers[.accept] == list.contentType)
        for (client, sent) in [([(HTTPFields.Name.accept, "a/b")], "a/b"), ([], "*/*")] {
            let made = WebServiceClient(serviceRoot: "https://api.test") { for (name, value) in client { $0.headers[name] = value } }
            #expect(try await made.dryRun { _ = try await $0.http.get("/film").stream() }.headers[.accept] == sent)
        }
        #expect(try await accepted(by: [(.accept, "a/b")]) { $0.serializer(FormSerializer()).raw() } == "a/b")
        #expect(try await accepted(by: [(.accept, "a/b")]) { $0.header(.accept, "c/d").raw() } == "c/d")
    }

    @Test(arguments: [" a", "a ", "\ta", "a\t", " "]) func `Blanks at the ends of a header's value are refused: nobody would see them`(
        value: String
    )
        async throws
    {
        let error = await serviceError { _ = try await request { $0.http.get("/").header("X-Value", value) } }
        #expect(error?.kind == .argument && error?.message.contains("blank") == true)
        let filled = await serviceError {
            _ = try await request { ServiceCall(client: $0, descriptor: .get("/").header("X-Value", "Bearer %%0%%"), arguments: [""]) }
        }
        #expect(filled?.kind == .argument)
        let inside = try await request {
            ServiceCall(client: $0, descriptor: .get("/").header("X-Value", "[%%0%%]"), arguments: [value])
        }
        #expect(inside.headers["X-Value"] == "[\(value)]")
    }

    @Test func `A class's serializer writes the body and names what is accepted`() async throws {
        final class Forms: WebServiceClient, @unchecked Sendable {
            override class var defaults: EndpointDefaults { EndpointDefaults(serializer: FormSerializer()) }
        }
        let request = try await Forms(serviceRoot: "https://api.test").dryRun { try await $0.http.post("/").body(["a": "b c"]).send() }
        #expect(request.headers[.contentType]?.hasPrefix("application/x-www-form-urlencoded") == true)
        #expect(request.headers[.accept] == "application/json, application/x-www-form-urlencoded;q=0.5")
        #expect(request.body?.data == Data("a=b+c".utf8))
    }
}

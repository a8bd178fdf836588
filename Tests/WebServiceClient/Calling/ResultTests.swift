import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct ResultTests {
    private let tea = #"{"id":1,"name":"tea"}"#

    @Test func `The type that is asked for decides`() async throws {
        let client = Store.stubbed(.json(tea, headers: ["X-A": "1"])).client
        #expect(try await client.item(id: 1) == StoreItem(id: 1, name: "tea"))
        #expect(try await client.http.get("/").value(StoreItem?.self)?.id == 1)
        #expect(try await client.http.get("/").value(Data.self) == Data(tea.utf8))
        #expect(try await client.http.get("/").value(String.self) == tea)
        #expect(try await client.http.get("/").value(String?.self) == tea)
        #expect(try await client.http.get("/").value(NoContent.self) == NoContent())
        try await client.ping0()
        let response = try await client.http.get("/").response(StoreItem.self)
        #expect(response.value.id == 1 && response.status == 200 && response.headers["X-A"] == "1" && response.duration >= .zero)
        #expect(response.url.path() == "/v1/")
    }

    @Test(arguments: [204, 205, 304, 200]) func `Without a body an optional is nil and a value an error`(status: Int) async throws {
        let client = Store.stubbed(.status(status)).client
        // A 304 only answers conditional requests.
        func get() -> ServiceCall { client.http.get("/").header("If-None-Match", status == 304 ? "\"1\"" : nil) }
        #expect(try await get().value(StoreItem?.self) == nil)
        #expect(try await get().response(String?.self).value == nil)
        try await get().send()
        let error = try #require(await serviceError { _ = try await get().value(StoreItem.self) })
        #expect(error.kind == (status == 304 ? .status : .emptyBody) && error.status == status)
    }

    @Test(
        arguments: [ServiceRequest.Method.get, .head, .post, .put, .patch, .delete, .options, "MERGE"],
        [nil, "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range"] as [HTTPFields.Name?])
    func `A 304 is a success of a conditional GET or HEAD only`(method: ServiceRequest.Method, condition: HTTPFields.Name?) async throws {
        let client = Store.stubbed(.status(304)).client
        var call = client.http.request(method, "/")
        if let condition { call = call.header(condition, "\"1\"") }
        let isSuccess = (method == .get || method == .head) && (condition == "If-None-Match" || condition == "If-Modified-Since")
        let error = await serviceError { [call] in try await call.send() }
        #expect((error == nil) == isSuccess)
        #expect(isSuccess || error?.kind == .status && error?.status == 304)
        let optional = await serviceError { [call] in _ = try await call.value(StoreItem?.self) }
        #expect((optional == nil) == isSuccess)
    }

    @Test func `Bytes and text of an empty body are empty`() async throws {
        let client = Store.stubbed(.status(200)).client
        #expect(try await client.http.get("/").value(Data.self).isEmpty)
        #expect(try await client.http.get("/").value(String.self).isEmpty)
        let error = await serviceError { _ = try await client.http.get("/").decoding(at: "a").value(String.self) }
        #expect(error?.kind == .emptyBody)
    }

    @Test func `A body that comes with 205 is left`() async throws {
        #expect(try await Store.stubbed(.json(tea, status: 205)).client.http.get("/").value(StoreItem?.self) == nil)
    }

    @Test(arguments: [200, 204, 205, 304]) func `Status and body together decide what each type gets`(status: Int) async throws {
        let client = Store.stubbed(.json(tea, status: status)).client
        func get() -> ServiceCall { client.http.get("/").accepting(.any) }
        // A status without content gives nil to optional types; other types receive a body that was sent anyway, except with a 304.
        let isLeft = status != 200
        #expect(try await get().value(StoreItem?.self) == (isLeft ? nil : StoreItem(id: 1, name: "tea")))
        #expect(try await get().value(Data?.self) == (isLeft ? nil : Data(tea.utf8)))
        #expect(try await get().value(String?.self) == (isLeft ? nil : tea))
        #expect(try await get().value(NoContent.self) == NoContent())
        #expect(try await get().value(Data.self) == (status == 304 ? Data() : Data(tea.utf8)))
        #expect(try await get().value(String.self) == (status == 304 ? "" : tea))
        let error = await serviceError { _ = try await get().value(StoreItem.self) }
        #expect(error?.kind == (status == 304 ? .emptyBody : nil))
    }

    @Test func `A root is read inside the payload`() async throws {
        let client = Store.stubbed(.json(#"{"found":{"items":[{"id":1,"name":"a"},{"id":2,"name":"b"}]}}"#)).client
        #expect(try await client.search(text: "x", page: nil).map(\.id) == [1, 2])
        #expect(try await client.http.get("/").decoding(at: "found.items.1.name").value(String.self) == "b")
        let error = await serviceError { _ = try await client.http.get("/").decoding(at: "found.none").value(StoreItem.self) }
        #expect(error?.stage == .decoding)
    }

    @Test func `A raw endpoint gives bytes and text only`() async throws {
        let client = Store.stubbed(.json(tea)).client
        #expect(try await client.http.get("/").raw().value(String.self) == tea)
        let error = try #require(await serviceError { _ = try await client.http.get("/").raw().value(StoreItem.self) })
        #expect(error.kind == .format && error.message.contains(".raw()"))
    }

    @Test(arguments: ["application/vnd.api+json", "application/json; charset=utf-8", "text/plain", "text/json"])
    func `JSON is read under many names, by the client's own serializer`(type: String) async throws {
        let client = Store.stubbed(.data(Data(#"{"item_id":7}"#.utf8), type: type)).client
        client.configure { $0.serializer = JSONSerializer(keys: .snakeCase) }
        struct Reply: Decodable, Sendable { var itemId: Int }
        #expect(try await client.http.get("/").value(Reply.self).itemId == 7)
    }

    @Test func `The client's serializer reads the JSON that answers a form`() async throws {
        struct Reply: Decodable, Sendable { var itemId: Int }
        final class Forms: WebServiceClient, @unchecked Sendable {
            override class var defaults: EndpointDefaults { EndpointDefaults(serializer: FormSerializer()) }
        }
        let stub = StubTransport()
        stub.fallback(.json(#"{"item_id":7}"#))
        let client = Forms(serviceRoot: "https://api.test") {
            ($0.transport, $0.serializer) = (stub, JSONSerializer(keys: .snakeCase))
        }
        #expect(try await client.http.post("/").body(["a": "b"]).value(Reply.self).itemId == 7)
        let form = client.http.post("/").body(["a": "b"]).describing { $0.serializer(FormSerializer(charset: .isoLatin1)) }
        #expect(try await form.value(Reply.self).itemId == 7)
        final class Posts: WebServiceClient, @unchecked Sendable {
            override class var defaults: EndpointDefaults {
                var defaults = EndpointDefaults(serializer: JSONSerializer(keys: .snakeCase))
                defaults.perMethod[.post] = EndpointDefaults(serializer: FormSerializer())
                return defaults
            }
        }
        let posts = Posts(serviceRoot: "https://api.test") { $0.transport = stub }
        #expect(try await posts.http.post("/").body(["a": "b"]).value(Reply.self).itemId == 7)
        let own = client.http.post("/").body(["a": "b"]).describing { $0.serializer(JSONSerializer()) }
        #expect(await serviceError { _ = try await own.value(Reply.self) }?.kind == .decoding)
    }

    @Test func `A parser of one's own and a forced one win`() async throws {
        let client = Store.stubbed(.data(Data(tea.utf8), type: "application/weird")).client
        #expect(await serviceError { _ = try await client.http.get("/").value(StoreItem.self) }?.kind == .format)
        let forced = try await client.http.get("/").describing { $0.decoding(with: JSONSerializer()) }.value(StoreItem.self)
        client.configure { $0.parsers.register(JSONSerializer(), for: "application/weird") }
        #expect(try await client.http.get("/").value(StoreItem.self) == forced)
        client.configure { $0.parsers.register(JSONSerializer(), for: "no type") }
        #expect(client.verify().map(\.kind) == [.badParser])
    }

    @Test func `HTML where JSON is expected is told as such`() async throws {
        for type in ["text/html", "application/json"] {
            let page = Data("<!DOCTYPE html><html><head><title>Sign in</title></head></html>".utf8)
            let error = try #require(await serviceError { _ = try await Store.stubbed(.data(page, type: type)).client.item(id: 1) })
            #expect(error.kind == .format && error.stage == .decoding && error.message.contains("Sign in"))
        }
    }

    @Test func `A decoding error names the place`() async throws {
        let error = try #require(await serviceError { _ = try await Store.stubbed(.json(#"[{"id":1}]"#)).client.items(page: nil) })
        #expect(error.kind == .decoding && error.message.contains("\"name\" is missing at [0]") && error.cause is DecodingError)
        #expect(!error.description.contains("cause:"))
    }

    @Test(arguments: [#"[{"id":"x","name":"n"}]"#, #"[{"id":null,"name":"n"}]"#, #"[{"id":1.5,"name":"n"}]"#, "{}"])
    func `What is needed is said once`(body: String) async throws {
        let error = try #require(await serviceError { _ = try await Store.stubbed(.json(body)).client.items(page: nil) })
        #expect(error.message.components(separatedBy: " needed").count == 2 || error.message.contains("1.5"), "\(error.message)")
        #expect(!error.message.contains(".:") && !error.message.contains(". at"), "\(error.message)")
        if body != "{}" { #expect(error.message.contains("[0].id"), "\(error.message)") }
    }

    // MARK: Statuses

    private final class Picky: WebServiceClient, @unchecked Sendable {
        override class var defaults: EndpointDefaults { EndpointDefaults(statuses: [202]) }
        override class var endpoints: EndpointTable {
            ["plain()": .get("/"), "own()": .get("/").accepting([203]), "more()": .get("/").alsoAccepting(.notFound)]
        }
    }

    @Test func `Statuses of method, class and client`() async throws {
        func accepted(_ client: WebServiceClient, _ key: String) async throws -> [Int] {
            var accepted: [Int] = []
            for status in [201, 202, 203, 404] {
                client.configure { $0.transport = StubTransport.answering(.status(status)) }
                let call = DynamicCall(client: client, name: key)
                if await serviceError({ try await call() as Void }) == nil { accepted.append(status) }
            }
            return accepted
        }
        let picky = Picky(serviceRoot: "https://api.test") { $0.statuses = [201] }
        #expect(try await accepted(picky, "plain") == [202])
        #expect(try await accepted(picky, "own") == [203])
        #expect(try await accepted(picky, "more") == [202, 404])
    }

    @Test(arguments: [
        (401, "credentials"), (404, "/items/%%id%%"), (405, "GET"), (414, "too long"), (302, "not followed"), (500, "200…299"),
    ])
    func `A refused status says what to look at`(status: Int, hint: String) async throws {
        let error = try #require(await serviceError { _ = try await Store.stubbed(.text("why", status: status)).client.item(id: 1) })
        #expect(error.kind == .status && error.stage == .status && error.status == status && error.message.contains(hint))
        #expect(error.response?.body == Data("why".utf8))
    }

    @Test(arguments: [
        (401, #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-512"#, "credentials; the server accepts Digest (SHA-512, auth)."),
        (401, #"Digest realm="r", nonce="n", qop="auth-conf""#, "credentials; the server accepts Digest (auth-conf)."),
        (401, #"Negotiate, Basic realm="x, y", Bearer error="invalid_token""#, "credentials; the server accepts Negotiate, Basic, Bearer."),
        (401, "", "Check the credentials."), (401, "=,=", "Check the credentials."),
        (407, #"Basic realm="p""#, "proxy's credentials; the server accepts Basic."),
    ])
    func `A 401 and a 407 name the schemes that the server accepts`(status: Int, challenge: String, hint: String) async throws {
        let field = status == 401 ? "WWW-Authenticate" : "Proxy-Authenticate"
        let client = Store.stubbed(.status(status, headers: HTTPFields([.init(name: HTTPFields.Name(field), value: challenge)]))).client
        let error = try #require(await serviceError { _ = try await client.item(id: 1) })
        #expect(error.message.hasSuffix(hint), "\(error.message)")
    }

    @Test(arguments: [(413, "body"), (414, "URL"), (431, "headers")])
    func `What is too long for the server is named as the call has it`(status: Int, part: String) async throws {
        let client = Store.stubbed(.status(status)).client
        let declared = try #require(await serviceError { _ = try await client.item(id: 1) })
        #expect(declared.message.contains("argument of item(id:)") && declared.message.contains(part), "\(declared.message)")
        // Without arguments, the error doesn't blame one.
        for error in [
            await serviceError { _ = try await client.count }, await serviceError { try await client.http.post("/x").body("y").send() },
            await serviceError { try await client.http.request(link: #require(URL(string: "https://api.test/x"))).send() },
        ] {
            let message = try #require(error?.message)
            #expect(!message.contains("call(") && !message.contains("argument") && message.contains(part), "\(message)")
        }
    }

    @Test func `A body over the bound is an error`() async throws {
        for answer in [StubAnswer.text("123456"), .pieces([Data("123".utf8), Data("456".utf8)])] {
            let (client, _) = Store.stubbed(answer) { $0.bodyLimit = 5 }
            let error = await serviceError { _ = try await client.http.get("/").value(String.self) }
            #expect(error?.kind == .bodyTooLarge && error?.stage == .body)
            #expect(error?.response?.body == Data("12345".utf8) && error?.response?.bodyIsCut == true)
            #expect(try await client.http.get("/").describing { $0.bodyLimit(6) }.value(String.self) == "123456")
        }
    }

    @Test func `A body that breaks off leaves what had come`() async throws {
        let lost = TransportError(.truncated, "gone")
        let (client, _) = Store.stubbed(.pieces([Data("12".utf8), Data("34".utf8)], failing: lost))
        let error = await serviceError { _ = try await client.http.get("/").value(String.self) }
        #expect(error?.kind == .transport && error?.stage == .body && error?.status == 200)
        #expect(error?.response?.body == Data("1234".utf8) && error?.response?.bodyIsCut == true)
    }

    @Test func `An error behind an answer has that answer, and the request as it was sent`() async throws {
        let processor = ResponseProcessor { _ in throw Refusal() }
        let (client, _) = Store.stubbed(.json(tea, status: 203)) {
            $0.interceptors = [processor, RequestPreparer { $0.headers["X-Prepared"] = "yes" }]
        }
        let error = try #require(await serviceError { _ = try await client.item(id: 1) })
        #expect(error.kind == .interceptor && error.status == 203 && error.response?.headers["Content-Type"] == "application/json")
        #expect(error.request?.headers["X-Prepared"] == "<masked>")

        let (lost, _) = Store.stubbed(.failure(TransportError(.connectionLost, "gone")))
        #expect(await serviceError { _ = try await lost.item(id: 1) }?.response == nil)
    }

    @Test func `An error behind a redirect names where it led`() async throws {
        let stub = StubTransport()
        stub.fallback(
            StubAnswer { exchange in
                let url = exchange.request.url
                guard url.path() == "/v1/items/1" else { return TransportResponse(status: 500, url: url) }
                return TransportResponse(status: 302, headers: ["Location": "/moved"], url: url)
            })
        let client = Store(serviceRoot: "https://api.test/v1") { $0.transport = stub }
        let error = try #require(await serviceError { _ = try await client.item(id: 1) })
        #expect(error.status == 500 && error.request?.url == "https://api.test/moved")
        client.configure { $0.redirects = RedirectPolicy(.stop) }
        let stopped = try #require(await serviceError { _ = try await client.item(id: 1) })
        #expect(stopped.status == 302 && stopped.request?.url == "https://api.test/v1/items/1")
    }

    // MARK: Streams

    @Test func `A stream gives the pieces`() async throws {
        let client = Store.stubbed(.pieces([Data("a".utf8), Data("b".utf8)])).client
        var pieces: [Data] = []
        for try await piece in try await client.http.get("/").stream().value { pieces.append(piece) }
        #expect(pieces == [Data("a".utf8), Data("b".utf8)])
    }

    private final class Files: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable { ["file(name:)": .get("/files/%%0%%")] }
        func file(name: String) async throws -> ServiceResponse<ResponseBody> { try await stream(name) }
    }

    @Test func `Declared calls stream by a method and without one`() async throws {
        let pieces = [Data("a".utf8), Data("b".utf8)]
        let client = Files(serviceRoot: "https://api.test") { $0.transport = StubTransport.answering(.pieces(pieces)) }
        #expect(try await client.file(name: "x").value.collect(upTo: 10) == Data("ab".utf8))
        let dynamic: ServiceResponse<ResponseBody> = try await client.dynamic.file(name: "x")
        #expect(dynamic.status == 200 && dynamic.url.path() == "/files/x")
        #expect(try await dynamic.value.collect(upTo: 10) == Data("ab".utf8))
    }

    @Test func `A stream that breaks off says of which call it was`() async throws {
        let answer = StubAnswer.pieces([Data("a".utf8)], failing: TransportError(.truncated, "The connection broke."))
        let client = Files(serviceRoot: "https://api.test") { $0.transport = StubTransport.answering(answer) }
        let body = try await client.file(name: "x").value
        let error = try #require(await serviceError { for try await _ in body {} })
        #expect(error.kind == .transport && error.stage == .body && error.call.key == "file(name:)")
        #expect(error.request?.url == "https://api.test/files/x" && error.status == 200)
        #expect((error.cause as? TransportError)?.code == .truncated)
        let folder = FileManager.default.temporaryDirectory
        let other = try await client.http.get("/y").stream().value
        #expect(await serviceError { try await other.write(to: folder.appending(path: "never-\(UUID())")) }?.kind == .transport)
    }

    @Test func `A failed stream has the beginning of its body, an accepted one all of it`() async throws {
        let pieces = (0..<5).map { Data(repeating: UInt8(65 + $0), count: 30_000) }
        let (client, _) = Store.stubbed(.pieces(pieces, status: 500))
        let error = try #require(await serviceError { _ = try await client.http.get("/").stream() })
        #expect(error.kind == .status && error.response?.body.count == ResponseSummary.bodyLimit)
        client.configure { $0.errorHandler = Verdict(.accept) }
        let accepted = try await client.http.get("/").stream().value.collect(upTo: 1_000_000)
        #expect(accepted == pieces.reduce(Data(), +))
    }

    // MARK: Error handlers

    @Test func `An error handler accepts, refuses or leaves it`() async throws {
        let (client, _) = Store.stubbed(.json(tea, status: 500)) { $0.errorHandler = Verdict(.accept) }
        #expect(try await client.item(id: 1).id == 1)
        client.configure { $0.errorHandler = Verdict(.fail(Refusal(reason: "no"))) }
        let refused = try #require(await serviceError { _ = try await client.item(id: 1) })
        #expect(refused.kind == .refused && refused.cause as? Refusal == Refusal(reason: "no") && refused.status == 500)
        client.configure { $0.errorHandler = Verdict(.default) }
        #expect(await serviceError { _ = try await client.item(id: 1) }?.kind == .status)
    }

    @Test func `An error handler may refuse a success, the method's wins`() async throws {
        let (client, _) = Store.stubbed(.json(tea)) { $0.errorHandler = Verdict(.fail(Refusal())) }
        #expect(await serviceError { _ = try await client.item(id: 1) }?.kind == .refused)
        #expect(await serviceError { _ = try await client.http.get("/").stream() }?.kind == .refused)
        #expect(try await client.http.get("/").describing { $0.errorHandler(Verdict(.default)) }.value(StoreItem.self).id == 1)
    }

    @Test func `An error handler sees transport errors`() async throws {
        let lost = TransportError(.connectionLost, "gone")
        let (client, _) = Store.stubbed(.failure(lost)) { $0.errorHandler = Verdict(.accept) }
        #expect(try await client.http.get("/").value(StoreItem?.self) == nil)
        #expect(await serviceError { _ = try await client.item(id: 1) }?.kind == .emptyBody)
        client.configure { $0.errorHandler = Verdict(.fail(Refusal())) }
        #expect(await serviceError { _ = try await client.item(id: 1) }?.cause as? Refusal == Refusal())
        client.configure { $0.errorHandler = Verdict(.default) }
        let error = try #require(await serviceError { _ = try await client.item(id: 1) })
        #expect(error.kind == .transport && error.stage == .transport && (error.cause as? TransportError)?.code == .connectionLost)
    }

    @Test func `An error handler sees a body that breaks off`() async throws {
        let (client, _) = Store.stubbed(.pieces([Data("{".utf8)], failing: TransportError(.truncated, "short")))
        #expect(await serviceError { _ = try await client.item(id: 1) }?.stage == .body)
        client.configure { $0.errorHandler = Verdict(.fail(Refusal())) }
        #expect(await serviceError { _ = try await client.item(id: 1) }?.cause as? Refusal == Refusal())
    }

    @Test func `A decoded error body reaches the caller`() async throws {
        let (client, _) = Store.stubbed(.json(#"{"error":{"id":9,"name":"gone"}}"#, status: 410)) {
            $0.errorHandler = .decoding(StoreItem.self, at: "error")
        }
        let error = try #require(await serviceError { _ = try await client.item(id: 1) })
        #expect(error.errorBody as? StoreItem == StoreItem(id: 9, name: "gone") && error.status == 410)
    }
}

/// An error handler that always returns the same verdict.
struct Verdict: ErrorHandler {
    let verdict: ErrorVerdict

    init(_ verdict: ErrorVerdict) { self.verdict = verdict }

    func verdict(on outcome: CallOutcome) -> ErrorVerdict { verdict }
}

extension StubTransport {
    /// Returns a stub with the same answer for every request.
    static func answering(_ answer: StubAnswer) -> StubTransport {
        let stub = StubTransport()
        stub.fallback(answer)
        return stub
    }
}

extension Store {
    func ping0() async throws { try await call(function: "ping()") }
}

import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@Suite struct ExpectationsTests {
    private let recorded: RecordedRequest

    init() throws {
        recorded = RecordedRequest(
            try request(
                .post, "https://api.example/a%20b/c?x=1&x=%262&token=hush&flag",
                headers: ["Accept": "text/plain", "Authorization": "Bearer hush", "X-Two": "1"]),
            body: Data(#"{"name": "Ada", "tags": ["a", {"n": 1.50}], "password": "hush", "ok": true}"#.utf8))
    }

    /// Returns the sentence of an expectation that must fail. It must never contain the secret.
    private func sentence(_ expectation: () throws(TestingFailure) -> Void) -> String {
        do {
            try expectation()
            return "it held"
        } catch {
            #expect(!error.description.contains("hush"))
            return error.description
        }
    }

    @Test func correctExpectationsPass() throws {
        try recorded.expectMethod(.post)
        try recorded.expectURL("https://api.example/a%20b/c?x=1&x=%262&token=hush&flag")
        try recorded.expectPath("/a%20b/c")
        try recorded.expectQuery("x", "1", "&2")
        try recorded.expectQuery("flag", nil)
        try recorded.expectQuery("absent")
        try recorded.expectHeader("accept", "text/plain")
        try recorded.expectHeader("Authorization")
        try recorded.expectNoHeader("Cookie")
        try recorded.expectBody(json: #"{"ok":true,"password":"hush","tags":["a",{"n":1.5}],"name":"Ada"}"#)
        try recorded.expectBody(recorded.body ?? Data())
        try recorded.expectBody(String(decoding: recorded.body ?? Data(), as: UTF8.self))
    }

    @Test func failuresShowBothSides() {
        #expect(sentence { () throws(TestingFailure) in try recorded.expectMethod(.put) }.hasSuffix("expected the method PUT, found POST"))
        #expect(
            sentence { () throws(TestingFailure) in try recorded.expectURL("https://api.example/?token=other") }
                .hasSuffix(
                    "expected the URL https://api.example/?token=<masked>, found https://api.example/a%20b/c?x=1&x=%262&token=<masked>&flag"
                ))
        #expect(sentence { () throws(TestingFailure) in try recorded.expectPath("/") }.hasSuffix("expected the path /, found /a%20b/c"))
        #expect(
            sentence { () throws(TestingFailure) in try recorded.expectQuery("x", "2") }
                .hasSuffix("expected the query item “x” with “2”, found “1”, “&2”"))
        #expect(sentence { () throws(TestingFailure) in try recorded.expectQuery("token", "a") }.hasSuffix("with <masked>, found <masked>"))
        #expect(
            sentence { () throws(TestingFailure) in try recorded.expectHeader("X-Two", "2") }.hasSuffix("expected X-Two: 2, found X-Two: 1")
        )
        #expect(
            sentence { () throws(TestingFailure) in try recorded.expectHeader("Authorization", "Bearer x") }
                .hasSuffix("expected Authorization: Bearer <masked>, found Authorization: Bearer <masked>"))
        #expect(
            sentence { () throws(TestingFailure) in try recorded.expectHeader("Missing", "1") }
                .hasSuffix("found no such field among: Accept, Authorization, X-Two"))
        #expect(
            sentence { () throws(TestingFailure) in try recorded.expectHeader("Missing") }.hasSuffix(
                "expected a field Missing, found Accept, Authorization, X-Two"))
        #expect(
            sentence { () throws(TestingFailure) in try recorded.expectNoHeader("Accept") }.hasSuffix(
                "expected no field Accept, found Accept: text/plain"))
        #expect(sentence { () throws(TestingFailure) in try recorded.expectBody(Data("{\"x".utf8)) }.hasSuffix("different from byte 2 on"))
        #expect(sentence { () throws(TestingFailure) in try recorded.expectBody("abc") }.contains("expected the body “abc”, found “{"))
    }

    @Test(arguments: [
        (#"{"name":"Ada","ok":true,"password":"hush","tags":["a",{"n":2}]}"#, "expected 2 at tags[1].n, found 1.5"),
        (#"{"name":"Ada","ok":true,"password":"hush","tags":["a"]}"#, "expected 1 elements at tags, found 2"),
        (#"{"name":"Eve","ok":true,"password":"hush","tags":["a",{"n":1.5}]}"#, "expected “Eve” at name, found “Ada”"),
        (#"{"name":"Ada","ok":1,"password":"hush","tags":["a",{"n":1.5}]}"#, "expected 1 at ok, found true"),
        (
            #"{"name":"Ada","ok":true,"password":"no","tags":["a",{"n":1.5}]}"#,
            "expected <masked> at password, found <masked>, which differs or is missing"
        ),
        (#"{"name":"Ada","ok":true,"password":"hush"}"#, "expected nothing at tags, found a list of 2"),
        (#"{"name":"Ada","ok":true,"password":"hush","tags":["a",{"n":1.5}],"x":null}"#, "expected null at x, found nothing"),
        (#"[]"#, "expected a list of 0 at the root, found an object with name, ok, password, tags"),
    ])
    func aDifferenceInJSONIsNamedByItsPlace(json: String, expected: String) {
        #expect(sentence { () throws(TestingFailure) in try recorded.expectBody(json: json) }.hasSuffix(expected))
    }

    @Test func invalidJSONIsReported() {
        #expect(sentence { () throws(TestingFailure) in try recorded.expectBody(json: "{") } == "The expected text isn't JSON: {")
        var other = recorded
        other = RecordedRequest(other.request, body: Data("user=ada&password=hush".utf8))
        #expect(
            sentence { () throws(TestingFailure) in try other.expectBody(json: "{}") }.hasSuffix(
                "expected JSON, found “user=ada&password=<masked>”"))
    }

    @Test func aServersRequestsAreExaminedAlike() async throws {
        let server = try LoopbackServer { $0.fallback { _ in .status(204) } }
        let client = try RawClient(port: server.port)
        try await client.send("PUT /a?b=1 HTTP/1.1\r\nX-One: 1\r\nX-One: 2\r\nContent-Length: 8\r\n\r\n{\"a\": 1}")
        _ = try await client.readResponse()
        let request = try #require(server.requests.first)
        try request.expectMethod(.put)
        try request.expectURL("/a?b=1")
        try request.expectQuery("b", "1")
        try request.expectHeader("X-One", "1, 2")
        try request.expectBody(json: #"{"a":1}"#)
    }

    @Test func callsOfAStubAreExpected() async throws {
        let stub = StubTransport()
        stub.fallback(.status(204))
        #expect(
            sentence { () throws(TestingFailure) in try stub.expect("user(id:)", calledTimes: 1) }.hasSuffix("found 0; calls so far: none"))
        _ = try await stub.send(request())
        _ = try await stub.send(request(.delete, key: "remove(id:)"))
        try stub.expect("user(id:)", calledTimes: 1)
        try stub.expectCalls("user(id:)", "remove(id:)")
        #expect(
            sentence { () throws(TestingFailure) in try stub.expect("user(id:)", calledTimes: 2) }
                .hasSuffix(
                    "found 1; calls so far:\n  user(id:): GET https://api.example/users/1\n  remove(id:): DELETE https://api.example/users/1"
                ))
        #expect(sentence { () throws(TestingFailure) in try stub.expectCalls("user(id:)") }.hasSuffix("found user(id:), remove(id:)"))
    }
}

import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

private struct GitHubError: Decodable, Sendable, Equatable {
    var message: String
}

private struct Code: Decodable, Sendable, Equatable {
    var code: Int
}

@Suite struct ErrorBodyTests {
    private func problem(_ json: String, status: Int = 403, type: String = "application/problem+json") -> StubAnswer {
        .data(Data(json.utf8), type: type, status: status)
    }

    private func error(
        _ answer: StubAnswer, configure: (inout WebServiceClient.Configuration) -> Void = { _ in }
    ) async throws -> ServiceError {
        let (client, _) = Store.stubbed(answer, configure: configure)
        return try #require(await serviceError { _ = try await client.item(id: 1) })
    }

    // The example of RFC 9457 §3.
    private static let credit = """
        {"type": "https://example.com/probs/out-of-credit", "title": "You do not have enough credit.",
         "detail": "Your current balance is 30, but that costs 50.", "instance": "/account/12345/msgs/abc", "status": 403,
         "balance": 30, "accounts": ["/account/12345", "/account/67890"]}
        """

    @Test func `A body is decoded on demand`() async throws {
        let error = try await error(.json(#"{"message": "Validation Failed", "inner": {"code": 7}}"#, status: 422))
        #expect(error.kind == .status && error.body(as: GitHubError.self) == GitHubError(message: "Validation Failed"))
        #expect(error.body(as: Code.self, at: "inner") == Code(code: 7) && error.body(as: Code.self) == nil)
        #expect(error.body(as: String.self)?.contains("Validation") == true && error.problem == nil)
        // The client's own serializer reads it.
        let snake = try await self.error(.json(#"{"error_code": 7}"#, status: 422)) { $0.serializer = JSONSerializer(keys: .snakeCase) }
        struct Snake: Decodable { var errorCode: Int }
        #expect(snake.body(as: Snake.self)?.errorCode == 7)
        #expect(try await self.error(.status(500)).body(as: Code.self) == nil)
        #expect(try await self.error(.failure(TransportError(.cannotConnect, "no"))).body(as: Code.self) == nil)
    }

    @Test func `A handler's value is returned, and its message leads the headline`() async throws {
        let error = try await error(.json(#"{"message": "Validation Failed"}"#, status: 422)) {
            $0.errorHandler = .decoding(GitHubError.self)
        }
        #expect(error.body(as: GitHubError.self) == GitHubError(message: "Validation Failed"))
        #expect(error.headline.hasPrefix("Store.item(id:): Validation Failed (status 422)"), "\(error)")
        let silent = try await self.error(.json(#"{"code": 7}"#, status: 422)) { $0.errorHandler = .decoding(Code.self) }
        #expect(silent.headline.hasPrefix(#"Store.item(id:): {"code": 7} (status 422)"#), "\(silent)")
        let secret = try await self.error(.json(#"{"message": "wrong access_token=s3cret"}"#, status: 422)) {
            $0.errorHandler = .decoding(GitHubError.self)
        }
        #expect(!secret.description.contains("s3cret"))
    }

    @Test func `Problem details are read and lead the headline`() async throws {
        let error = try await error(problem(Self.credit))
        let found = try #require(error.problem)
        #expect(
            found.type == "https://example.com/probs/out-of-credit" && found.status == 403 && found.instance == "/account/12345/msgs/abc")
        #expect(found.member("balance", as: Int.self) == 30 && found.member("balance", as: [String].self) == nil)
        #expect(found.member("accounts") == ["/account/12345", "/account/67890"] && found.member("none", as: Int.self) == nil)
        #expect(error.kind == .status)
        #expect(
            error.headline.hasPrefix(
                "Store.item(id:): You do not have enough credit.: Your current balance is 30, but that costs 50. (status 403)"),
            "\(error.headline)")
        // The names are the RFC's, whatever the client's key strategy.
        let snake = try await self.error(problem(Self.credit)) { $0.serializer = JSONSerializer(keys: .snakeCase) }
        #expect(snake.problem?.title == "You do not have enough credit.")
    }

    @Test func `Members of the wrong type are ignored`() async throws {
        let error = try await error(problem(#"{"type": 7, "title": ["a"], "status": "403", "detail": "why", "instance": null}"#))
        let found = try #require(error.problem)
        #expect(found.type == "about:blank" && found.title == nil && found.status == nil && found.detail == "why" && found.instance == nil)
        for bad in ["", "[]", "{", "1", "<p>"] { #expect(try await self.error(problem(bad)).problem == nil, "\(bad)") }
        #expect(try await self.error(problem("{}")).message.hasPrefix("The status 403"))
        #expect(try await self.error(problem(Self.credit, type: "application/problem+xml")).problem == nil)
    }

    // The example of RFC 9457 appendix B.
    private static let creditXML = """
        <?xml version="1.0" encoding="UTF-8"?>
        <problem xmlns="urn:ietf:rfc:7807">
          <type>https://example.com/probs/out-of-credit</type>
          <title>You do not have enough credit.</title>
          <detail>Your current balance is 30, but that costs 50.</detail>
          <instance>https://example.net/account/12345/msgs/abc</instance>
          <balance>30</balance>
          <accounts><i>https://example.net/account/12345</i><i>https://example.net/account/67890</i></accounts>
        </problem>
        """

    @Test func `Problem details are read from XML`() async throws {
        let type = "application/problem+xml; charset=utf-8"
        // The client's own rules for XML make no difference.
        var rules = XMLRules()
        (rules.rootName, rules.keys) = ("order", .capitalized)
        let own = XMLSerializer(rules)
        for serializer in [JSONSerializer(), own] as [any SerializationDelegate] {
            let error = try await error(problem(Self.creditXML, type: type)) { $0.serializer = serializer }
            let found = try #require(error.problem)
            #expect(found.type == "https://example.com/probs/out-of-credit" && found.status == nil)
            #expect(found.instance == "https://example.net/account/12345/msgs/abc")
            #expect(found.member("balance", as: Int.self) == 30 && found.member("accounts", as: Int.self) == nil)
            #expect(found.member("accounts") == ["https://example.net/account/12345", "https://example.net/account/67890"])
            #expect(found.member("none", as: Int.self) == nil && found.member("none", as: [Int].self) == nil)
            #expect(error.headline.contains("You do not have enough credit.: Your current balance is 30"), "\(error.headline)")
        }
        #expect(try ProblemDetails(xml: Data("<problem><title>a</title><status>403</status></problem>".utf8)).status == 403)
        for bad in ["", "<problem>", "<error/>", "<problem xmlns='urn:x'/>", "<!DOCTYPE problem><problem/>", "{}"] {
            #expect(try await error(problem(bad, type: type)).problem == nil, "\(bad)")
        }
        let wrong = "<problem><title><b/></title><status>x</status><detail>why</detail></problem>"
        let ignored = try await error(problem(wrong, type: type)).problem
        #expect(ignored?.title == nil && ignored?.status == nil && ignored?.detail == "why" && ignored?.type == "about:blank")
    }

    @Test func `Other JSON is read as an option, and nothing with .off`() async throws {
        let plain = problem(#"{"title": "Bad", "access_token": "s3cret"}"#, type: "application/json")
        #expect(try await error(plain).problem == nil)
        let read = try await error(plain) { $0.attributes[ProblemReading.self] = .anyJSON }
        #expect(read.problem?.title == "Bad" && read.message.hasPrefix("Bad (status 403)") && !read.description.contains("s3cret"))
        let other = problem(#"{"code": 7}"#, type: "application/json")
        #expect(try await error(other) { $0.attributes[ProblemReading.self] = .anyJSON }.problem == nil)
        #expect(try await error(problem(Self.credit)) { $0.attributes[ProblemReading.self] = .off }.problem == nil)
        let (client, _) = Store.stubbed(plain)
        let own = try #require(
            await serviceError { try await client.http.get("/x").describing { $0.attribute(ProblemReading.anyJSON) }.send() })
        #expect(own.problem?.title == "Bad")
    }

    @Test func `Entity tags and conditions`() async throws {
        let (client, stub) = Store.stubbed(.json("{}", status: 412, headers: ["ETag": "W/\"8\""]))
        let error = try #require(await serviceError { try await client.http.put("/x").ifMatch("\"7\"").ifNoneMatch(nil).send() })
        #expect(error.entityTag == "W/\"8\"" && error.message.contains("doesn't hold"))
        #expect(stub.requests[0].request.headers["If-Match"] == "\"7\"" && stub.requests[0].request.headers["If-None-Match"] == nil)
        stub.fallback(.json("{}", headers: ["ETag": "\"9\""]))
        #expect(try await client.http.get("/x").ifNoneMatch("*").send().entityTag == "\"9\"")
    }
}

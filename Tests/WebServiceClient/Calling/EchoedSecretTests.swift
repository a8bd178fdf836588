import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

/// A service that repeats the credentials of a request in its answer, as many do that refuse a key.
@Suite struct EchoedSecretTests {
    private static let secret = "zq81-opaque~77/x"

    /// Answers with the secret in several encodings, in fields and in the body.
    private struct Echo: Transport {
        let capabilities = TransportCapabilities(rawValue: .max)
        var status = 403
        var sent = Locked<[ServiceRequest]>([])

        func send(_ request: ServiceRequest) async throws -> TransportResponse {
            sent.withLock { $0.append(request) }
            let secret = EchoedSecretTests.secret
            let basic = Data("ada:\(secret)".utf8).base64EncodedString()
            let body = #"{"error":"The key \#(secret) isn't known", "form":"\#(URLEncoding.formField(secret))", "login":"\#(basic)"}"#
            return TransportResponse(
                status: status, headers: ["Content-Type": "application/json", "Location": "https://x.test/\(secret)"], url: request.url,
                body: ResponseBody(Data(body.utf8)))
        }
    }

    struct Place: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let configure: @Sendable (inout WebServiceClient.Configuration) -> Void

        init(_ name: String, _ configure: @escaping @Sendable (inout WebServiceClient.Configuration) -> Void) {
            testDescription = name
            self.configure = configure
        }
    }

    static let places = [
        Place("bearer token") { $0.authenticationProvider = BearerTokenProvider(token: secret) },
        Place("key in a header") { $0.authenticationProvider = APIKeyProvider(header: "X-Key", key: secret) },
        Place("key in the query") { $0.authenticationProvider = APIKeyProvider(query: "k", key: secret) },
        Place("key in a cookie") { $0.authenticationProvider = APIKeyProvider(cookie: "k", key: secret) },
        Place("password") { $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: secret) },
        Place("Authorization of the client") { $0.headers = ["Authorization": "Bearer \(secret)"] },
        Place("Authorization without a scheme") { $0.headers = ["Authorization": secret] },
        Place("key header of the client") { $0.headers = ["X-Api-Key": secret] },
        Place("field marked secret") {
            $0.headers = ["X-Odd": secret]
            $0.headerRules = HeaderRules(secret: ["X-Odd"])
        },
        Place("preparer") { $0.interceptors = [RequestPreparer { $0.headers["X-Auth-Token"] = secret }] },
        Place("cookie of the jar") {
            let jar = CookieJar()
            if let url = URL(string: "https://api.test/") { jar.store(["Set-Cookie": "session=\(secret)"], from: url) }
            $0.cookies = jar
        },
    ]

    private func client(_ place: Place, _ echo: Echo) -> WebServiceClient {
        WebServiceClient(serviceRoot: "https://api.test") {
            $0.transport = echo
            place.configure(&$0)
        }
    }

    private func expectMasked(_ text: String, _ place: Place) {
        #expect(!text.contains("zq81"), "\(place.testDescription): \(text)")
    }

    @Test(arguments: places) func `errors don't show it`(place: Place) async throws {
        let echo = Echo()
        let error = try #require(await serviceError { _ = try await client(place, echo).http.get("/x").value(String.self) })
        #expect(echo.sent.withLock { $0.count } == 1)
        for text in ["\(error)", String(reflecting: error), error.response?.bodyText(upTo: 500) ?? "", "\(error.response as Any)"] {
            expectMasked(text, place)
        }
        #expect(error.description.contains("The key <masked> isn't known"), "\(error)")
    }

    @Test(arguments: places) func `errors of values and of error handlers don't show it`(place: Place) async throws {
        struct Problem: Error, CustomStringConvertible {
            let description: String
        }
        struct Handler: ErrorHandler {
            func verdict(on outcome: CallOutcome) async -> ErrorVerdict {
                .fail(Problem(description: "The service says \(EchoedSecretTests.secret)"))
            }
        }
        let decoding = try #require(
            await serviceError { _ = try await client(place, Echo(status: 200)).http.get("/x").value([String: Int].self) })
        expectMasked("\(decoding) \(String(reflecting: decoding))", place)
        let refused = try #require(
            await serviceError {
                _ = try await client(place, Echo()).http.get("/x").describing { $0.errorHandler(Handler()) }.value(String.self)
            })
        expectMasked("\(refused.message)", place)
    }

    struct SecretCall: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (WebServiceClient) -> ServiceCall

        init(_ name: String, _ make: @escaping @Sendable (WebServiceClient) -> ServiceCall) {
            testDescription = name
            self.make = make
        }
    }

    static let calls = [
        SecretCall("query") { $0.http.get("/x?a=1&api_key=zq81-opaque~77%2Fx") },
        SecretCall("query item") { $0.http.get("/x").query("access_token", secret) },
        SecretCall("JSON") { $0.http.post("/x").body(["user": "ada", "password": secret]) },
        SecretCall("nested JSON") { $0.http.post("/x").body(["logins": [["user": "ada", "pin": secret]]]) },
        SecretCall("form") { $0.http.post("/x").describing { $0.serializer(FormSerializer()) }.body(["user": "ada", "db_pass": secret]) },
        SecretCall("text") { $0.http.post("/x").body(Data("token: \(secret)".utf8)) },
    ]

    @Test(arguments: calls) func `errors don't show the secrets of URLs and bodies that a service repeats`(call: SecretCall) async throws {
        let client = client(Place("call") { _ in }, Echo())
        let error = try #require(await serviceError { _ = try await call.make(client).value(String.self) })
        for text in ["\(error)", String(reflecting: error), error.response?.bodyText(upTo: 500) ?? "", error.request?.url ?? ""] {
            #expect(!text.contains("zq81"), "\(call.testDescription): \(text)")
        }
        #expect(error.description.contains("The key <masked> isn't known"), "\(error)")
    }

    @Test(arguments: [true, false]) func `a session's secrets aren't shown, also if calls share the exchange`(isShared: Bool) async throws {
        let place = Place("session") { _ in }
        let client = client(place, Echo())
        try client.session.update {
            $0.headers["X-Session"] = Self.secret
            $0.secretHeaders = ["X-Session"]
        }
        let error = try #require(
            await serviceError {
                _ = try await client.http.get("/x").describing { isShared ? $0.coalesced() : $0 }.value(String.self)
            })
        expectMasked("\(error) \(String(reflecting: error))", place)
    }

    @Test func `words of other texts aren't masked`() async throws {
        let client = WebServiceClient(serviceRoot: "https://api.test") {
            $0.transport = Echo()
            $0.headers = ["Cookie": "lang=known; theme=key", "X-Request-Id": "error", "Authorization": "Bearer key"]
        }
        let error = try #require(await serviceError { _ = try await client.http.get("/x").value(String.self) })
        #expect(error.description.contains("The key zq81-opaque~77/x isn't known"), "\(error)")
    }
}

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

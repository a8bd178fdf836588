import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// Credentials are sent only to the service's origin, by any kind of request.
@Suite struct OriginBoundaryTests {
    /// Credential header names of various services. Few of them contain a known secret word.
    static let names: [HTTPFields.Name] = [
        "Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key", "X-Tableau-Auth", "X-ClickHouse-Key", "X-ClickHouse-User",
        "X-Honeycomb-Team", "Fastly-Key", "X-Appwrite-Key", "X-Appwrite-Project", "DPoP", "X-Class-Key", "X-Master", "X-Shopify-Login",
        "X-Algolia-Application-Id", "apikey", "api_key", "X-Session", "X-Hub-Signature", "X-Amz-Security-Token", "X-Vault-Namespace",
        "DD-APPLICATION-KEY", "Circle-Ci", "X-Plex", "X-TrackerTok", "X-Parse-REST", "X-Auth-Email", "Ocp-Apim", "Referer", "Forwarded",
        "From", "X-Gitlab", "baggage", "tracestate", "X-User", "ticket", "X-Team",
    ]

    private static var fields: HTTPFields {
        HTTPFields(names.map { HTTPFields.Field(name: $0, value: "s3cret-\($0.canonicalName)") })
    }

    /// Fields that a server needs to understand the request.
    private static let harmless: HTTPFields = [
        "Accept": "text/csv", "Accept-Language": "da", "User-Agent": "Ours/1", "Range": "bytes=0-9", "If-None-Match": "\"1\"",
        "Prefer": "return=minimal",
    ]

    private static func url(_ text: String) -> URL { URL(string: text) ?? URL(filePath: "/") }

    private static let elsewhere = url("https://other.test/x")

    /// Origins other than `https://api.test`.
    static let others = [
        "https://other.test/x", "http://api.test/x", "https://api.test:8443/x", "https://api.test.evil.test/x", "https://www.api.test/x",
        "https://api.test@evil.test/x", "https://api.tes/x", "https://api-test.test/x", "https://[::1]/x", "https://127.0.0.1/x",
    ]

    private func secrets(_ stub: StubTransport) throws -> [String] {
        try #require(stub.requests.last?.request).headers.filter { $0.value.contains("s3cret") }.map(\.name.rawName)
    }

    /// Sets all fields on every request, as a former recipe for tokens did.
    private struct Setter: Interceptor {
        var target: URL?
        var afterwards = false

        func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
            var request = request
            if let target, !afterwards { request.url = target }
            request.headers.replace(with: OriginBoundaryTests.fields)
            if let target, afterwards { request.url = target }
            return try await next(request, context)
        }
    }

    @Test(arguments: others) func `what interceptors set doesn't go along with a call outside`(text: String) async throws {
        let messages = Locked<[String]>([])
        for interceptor in [RequestPreparer { $0.headers.replace(with: Self.fields) } as any Interceptor, Setter()] {
            let (client, stub) = Store.stubbed {
                $0.interceptors = [interceptor]
                $0.diagnostics = Diagnostics { event in messages.withLock { $0.append(event.message) } }
            }
            let call = client.http.request(outside: Self.url(text)).header("Accept-Language", "da").header("X-Own", "mine")
            try await call.prepare { $0.headers["X-Prepared"] = "mine" }.send()
            #expect(try secrets(stub) == [])
            let headers = try #require(stub.requests.last).request.headers
            #expect(headers["X-Own"] == "mine" && headers["X-Prepared"] == "mine" && headers["Accept-Language"] == "da")
        }
        // Every dropped field is reported, without its value.
        let said = messages.withLock { $0 }
        #expect(said.count == 2)
        for name in Self.names { #expect(said[0].contains(name.rawName)) }
        #expect(!said.joined().contains("s3cret"))
    }

    @Test func `the fields of the call outside itself stay, and an interceptor's values beside them don't`() async throws {
        let (client, stub) = Store.stubbed {
            $0.interceptors = [
                RequestPreparer {
                    $0.headers.append("X-Own", "s3cret")
                    $0.headers[.authorization] = "Bearer s3cret"
                }
            ]
        }
        try await client.http.request(outside: Self.elsewhere).header("X-Own", "mine").header(.cookie, "a=1").send()
        let headers = try #require(stub.requests.last).request.headers
        #expect(headers[values: "X-Own"] == ["mine"] && headers[.cookie] == "a=1" && headers[.authorization] == nil)
        try await client.http.request(outside: Self.elsewhere).header(.authorization, "Bearer mine").send()
        // The interceptor has replaced the call's credentials.
        #expect(stub.requests.last?.request.headers[.authorization] == nil)
        try await client.http.request(outside: Self.elsewhere).prepare { $0.headers[.authorization] = "Bearer mine" }.send()
        #expect(stub.requests.last?.request.headers[.authorization] == "Bearer mine")
    }

    @Test(arguments: others) func `a URL that an interceptor changes takes no credentials along`(text: String) async throws {
        let target = Self.url(text)
        let messages = Locked<[String]>([])
        let interceptors: [any Interceptor] = [
            Setter(target: target), Setter(target: target, afterwards: true),
            RequestPreparer {
                $0.headers[.authorization] = "Bearer s3cret"
                $0.url = target
            },
        ]
        for interceptor in interceptors {
            let (client, stub) = Store.stubbed {
                $0.headers = Self.fields
                $0.headers.replace(with: Self.harmless)
                $0.interceptors = [interceptor]
                $0.authenticationProvider = BearerTokenProvider(token: "s3cret")
                $0.diagnostics = Diagnostics { event in messages.withLock { $0.append(event.message) } }
            }
            try await client.http.request(.get, "/a").header("X-Method-Key", "s3cret").send()
            #expect(try secrets(stub) == [])
            let headers = try #require(stub.requests.last).request.headers
            for field in Self.harmless { #expect(headers[field.name] == field.value) }
        }
        #expect(messages.withLock { $0 }.allSatisfy { $0.contains("allowedOrigins") && $0.contains("Authorization") })
    }

    @Test(arguments: others) func `a URL that the call's own prepare or a URL builder changes takes none along`(text: String) async throws {
        struct Elsewhere: URLBuilder {
            let target: URL
            func url(from parts: URLParts) throws -> URL { target }
        }
        let target = Self.url(text)
        let (client, stub) = Store.stubbed { $0.headers = Self.fields }
        try await client.http.request(.get, "/a").prepare {
            $0.headers[.authorization] = "Bearer s3cret"
            $0.url = target
        }.send()
        #expect(try secrets(stub) == [])
        let (built, other) = Store.stubbed {
            $0.headers = Self.fields
            $0.urlBuilder = Elsewhere(target: target)
            $0.authenticationProvider = BasicAuthenticationProvider(user: "s3cret", password: "s3cret")
        }
        try await built.http.request(.get, "/a").send()
        #expect(try secrets(other) == [] && other.requests.last?.request.headers[.authorization] == nil)
        // A third origin, in a call outside the service.
        let call = client.http.request(outside: Self.url("https://third.test/")).header("X-Own", "s3cret")
        try await call.prepare { $0.url = target }.send()
        #expect(try secrets(stub) == [])
    }

    @Test(arguments: [
        "https://other.test/x", "//other.test/x", "https://api.test:8443/x", "https://api.test.evil.test/x", "https://API.TEST.:443/x",
    ])
    func `headers of client, class, endpoint and call don't follow a redirect elsewhere`(location: String) async throws {
        final class Service: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable {
                ["list()": .get("/list").header("X-Method-Key", "s3cret").header("X-Honeycomb-Team", "s3cret")]
            }
            override class var defaults: EndpointDefaults {
                EndpointDefaults(headers: ["X-Class-Key": "s3cret", "X-ClickHouse-Key": "s3cret", "Accept-Language": "da"])
            }
            func list() async throws { try await call() }
        }
        for status in [301, 302, 303, 307, 308] {
            let stub = StubTransport()
            stub.fallback(.inTurn(.redirect(to: location, status: status), .status(200)))
            let client = Service(serviceRoot: "https://api.test/v1") {
                $0.transport = stub
                $0.headers = Self.fields
                $0.interceptors = [RequestPreparer { $0.headers["X-Prepared"] = "s3cret" }]
            }
            try await client.list()
            #expect(stub.requests.count == 2)
            #expect(stub.requests[0].request.headers["X-Class-Key"] == "s3cret")
            #expect(try secrets(stub) == [], "\(status)")
            #expect(stub.requests[1].request.headers["Accept-Language"] == "da")
        }
        let (client, stub) = Store.stubbed(.inTurn(.redirect(to: location), .status(200)))
        try await client.http.request(outside: Self.url("https://third.test/")).header("X-Own", "s3cret").send()
        #expect(try stub.requests.count == 2 && secrets(stub) == [])
    }

    @Test func `the same origin in another spelling keeps them`() async throws {
        for location in ["https://API.test/x", "https://api.test:443/x", "/x", "x", "?y", "//api.test/x", "HTTPS://api.TEST/x"] {
            let (client, stub) = Store.stubbed(.inTurn(.redirect(to: location), .status(200))) { $0.headers = Self.fields }
            try await client.http.request(.get, "/a").send()
            #expect(stub.requests.last?.request.headers["X-Api-Key"] == "s3cret-x-api-key", "\(location)")
        }
    }

    @Test func `what the client lists goes along and back`() async throws {
        let (client, stub) = Store.stubbed(.inTurn(.redirect(to: "https://eu.api.test/x"), .status(200))) {
            $0.allowedOrigins = ["https://eu.api.test", "https://us.api.test:8443/"]
            $0.headers = ["X-Api-Key": "k", "X-Team": "core", "X-Request-Id": "7", "Cookie": "a=1"]
            $0.headerRules = HeaderRules(harmless: ["X-Team", "Cookie", "Accept"], secret: ["X-Request-Id", "Accept"])
            $0.authenticationProvider = BearerTokenProvider(token: "t0ken")
        }
        try await client.http.request(.get, "/a").send()
        let headers = try #require(stub.requests.last).request.headers
        #expect(headers["X-Api-Key"] == "k" && headers[.authorization] == "Bearer t0ken")
        try await client.http.request(link: Self.url("https://us.api.test:8443/y")).send()
        #expect(stub.requests.last?.request.headers[.authorization] == "Bearer t0ken")
        try await client.http.request(.get, "/a").prepare { $0.url = Self.elsewhere }.send()
        let left = try #require(stub.requests.last).request.headers
        #expect(left["X-Team"] == "core" && left["X-Api-Key"] == nil && left[.authorization] == nil && left["X-Request-Id"] == nil)
        #expect(left[.cookie] == nil && left[.accept] == nil)
    }

    @Test(arguments: [
        "eu.api.test", "https://eu.api.test/v1", "ftp://eu.api.test", "https://a@eu.test", "https://eu.test?x", "",
    ])
    func `what is no origin isn't allowed`(text: String) {
        let client = Store(serviceRoot: "https://api.test") { $0.allowedOrigins = [text] }
        let faults = client.verify()
        #expect(faults.contains { $0.kind == .badServiceRoot && $0.problem.contains("allowedOrigins") }, "\(faults)")
    }

    // MARK: Providers

    @Test func `a bearer token is asked for once, and once more after a refusal`() async throws {
        let asked = Locked<[String?]>([])
        let (client, stub) = Store.stubbed(.inTurn(.status(401), .status(200), .status(401), .status(401))) {
            $0.authenticationProvider = BearerTokenProvider { old in
                asked.withLock { $0.append(old?.value) }
                return BearerToken("t\(asked.withLock { $0.count })")
            }
        }
        try await client.http.request(.get, "/a").send()
        #expect(stub.requests.map { $0.request.headers[.authorization] } == ["Bearer t1", "Bearer t2"])
        #expect(asked.withLock { $0 } == [nil, "t1"])
        #expect(await serviceError { try await client.http.request(.get, "/a").send() }?.status == 401)
        #expect(asked.withLock { $0 } == [nil, "t1", "t2"])
        #expect(stub.requests.count == 4, "a second refusal is the caller's")
    }

    @Test func `a value that stays is sent once, and the closure's error ends the call`() async throws {
        let (client, stub) = Store.stubbed(.status(401)) {
            $0.authenticationProvider = APIKeyProvider(header: "X-Tableau-Auth", key: "k")
        }
        #expect(await serviceError { try await client.http.request(.get, "/a").send() }?.status == 401)
        #expect(stub.requests.map { $0.request.headers["X-Tableau-Auth"] } == ["k"])
        let (failing, unsent) = Store.stubbed {
            $0.authenticationProvider = APIKeyProvider(header: "X-Key") { _ in throw Refusal(reason: "no token") }
        }
        #expect(await serviceError { try await failing.http.request(.get, "/a").send() }?.cause as? Refusal == Refusal(reason: "no token"))
        #expect(unsent.requests.isEmpty)
    }

    @Test(arguments: ["s3cret\n", "s3cret\r\nX: y", "s3\0cret"]) func `a token that fits no header is an error that doesn't show it`(
        token: String
    ) async throws {
        let (client, stub) = Store.stubbed { $0.authenticationProvider = BearerTokenProvider(token: token) }
        let error = try #require(await serviceError { try await client.http.request(.get, "/a").send() })
        #expect(error.kind == .authentication && !"\(error)".contains("s3"), "\(error)")
        #expect(stub.requests.isEmpty)
    }

    @Test func `nobody sees a provider's value`() {
        let providers: [any AuthenticationProvider] = [
            BearerTokenProvider(token: "s3cret"), APIKeyProvider(header: "X-Key", key: "s3cret"),
        ]
        for provider in providers {
            var text = "\(provider) \(String(reflecting: provider))"
            dump(provider, to: &text)
            #expect(!text.contains("s3cret"))
        }
    }

    @Test func `a provider that changes the origin ends the call`() async throws {
        struct Straying: AuthenticationProvider {
            var isSessionOpened: Bool { false }
            func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
                attempt.request.headers[.authorization] = "Bearer s3cret"
                attempt.request.url = OriginBoundaryTests.elsewhere
            }
            func respond(
                to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt,
                context: CallContext
            ) async throws -> Bool { false }
            func invalidate() async {}
        }
        let (client, stub) = Store.stubbed { $0.authenticationProvider = Straying() }
        #expect(await serviceError { try await client.http.request(.get, "/a").send() }?.kind == .authentication)
        #expect(stub.requests.isEmpty)
    }
}

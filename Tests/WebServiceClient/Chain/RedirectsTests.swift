import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct RedirectsTests {
    /// Returns a client whose first answer is a redirect and whose further answers are 200.
    private func client(
        _ location: String, status: Int = 302, root: String = "https://api.test/v1",
        configure: (inout WebServiceClient.Configuration) -> Void = { _ in }
    ) -> (client: Store, stub: StubTransport) {
        Store.stubbed(.inTurn(.redirect(to: location, status: status), .status(200)), root: root, configure: configure)
    }

    private func reason(_ call: () async throws -> Void) async -> RedirectError.Reason? {
        let error = await serviceError(call)
        return error?.kind == .redirect ? (error?.cause as? RedirectError)?.reason : nil
    }

    @Test(arguments: [
        (301, "POST", "GET", false), (302, "POST", "GET", false), (303, "POST", "GET", false), (307, "POST", "POST", true),
        (308, "POST", "POST", true), (301, "PUT", "PUT", true), (302, "PATCH", "PATCH", true), (303, "PUT", "GET", false),
        (303, "DELETE", "GET", false), (303, "HEAD", "HEAD", false), (301, "GET", "GET", false), (308, "DELETE", "DELETE", false),
    ])
    func `Method and body follow the status`(status: Int, method: String, next: String, keepsBody: Bool) async throws {
        let (client, stub) = client("/v1/next", status: status)
        let first = ServiceRequest.Method(rawValue: method)
        let call = client.http.request(first, "/a")
        try await (first.usuallyHasBody ? call.body(Data("x".utf8)) : call).send()
        #expect(stub.requests.count == 2)
        let second = try #require(stub.requests.last)
        #expect(second.request.method.rawValue == next)
        #expect((second.body != nil) == keepsBody)
        #expect(second.request.headers.contains(.contentType) == keepsBody)
    }

    @Test(arguments: [
        ("next", "https://api.test/v1/a/next"), ("../next?x=1", "https://api.test/v1/next?x=1"), ("/next#frag", "https://api.test/next"),
        ("?x=1", "https://api.test/v1/a/b?x=1"), ("//other.test/n", "https://other.test/n"),
        ("https://other.test:8443/ü n", "https://other.test:8443/%C3%BC%20n"),
    ])
    func `A location is resolved against the URL that answered`(location: String, target: String) async throws {
        let (client, stub) = client(location)
        try await client.http.get("/a/b").send()
        #expect(stub.requests.last?.request.url.absoluteString == target)
    }

    /// Browsers and curl also use the received bytes.
    @Test(
        "Bytes of a location that are no UTF-8 are percent-encoded one by one",
        arguments: [
            ("/caf\u{E9}", "/caf%E9"), ("/caf\u{C3}\u{A9}", "/caf%C3%A9"), ("/\u{93}\u{FA}/x", "/%93%FA/x"),
            ("/a?q=\u{E9}#\u{FF}", "/a?q=%E9"),
            ("/a b\u{E9}", "/a%20b%E9"), ("/%41\u{E9}", "/%41%E9"), ("/100%\u{E9}", "/100%25%E9"), ("n\u{E4}chste", "/v1/a/n%E4chste"),
            ("?\u{F6}=\u{FC}", "/v1/a/b?%F6=%FC"), ("/\u{C3}\u{A9}\u{E9}", "/%C3%A9%E9"), ("/\u{E2}\u{82}\u{AC}", "/%E2%82%AC"),
            ("/\u{FF}\u{FE}", "/%FF%FE"),
            ("/\u{C0}\u{80}", "/%C0%80"),
        ])
    func bytes(latin1: String, target: String) async throws {
        let bytes = latin1.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        let headers = HTTPFields(HTTPFields.Lines(Array("X: y\r\nLocation: ".utf8) + bytes + Array("\r\n".utf8)))
        let (client, stub) = Store.stubbed(
            .inTurn(StubAnswer { TransportResponse(status: 302, headers: headers, url: $0.request.url) }, .status(200)),
            root: "https://api.test/v1")
        try await client.http.get("/a/b").send()
        #expect(stub.requests.last?.request.url.absoluteString == "https://api.test" + target)
    }

    @Test func `Limit, loop, same origin and stop`() async throws {
        let counter = Locked(0)
        let endless = StubAnswer { request in
            let number = counter.withLock { number in
                number += 1
                return number
            }
            return TransportResponse(status: 302, headers: ["Location": "/\(number)"], url: request.request.url)
        }
        let (many, stub) = Store.stubbed(endless)
        #expect(await reason { try await many.http.get("/a").send() } == .tooMany)
        #expect(stub.requests.count == 11)
        let short = many.http.get("/a").describing { $0.redirects(RedirectPolicy(limit: 0)) }
        #expect(await reason { try await short.send() } == .tooMany)
        let loop = Store.stubbed(.redirect(to: "/v1/a")).client
        #expect(await reason { try await loop.http.get("/a").send() } == .loop)
        let (other, _) = client("https://other.test/") { $0.redirects = .sameOrigin }
        #expect(await reason { try await other.http.get("/a").send() } == .otherOrigin)
        let (stopped, stops) = client("/next") { $0.redirects = .stop }
        #expect(await serviceError { try await stopped.http.get("/a").send() }?.status == 302)
        #expect(stops.requests.count == 1)
    }

    /// Answers 302 until the request has a cookie.
    private func signIn(
        _ steps: [String: (location: String, cookie: String?)], configure: (inout WebServiceClient.Configuration) -> Void
    ) -> (client: Store, stub: StubTransport) {
        let answer = StubAnswer.answering { request in
            guard request.request.headers[.cookie]?.contains("sid=1") != true else { return .text("signed in") }
            let target = request.request.url.absoluteString.dropFirst("https://api.test".count)
            let step = steps[String(target)] ?? ("/v1/a", nil)
            var headers: HTTPFields = ["Location": step.location]
            if let cookie = step.cookie { headers.append(.setCookie, cookie) }
            return .status(302, headers: headers)
        }
        return Store.stubbed(answer, configure: configure)
    }

    @Test(
        arguments: [
            (["/v1/a": ("/v1/a", "sid=1; Path=/")], 2), (["/v1/a": ("", "sid=1; Path=/")], 2),
            (["/v1/a": ("/sso?to=a", nil), "/sso?to=a": ("https://api.test/v1/a", "sid=1; Path=/")], 3),
            (["/v1/a": ("/sso", "state=7; Path=/"), "/sso": ("/v1/a?ticket=1", nil), "/v1/a?ticket=1": ("/v1/a", "sid=1; Path=/")], 4),
            (["/v1/a": ("/check", "test=1; Path=/"), "/check": ("/v1/b", nil), "/v1/b": ("/v1/a", "sid=1; Path=/")], 4),
        ] as [([String: (location: String, cookie: String?)], Int)])
    func `With a new cookie, a URL is requested again`(steps: [String: (location: String, cookie: String?)], count: Int) async throws {
        let (client, stub) = signIn(steps) { $0.cookies = CookieJar() }
        let text: String = try await client.http.get("/a").value()
        #expect(text == "signed in" && stub.requests.count == count)
        // Without a jar, the same redirects are a loop, and the error names the jar.
        let (other, _) = signIn(steps) { _ in }
        let error = await serviceError { try await other.http.get("/a").send() }
        #expect((error?.cause as? RedirectError)?.reason == .loop && error?.message.contains("Configuration.cookies") == true)
        let off = await serviceError { try await client.http.get("/a").describing { $0.cookies(.off) }.send() }
        #expect((off?.cause as? RedirectError)?.reason == .loop && off?.message.contains("remove .cookies(.off)") == true)
    }

    @Test func `Only a cookie that is sent and new permits another request`() async throws {
        // The same cookie with each response, and one that the jar refuses.
        for cookie in ["other=1; Path=/", "other=1; Domain=other.test"] {
            let (client, stub) = signIn(["/v1/a": ("/v1/a", cookie)]) { $0.cookies = CookieJar() }
            #expect(await reason { try await client.http.get("/a").send() } == .loop)
            #expect(stub.requests.count == 2)
        }
        let (kept, requests) = signIn(["/v1/a": ("/v1/b", "other=1; Path=/"), "/v1/b": ("/v1/b", nil)]) { $0.cookies = CookieJar() }
        #expect(await reason { try await kept.http.get("/a").send() } == .loop)
        #expect(requests.requests.count == 2)
        // A new cookie each time: the limit ends the call.
        let number = Locked(0)
        let (endless, stub) = Store.stubbed(
            .answering { _ in
                let number = number.withLock { number in
                    number += 1
                    return number
                }
                return .status(302, headers: ["Location": "/v1/a", "Set-Cookie": "n=\(number); Path=/"])
            }
        ) { $0.cookies = CookieJar() }
        #expect(await reason { try await endless.http.get("/a").send() } == .tooMany)
        #expect(stub.requests.count == 11)
    }

    @Test func `Cookies of another host, which aren't kept, don't permit another request`() async throws {
        let (client, stub) = Store.stubbed(
            .answering { request in
                request.request.url.host == "sso.test"
                    ? .status(302, headers: ["Location": "https://api.test/v1/a", "Set-Cookie": "sid=1; Path=/"])
                    : .status(302, headers: ["Location": "https://sso.test/"])
            }
        ) { $0.cookies = CookieJar() }
        let error = await serviceError { try await client.http.get("/a").send() }
        #expect((error?.cause as? RedirectError)?.reason == .loop && error?.message.contains(".cookies(.matchingHosts)") == true)
        #expect(stub.requests.count == 2)
    }

    @Test func `Bad locations, insecure ones and bodies that can't be sent again`() async throws {
        for location in [
            "mailto:a@b.test", "file:///etc/passwd", "http://", "https://ada:s3cret-s3cret@api.test/", "//ada@api.test/",
        ] {
            #expect(await reason { try await client(location).client.http.get("/a").send() } == .badLocation, "\(location)")
        }
        #expect(await reason { try await client("http://api.test/").client.http.get("/a").send() } == .insecure)
        let once = RequestBody { AsyncThrowingStream { $0.finish() } }
        #expect(await reason { try await client("/n", status: 307).client.http.post("/a").body(once).send() } == .bodyNotReplayable)
        let none = Store.stubbed(.status(302)).client
        #expect(await serviceError { try await none.http.get("/a").send() }?.kind == .status)
    }

    @Test func `Secrets stay behind on another origin and are made anew on the same`() async throws {
        let headers: HTTPFields = ["Cookie": "id=1", "X-Api-Key": "k", "X-Team": "core", "Accept-Language": "da"]
        for location in ["https://other.test/", "https://api.test:8443/", "https://api.test.evil/"] {
            let (client, stub) = client(location) {
                $0.headers = headers
                $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "pw")
            }
            try await client.http.get("/a").send()
            #expect(stub.requests[0].request.headers[.authorization] != nil)
            let second = stub.requests[1].request.headers
            #expect(second[.authorization] == nil && second[.cookie] == nil && second["X-Api-Key"] == nil)
            #expect(second["X-Team"] == nil && second["Accept-Language"] == "da")
        }
        let provider = Counting()
        let (same, stub) = client("/n") { $0.authenticationProvider = provider }
        try await same.http.get("/a").send()
        #expect(stub.requests.map { $0.request.headers[.authorization] } == ["Count 1", "Count 2"])
    }

    @Test func `Back on the service's origin the provider is asked, the caller's secrets are not restored`() async throws {
        let (client, stub) = Store.stubbed(
            .inTurn(.redirect(to: "https://other.test/"), .redirect(to: "https://api.test/back"), .status(200))
        ) { $0.authenticationProvider = Counting() }
        try await client.http.get("/a").header("Cookie", "id=1").send()
        #expect(stub.requests.map { $0.request.headers[.authorization] } == ["Count 1", nil, "Count 2"])
        #expect(stub.requests.map { $0.request.headers[.cookie] } == ["id=1", nil, nil])
    }

    /// A provider that returns different credentials each time.
    private final class Counting: AuthenticationProvider {
        private let count = Locked(0)
        var isSessionOpened: Bool { true }

        func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
            attempt.request.headers[.authorization] = count.withLock { count in
                count += 1
                return "Count \(count)"
            }
        }

        func respond(
            to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt,
            context: CallContext
        ) async throws -> Bool { false }

        func invalidate() async {}
    }
}

import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// Passes secrets of all kinds through every text of the package. No six bytes of a secret may appear in an error, a description, a dump or
/// a command.
@Suite struct SecretCorpusTests {
    typealias Sample = SampleSecrets.Sample

    private static let samples: [Sample] = {
        var secrets = SampleSecrets(seed: 29)
        return secrets.samples(rounds: 1)
    }()

    /// Whether a sample's secret is recognized by its form in any text.
    private static func hasForm(_ sample: Sample) -> Bool { sample.texts.count > 1 }

    private final class Leaks: Sendable {
        private let found = Locked<[String]>([])
        private let checked = Locked(0)

        func look(at place: String, for sample: Sample, in values: Any...) {
            let text = values.map { $0 as? String ?? SecretLeaks.texts(of: $0) }.joined(separator: "\n")
            checked.withLock { $0 += 1 }
            if let leak = SecretLeaks.leak(of: sample.hiddenPart, in: text) {
                found.withLock { $0.append("\(place): \(sample.kind): “\(leak)” in \(text.prefix(1_500))") }
            }
        }

        func expectNone(_ count: Int) {
            let leaks = found.withLock { $0 }
            #expect(leaks.isEmpty, "\(leaks.count) leaks: \(leaks.prefix(5).joined(separator: "\n\n"))")
            #expect(checked.withLock { $0 } >= count)
        }
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    /// Field names that aren't in any list of secret words.
    private static let fields: [HTTPFields.Name] = [
        "X-Tableau-Auth", "X-ClickHouse-Key", "X-Honeycomb-Team", "Fastly-Key", "X-Appwrite-Key", "DPoP", "X-Class-Key", "X-Whatever",
        "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "apikey", "From", "Forwarded", "baggage",
    ]

    /// Bodies that contain the secret under a secret name, with their media types.
    private static func bodies(_ sample: Sample) -> [(type: String, text: String)] {
        let (secret, boundary) = (sample.secret, "----b0undary")
        let escaped = secret.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let part = "--\(boundary)\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nada\r\n--\(boundary)\r\n"
        var bodies = [
            ("application/json", "{\"user\":\"ada\",\"password\":\"\(escaped)\"}"),
            ("application/json", "{\"tokens\":[\"\(escaped)\",\"\(escaped)\"]}"),
            ("application/json", "{\"o\":{\"credentials\":{\"a\":[{\"b\":\"\(escaped)\"}]}},\"n\":1}"),
            ("text/plain", "{\"api_key\" : \"\(escaped)\"}"),
            ("application/vnd.x+json", "[{\"clientSecret\":\n\"\(escaped)\"}]"),
            ("application/x-www-form-urlencoded", "password=\(URLEncoding.queryValue(secret))&user=ada"),
            ("application/x-www-form-urlencoded", "user=ada&client%5Fsecret=\(URLEncoding.queryValue(secret))"),
            (
                "multipart/form-data; boundary=\(boundary)",
                part + "Content-Disposition: form-data; name=\"password\"\r\n\r\n\(secret)\r\n--\(boundary)--\r\n"
            ),
            (
                "multipart/form-data; boundary=\(boundary)",
                part + "Content-Type: text/plain\r\nContent-Disposition: form-data; filename=\"a.txt\"; name=api_token\r\n"
                    + "Content-Type: text/plain\r\n\r\n\(secret)\r\nsecond \(secret)\r\n--\(boundary)--"
            ),
            ("application/xml", "<login><user>ada</user><password>\(secret)</password></login>"),
            ("text/xml", "<s:login><s:Password type=\"text\"><![CDATA[\(secret)]]></s:Password></s:login>"),
            ("application/soap+xml", "<credentials>\n  <user>ada</user>\n  <value>\(secret)</value>\n</credentials>"),
            ("application/xml", "<login password=\"\(secret)\" user='ada'/>"), ("text/plain", "user=ada password=\(secret)"),
            ("text/plain", "Authorization: Bearer \(secret)"), ("application/yaml", "db:\n  password: |\n    \(secret)\n  user: ada"),
        ].map { (type: $0.0, text: $0.1) }
        for text in sample.texts { bodies.append(("text/plain", text.replacing("%@", with: secret))) }
        return bodies
    }

    @Test func `requests, responses and what is declared show no secret`() throws {
        let leaks = Leaks()
        for (number, sample) in Self.samples.enumerated() {
            let secret = URLEncoding.pathSegment(sample.secret)
            var request = ServiceRequest(
                url: try Self.url("https://ada:\(secret)@h.test/p?access_token=\(secret)&x=1&sig=\(secret)#id_token=\(secret)"))
            request.headers = HTTPFields(Self.fields.map { HTTPFields.Field(name: $0, value: "Scheme \(sample.secret)") })
            for text in sample.texts where !text.contains("\n") {
                request.headers.append("User-Agent", text.replacing("%@", with: sample.secret))
                request.headers.append("Link", text.replacing("%@", with: sample.secret))
            }
            request.headers.append("Location", "/cb?code=\(secret)")
            leaks.look(at: "request", for: sample, in: request, request.curlCommand, request.headers, RequestSummary(request))
            let response = TransportResponse(status: 200, headers: request.headers, url: request.url)
            leaks.look(at: "response", for: sample, in: response)
            let service = ServiceResponse(value: 1, status: 200, headers: request.headers, url: request.url, duration: .zero)
            leaks.look(at: "service response", for: sample, in: service, service.map { $0 + 1 })
            for (type, text) in Self.bodies(sample).enumerated().filter({ ($0.offset + number) % 5 == 0 }).map(\.element) {
                var post = ServiceRequest(method: .post, url: try Self.url("https://h.test/"))
                post.headers[.contentType] = type
                post.body = RequestBody(Data(text.utf8), contentType: type)
                leaks.look(at: "curl, \(type)", for: sample, in: post.curlCommand, post)
                let summary = ResponseSummary(
                    status: 400, headers: ["Content-Type": type], url: post.url, body: Data(text.utf8))
                leaks.look(at: "summary, \(type)", for: sample, in: summary.bodyText(upTo: 500), summary.description)
                // Some are also cut at many positions.
                for limit in stride(from: 3 + number % 7, to: number % 8 == 0 ? text.utf8.count : 0, by: 11) {
                    let cut = ResponseSummary(
                        status: 400, headers: ["Content-Type": type], url: post.url, body: Data(text.utf8.prefix(limit)), isCut: true)
                    leaks.look(at: "cut \(type)", for: sample, in: cut.bodyText(upTo: 500), summary.bodyText(upTo: limit))
                }
            }
            var configuration = WebServiceClient.Configuration()
            configuration.headers = request.headers
            configuration.serviceRoot = "https://ada:\(secret)@h.test/v1?api_key=\(secret)"
            configuration.allowedOrigins = [configuration.serviceRoot]
            configuration.authenticationProvider = BearerTokenProvider(token: sample.secret)
            leaks.look(at: "configuration", for: sample, in: configuration)
            let defaults = EndpointDefaults(serviceRoot: configuration.serviceRoot, headers: request.headers)
            leaks.look(at: "defaults", for: sample, in: defaults)
            let descriptor = EndpointDescriptor.post("/a?password=\(secret)&token=%%0%%").header("X-Class-Key", sample.secret)
            let table: EndpointTable = ["a(_:)": descriptor.query("secret", EndpointArgument.argument(0))]
            leaks.look(at: "table", for: sample, in: descriptor, table, ClientDescription(client: "C", table: table))
            let parts = URLParts(root: "https://h.test", path: "/a", query: "token=\(secret)", route: "/a?pin=\(secret)")
            leaks.look(at: "parts", for: sample, in: parts)
            let form = MultipartForm([.text("password", sample.secret), .text("x", sample.secret)])
            leaks.look(at: "form", for: sample, in: form, form.parts[0], try form.body())
            leaks.look(
                at: "faults", for: sample, in: ServiceRoot.faults(in: configuration.serviceRoot),
                ServiceRoot.faults(in: "ftp://h?token=\(secret)"))
        }
        leaks.expectNone(700)
    }

    private final class Bot: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            [
                "send(token:text:)": .post("/bot%%token%%/send").query("text", .argument(1)),
                "login(user:password:)": .get("/%%user%%/%%1%%"),
                "open(apiKey:)": .get(uriTemplate: "/open/{apiKey}"),
                "find(clientSecret:)": .get("/find?q=%%0%%").header("Accept", "%%0%%"),
            ]
        }
        func send(token: String, text: String) async throws { try await call(token, text) }
        func login(user: String, password: String) async throws -> ServiceResponse<String> { try await call(user, password) }
        func open(apiKey: [String]) async throws -> StoreItem { try await call(apiKey) }
        func find(clientSecret: String) async throws { try await call(clientSecret) }
    }

    @Test func `arguments that their labels call secrets show nowhere`() async throws {
        let leaks = Leaks()
        for (number, sample) in Self.samples.enumerated() {
            let said = Locked<[String]>([])
            // Each call of a client gets a different answer.
            let turn = Locked(number)
            let stub = StubTransport()
            // The service echoes the request, or redirects to its URL.
            stub.fallback(
                StubAnswer { recorded in
                    let url = recorded.request.url
                    let answer = turn.withLock { turn in
                        turn += 1
                        return turn % 4
                    }
                    switch answer {
                    case 0:
                        return TransportResponse(
                            status: 404, headers: ["X-Echo": url.absoluteString, "Content-Type": "text/plain"], url: url,
                            body: ResponseBody(Data("There is nothing at \(url), not even for \(sample.secret).".utf8)))
                    case 1: throw TransportError(.other, "The URL \(url) is no good")
                    case 2:
                        return TransportResponse(
                            status: 302, headers: ["Location": "ftp://h.test\(url.path(percentEncoded: true))"], url: url)
                    default: return TransportResponse(status: 200, url: url, body: ResponseBody(Data("ok".utf8)))
                    }
                })
            let client = Bot(serviceRoot: "https://h.test") {
                $0.transport = stub
                $0.interceptors = [
                    RequestPreparer { request in
                        let text = SecretLeaks.texts(of: request) + request.curlCommand
                        said.withLock { $0.append(text) }
                    },
                    ResponseProcessor { response in
                        let text = SecretLeaks.texts(of: response)
                        said.withLock { $0.append(text) }
                    },
                ]
            }
            let secret = sample.secret
            let calls: [@Sendable () async throws -> Void] = [
                { try await client.send(token: secret, text: "hello") }, { _ = try await client.open(apiKey: [secret, "x"]) },
                { try await client.find(clientSecret: secret) },
                {
                    let response = try await client.login(user: "ada", password: secret)
                    leaks.look(at: "value", for: sample, in: response)
                },
            ]
            for call in calls {
                guard let error = await serviceError({ try await call() }) else { continue }
                leaks.look(
                    at: "error \(error.kind)", for: sample, in: error, error.message, error.localizedDescription, error.request as Any)
                leaks.look(at: "cause", for: sample, in: error.response?.description ?? "", error.response?.bodyText(upTo: 40) ?? "")
            }
            leaks.look(at: "chain", for: sample, in: said.withLock { $0.joined() })
            let request = try await client.dryRun { try await $0.send(token: secret, text: "x") }
            leaks.look(at: "dry run", for: sample, in: request, request.curlCommand, RecordedRequest(request, body: nil))
        }
        leaks.expectNone(350)
    }

    @Test func `calls without an entry show no argument`() throws {
        let leaks = Leaks()
        let client = WebServiceClient(serviceRoot: "https://h.test")
        for sample in Self.samples {
            let call = client.http.request(.post, "/bot%%0%%/%%1%%", sample.secret, [sample.secret]).argument("token", sample.secret)
                .query("password", sample.secret).query("x", sample.secret).header("X-Key", sample.secret).header(.accept, sample.secret)
                .body(["x": sample.secret])
            leaks.look(at: "call", for: sample, in: call)
            let url = try Self.url(
                "https://ada:\(URLEncoding.pathSegment(sample.secret))@h.test/?token=\(URLEncoding.queryValue(sample.secret))")
            leaks.look(at: "links", for: sample, in: client.http.request(link: url), client.http.request(outside: url))
            leaks.look(at: "encoded", for: sample, in: client.http.request(encoded: "/a?token=\(URLEncoding.queryValue(sample.secret))"))
        }
        leaks.expectNone(150)
    }

    @Test func `errors of all stages show no secret`() async throws {
        let leaks = Leaks()
        for (number, sample) in Self.samples.enumerated() {
            let phrase = sample.texts[number % sample.texts.count].replacing("%@", with: sample.secret)
            let quoted = "\"" + sample.secret.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
            var answers: [StubAnswer] = [
                StubAnswer { _ in throw TransportError(.other, "refused: \(phrase)") },
                StubAnswer { _ in throw Failure(description: phrase) },
                .json("{\"id\": 1, \"password\": \(quoted)}"), .json("{\"tokens\": [\(quoted)]"),
                .redirect(to: "mailto:ada?token=\(URLEncoding.queryValue(sample.secret))"),
            ]
            for (type, text) in Self.bodies(sample).enumerated().filter({ ($0.offset + number) % 8 == 0 }).map(\.element) {
                answers.append(
                    StubAnswer { recorded in
                        TransportResponse(
                            status: 500, headers: ["Content-Type": type, "X-Tableau-Auth": sample.secret], url: recorded.request.url,
                            body: ResponseBody(Data(text.utf8)))
                    })
            }
            for answer in answers {
                let (client, _) = Store.stubbed(answer) {
                    $0.headers = ["X-Honeycomb-Team": sample.secret]
                    $0.diagnostics = Diagnostics { event in leaks.look(at: "diagnostics", for: sample, in: event.description) }
                }
                let error = await serviceError { let _: [String: [Int]] = try await client.http.request(.get, "/a").value() }
                guard let error else { continue }
                leaks.look(at: "\(error.kind)", for: sample, in: error, error.message, error.localizedDescription, error.request as Any)
            }
            let (client, _) = Store.stubbed {
                $0.interceptors = [RequestPreparer { _ in throw Failure(description: phrase) }]
            }
            if let error = await serviceError({ try await client.http.request(.get, "/a").send() }) {
                leaks.look(at: "interceptor", for: sample, in: error)
            }
            struct Refuser: ErrorHandler {
                let phrase: String
                func verdict(on outcome: CallOutcome) async -> ErrorVerdict { .fail(Failure(description: phrase)) }
            }
            let (refused, _) = Store.stubbed(number % 2 == 0 ? .json("{}") : StubAnswer { _ in throw Failure(description: phrase) }) {
                $0.errorHandler = Refuser(phrase: phrase)
            }
            if let error = await serviceError({ try await refused.http.request(.get, "/a").send() }) {
                leaks.look(at: "handler", for: sample, in: error, error.message)
            }
        }
        leaks.expectNone(400)
    }

    @Test func `a profile shows no secret of its root`() throws {
        let leaks = Leaks()
        for sample in Self.samples {
            let root = "https://a.test/v1?api_key=\(URLEncoding.queryValue(sample.secret))"
            let json = "{\"BaseURL\": \"\(root)\", \"Resources\": [{\"Name\": \"a()\", \"URITemplate\": \"/a\"}]}"
            let profile = try ServiceProfile(data: Data(json.utf8))
            let faults = Store(serviceRoot: "").verify(profile)
            leaks.look(at: "profile", for: sample, in: profile, faults, WebServiceClient(profile: profile))
        }
        leaks.expectNone(50)
    }

    // MARK: One by one

    @Test(arguments: ["@/etc/passwd", "@", "@-", "@x", "<file", "a\n@b", "@{\"a\":1}", "@file=x", "-", "\u{FEFF}@a", "@'x'"])
    func `a text that begins with an at sign is sent by curl as it is`(text: String) throws {
        let request = ServiceRequest(method: .post, url: try Self.url("https://h.test/"), body: RequestBody(Data(text.utf8)))
        let command = request.curlCommand
        #expect(command.contains("--data-raw") && !command.contains("--data-binary") && !command.contains("--data "), "\(command)")
    }

    @Test func `curl takes what it would otherwise interpret literally`() throws {
        let request = ServiceRequest(url: try Self.url("https://[::1]:80/"), headers: ["@secrets": "x", "X-Empty": "", "Accept": "*/*"])
        #expect(request.curlCommand == "curl --globoff --header 'X-Empty;' --header 'Accept: */*' 'https://[::1]:80/'")
        let get = ServiceRequest(url: try Self.url("https://h.test/"), body: RequestBody(Data("x".utf8)))
        #expect(get.curlCommand.contains("--request 'GET'"))
    }

    @Test(arguments: [
        (
            "Content-Disposition: form-data; name=\"password\"\r\n\r\nhunter22\r\n--b--",
            "Content-Disposition: form-data; name=\"password\"\r\n\r\n<masked>\r\n--b--"
        ),
        ("content-disposition: form-data; name=pwd\n\nhunter22\n--b--", "content-disposition: form-data; name=pwd\n\n<masked>\n--b--"),
        (
            "Content-Disposition: form-data; name=\"note\"\r\n\r\nhunter22\r\n--b--",
            "Content-Disposition: form-data; name=\"note\"\r\n\r\nhunter22\r\n--b--"
        ),
        ("<password><![CDATA[hunter22]]></password>", "<password><![CDATA[<masked>]]></password>"),
        ("<token><a>hunter22</a><b/></token><x>1</x>", "<token><masked></token><x>1</x>"),
        ("<pin>\n  <v>1234567</v>\n</pin>ok", "<pin>\n  <masked></pin>ok"),
        ("usage: login <token> <user>", "usage: login <token> <user>"),
        ("<password><v>hunter22", "<password><masked>"),
        ("?token=%%token%%&q=%%0%%", "?token=%%token%%&q=%%0%%"), ("?token=%%to ken%%", "?token=<masked> ken%%"),
    ])
    func `markup and parts of forms are masked`(text: String, expected: String) {
        #expect(SecretMask.text(text) == expected)
        #expect(SecretMask.text(expected) == expected)
    }

    @Test func `header fields that aren't known are masked, and the client may say otherwise`() async throws {
        let names: [HTTPFields.Name] = ["X-Team", "X-Tableau-Auth", "Fastly-Key", "X-Next", "X-RateLimit-Token"]
        for name in names { #expect(SecretMask.text(of: HTTPFields.Field(name: name, value: "core")) == "<masked>") }
        for name in ["ETag", "X-RateLimit-Remaining", "Accept", "X-Request-Id", "Access-Control-Allow-Origin"] as [HTTPFields.Name] {
            #expect(SecretMask.text(of: HTTPFields.Field(name: name, value: "core")) == "core")
        }
        #expect(SecretMask.text(of: HTTPFields.Field(name: .authorization, value: "Bearer abc")) == "Bearer <masked>")
        #expect(SecretMask.text(of: HTTPFields.Field(name: .authorization, value: "s3cret withblank")) == "<masked>")
        let (client, _) = Store.stubbed(.status(500)) {
            $0.headerRules = HeaderRules(harmless: ["X-Team"], secret: ["Accept-Language"])
            $0.headers = ["X-Team": "core", "Accept-Language": "da", "X-Other": "x"]
        }
        let request = try await client.dryRun { try await $0.http.request(.get, "/a").send() }
        #expect(request.curlCommand.contains("'X-Team: core'") && request.curlCommand.contains("'Accept-Language: <masked>'"))
        #expect(request.description.contains("X-Team: core") && request.description.contains("X-Other: <masked>"))
        let error = await serviceError { try await client.http.request(.get, "/a").send() }
        #expect(error?.request?.headers["X-Team"] == "core" && error?.request?.headers["Accept-Language"] == "<masked>")
    }

    @Test(arguments: ["1", "ab", "1234", "a/b c", "ü🦊", "%41", "hunter22+/=", "x%y"]) func `short arguments are masked as a whole`(
        token: String
    ) async throws {
        let client = Bot(serviceRoot: "https://h1.test/v1")
        let request = try await client.dryRun { try await $0.send(token: token, text: "hello 1") }
        if token.utf8.count >= 4 {
            #expect(request.description.contains("https://h1.test/v1/bot<masked>/send?text=hello%201"), "\(request)")
        } else {
            #expect(request.description.contains("https://h1.test/v1/bot"))
        }
    }
}

import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

/// A client whose answers come from httpbin, whose echo repeats the secrets of a request.
private final class Recorded: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "read(_:)": .get("%%0%%").raw().accepting(.any),
            "echo(_:token:)": .post("anything?access_token=%%token%%&page=2").body(.argument(0)).raw(),
            "form(_:)": .put("anything/form").body(.argument(0)).serializer(FormSerializer()).raw(),
        ]
    }

    func read(_ path: String) async throws -> ServiceResponse<Data> { try await call(path) }
    func echo(_ body: [String: String], token: String) async throws -> ServiceResponse<Data> { try await call(body, token) }
    func form(_ fields: [String: String]) async throws -> ServiceResponse<Data> { try await call(fields) }
}

extension IntegrationTests {
    @Suite struct CassetteReplayTests {
        private static let paths = [
            "get?a=1&b=%20", "headers", "gzip", "deflate", "brotli", "image/png", "bytes/300?seed=7", "stream/3", "redirect/2",
            "status/418", "status/503", "etag/abc", "cache/60", "encoding/utf8", "xml", "html", "robots.txt", "uuid",
            "cookies/set?flavour=oat", "cookies", "response-headers?X-A=1&X-A=2", "basic-auth/ada/pass",
        ]

        /// The paths whose answers repeat the request's fields, and so the key, which the recording masks.
        private static let echoes: Set<String> = [
            "get?a=1&b=%20", "headers", "gzip", "deflate", "brotli", "stream/3", "redirect/2", "etag/abc", "cache/60",
        ]

        private struct Answer: Equatable {
            let status: Int
            let type: String?
            let body: Data
        }

        private func answers(_ client: Recorded, _ secret: String) async throws -> [Answer] {
            var answers: [Answer] = []
            func add(_ response: ServiceResponse<Data>) {
                answers.append(Answer(status: response.status, type: response.headers[.contentType], body: response.value))
            }
            for path in Self.paths { add(try await client.read(path)) }
            add(try await client.echo(["name": "ada", "password": secret], token: secret))
            add(try await client.form(["user": "ada", "client_secret": secret]))
            return answers
        }

        @Test func `calls recorded from httpbin are replayed without it`() async throws {
            let folder = TemporaryFolder()
            let file = folder.url.appending(path: "httpbin.har")
            var secrets = SampleSecrets(seed: 3_602)
            let samples = secrets.samples(rounds: 1).filter { !$0.secret.contains { $0.isNewline } }
            let root = try TestServer.httpbin
            var live: [[Answer]] = []
            let cassette = try Cassette(file)
            for sample in samples.prefix(12) {
                let client = Recorded(serviceRoot: root) {
                    $0.transport = cassette.transport(around: CurlTransport.shared ?? URLSessionTransport())
                    $0.authenticationProvider = APIKeyProvider(header: "X-Api-Key", key: sample.secret)
                    $0.cookies = CookieJar()
                }
                live.append(try await answers(client, sample.secret))
            }
            try cassette.save()

            let text = try String(contentsOf: file, encoding: .utf8)
            let visible = SecretLeaks.runs(of: SecretLeaks.visible(Data(text.utf8)))
            let leaks = samples.prefix(12).compactMap { sample in
                SecretLeaks.leak(of: sample.hiddenPart, in: visible).map { "\(sample.kind): \($0)" }
            }
            #expect(leaks.isEmpty, "\(leaks)")

            // No server: the port is closed. Bodies that contained secrets have masks in their places.
            let replay = try Cassette(file, mode: .none)
            for (sample, expected) in zip(samples.prefix(12), live) {
                let client = Recorded(serviceRoot: "http://127.0.0.1:1") {
                    $0.transport = replay.transport()
                    $0.authenticationProvider = APIKeyProvider(header: "X-Api-Key", key: sample.secret)
                    $0.cookies = CookieJar()
                }
                let replayed = try await answers(client, sample.secret)
                #expect(replayed.map(\.status) == expected.map(\.status))
                #expect(replayed.map(\.type) == expected.map(\.type))
                for (path, (now, then)) in zip(Self.paths, zip(replayed, expected)) where !Self.echoes.contains(path) {
                    #expect(now.body == then.body, "\(path)")
                }
            }
            try replay.expectAllCalled()
        }
    }
}

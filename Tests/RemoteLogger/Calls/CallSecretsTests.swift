import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

/// Secrets of all kinds in the records of calls, and in the shipper's diagnostics.
@Suite struct CallSecretsTests {
    private static let samples: [SampleSecrets.Sample] = {
        var secrets = SampleSecrets(seed: 31)
        return secrets.samples(rounds: 3)
    }()

    /// One secret of each kind.
    private static let few: [SampleSecrets.Sample] = {
        var secrets = SampleSecrets(seed: 33)
        return secrets.samples(rounds: 1)
    }()

    private final class Bot: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable { ["send(token:)": .post("/bot%%token%%/send").raw()] }
        func send(token: String) async throws -> String { try await call(token) }
    }

    @Test func `no secret of a call is in its record, with headers and bodies`() async throws {
        let sink = CollectingSink()
        let logger = RemoteLogger(label: "calls", pipeline: LogPipeline(sinks: [sink], clock: ManualLogClock()), minimumLevel: .trace)
        for (index, sample) in Self.samples.enumerated() {
            // Each kind gets a different text and outcome in each round.
            let number = index + index / 24
            let text = sample.texts[number % sample.texts.count].replacing("%@", with: sample.secret)
            let stub = StubTransport()
            stub.fallback(
                StubAnswer { recorded in
                    let url = recorded.request.url
                    if number % 3 == 0 { throw TransportError(.other, "\(url) refused: \(text)") }
                    return TransportResponse(
                        status: 200, headers: ["X-Tableau-Auth": sample.secret, "Set-Cookie": sample.secret, "X-Echo": url.absoluteString],
                        url: url, body: ResponseBody(Data("\(url) says: \(text)".utf8)))
                })
            let client = Bot(serviceRoot: "https://h.test/v1?api_key=\(URLEncoding.queryValue(sample.secret))") {
                $0.transport = stub
                $0.interceptors = [CallLogger(logger, logsHeaders: true, bodyLimit: 10_000)]
                $0.headers = ["X-Honeycomb-Team": sample.secret, "Fastly-Key": sample.secret, "Cookie": "a=\(sample.secret)"]
            }
            _ = try? await client.send(token: sample.secret)
            let record = try #require(sink.records.last)
            let said = "\(record.message) \(record.metadata) \(String(decoding: try NDJSONFormat().encode([record]), as: UTF8.self))"
            let shown = said.replacing(record.id.description, with: "")
            let leak = SecretLeaks.leak(of: sample.hiddenPart, in: shown)
            #expect(leak == nil, "\(sample.kind): \(leak ?? "") in \(shown)")
        }
        #expect(sink.records.count == Self.samples.count)
    }

    @Test func `credentials that a service repeats aren't in the record`() async throws {
        let sink = CollectingSink()
        let logger = RemoteLogger(label: "calls", pipeline: LogPipeline(sinks: [sink], clock: ManualLogClock()), minimumLevel: .trace)
        let secret = "zq81-opaque-77"
        let stub = StubTransport()
        stub.fallback(
            StubAnswer { recorded in
                TransportResponse(
                    status: 200, headers: ["Content-Type": "text/plain", "Server": secret], url: recorded.request.url,
                    body: ResponseBody(Data("The key \(secret) is known.".utf8)))
            })
        let providers: [any AuthenticationProvider] = [
            BearerTokenProvider(token: secret), APIKeyProvider(header: "X-Key", key: secret),
            BasicAuthenticationProvider(user: "ada", password: secret),
        ]
        for provider in providers {
            let client = WebServiceClient(serviceRoot: "https://h.test") {
                $0.transport = stub
                $0.interceptors = [CallLogger(logger, logsHeaders: true, bodyLimit: 10_000)]
                $0.authenticationProvider = provider
            }
            _ = try await client.http.get("/x").value(String.self)
            let record = try #require(sink.records.last)
            let shown = "\(record.message) \(record.metadata)"
            #expect(shown.contains("The key <masked> is known.") && !shown.contains("zq81"), "\(provider): \(shown)")
        }
    }

    @Test func `what a client calls harmless is shown`() async throws {
        let sink = CollectingSink()
        let logger = RemoteLogger(label: "calls", pipeline: LogPipeline(sinks: [sink], clock: ManualLogClock()), minimumLevel: .trace)
        let stub = StubTransport()
        stub.fallback(.text("x"))
        let client = Bot(serviceRoot: "https://h.test") {
            $0.transport = stub
            $0.interceptors = [CallLogger(logger, logsHeaders: true)]
            $0.headers = ["X-Team": "core", "X-Other": "core"]
            $0.headerRules = HeaderRules(harmless: ["X-Team"])
        }
        _ = try await client.send(token: "abcdef")
        guard case .dictionary(let fields)? = sink.records.last?.metadata["http.request.header"] else { throw CancellationError() }
        #expect(fields["x-team"] == "core" && fields["x-other"] == "<masked>")
        #expect(sink.records.last?.metadata["url.full"] == "https://h.test/bot<masked>/send")
    }

    @Test func `shippers and their environment show no secret`() throws {
        for sample in Self.few {
            let secret = URLEncoding.pathSegment(sample.secret)
            let shipper = try LogShipper(
                to: #require(URL(string: "https://h.test/v1?token=\(secret)")), format: NDJSONFormat(), transport: StubTransport()
            ) {
                $0.headers = ["X-Honeycomb-Team": sample.secret, "Authorization": "Splunk \(sample.secret)"]
            }
            var settings = ShippingSettings()
            settings.headers = ["X-Honeycomb-Team": sample.secret]
            let environment = try OTLPEnvironment([
                "OTEL_EXPORTER_OTLP_ENDPOINT": "https://ada:\(secret)@h.test:4318/?api_key=\(secret)",
                "OTEL_EXPORTER_OTLP_HEADERS": "x-honeycomb-team=\(secret),api-key=\(secret)",
                "OTEL_RESOURCE_ATTRIBUTES": "deployment.password=\(secret)",
            ])
            let logger = RemoteLogger(label: "l", sinks: [shipper])
            let shown = [shipper, settings, environment, logger].map { SecretLeaks.texts(of: $0) }.joined()
            let leak = SecretLeaks.leak(of: sample.hiddenPart, in: shown)
            #expect(leak == nil, "\(sample.kind): \(leak ?? "") in \(shown.prefix(2_000))")
        }
    }
}

import Foundation
import RemoteLogger
import Testing
import WebServiceClient

@Suite struct OTLPEnvironmentTests {
    @Test func `without variables it is the collector on this machine`() throws {
        let environment = try OTLPEnvironment([:])
        #expect(environment.endpoint.absoluteString == "http://localhost:4318/v1/logs")
        #expect(environment.headers.isEmpty && environment.timeout == nil && environment.compresses == nil && environment.resource.isEmpty)
    }

    @Test func `variables for logs win over those for all signals`() throws {
        let environment = try OTLPEnvironment([
            "OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.example/base/", "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b, x-team = shop",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "5000", "OTEL_EXPORTER_OTLP_LOGS_TIMEOUT": "2500", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
            "OTEL_EXPORTER_OTLP_LOGS_COMPRESSION": "none", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "OTEL_SERVICE_NAME": "shop",
            "OTEL_RESOURCE_ATTRIBUTES": "service.name=other,deployment.environment.name=a%2Cb", "OTEL_BLRP_SCHEDULE_DELAY": "200",
            "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE": "64", "OTEL_EXPORTER_OTLP_CERTIFICATE": "",
        ])
        #expect(environment.endpoint.absoluteString == "https://collector.example/base/v1/logs")
        #expect(environment.headers["api-key"] == "a b" && environment.headers["X-Team"] == "shop")
        #expect(environment.timeout == .milliseconds(2_500) && environment.compresses == false)
        #expect(environment.resource == ["service.name": "shop", "deployment.environment.name": "a,b"])
        #expect(environment.interval == .milliseconds(200) && environment.batchRecords == 64)
        let own = try OTLPEnvironment(["OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://collector.example:4318"])
        #expect(own.endpoint.absoluteString == "http://collector.example:4318/")
    }

    @Test(arguments: [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector"), ("OTEL_EXPORTER_OTLP_HEADERS", "nothing"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"), ("OTEL_EXPORTER_OTLP_COMPRESSION", "lzma"), ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/key"),
        ("OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", "0"), ("OTEL_RESOURCE_ATTRIBUTES", "=x"), ("OTEL_EXPORTER_OTLP_HEADERS", "a=%zz"),
    ]) func `what can't be used is named`(name: String, value: String) {
        let error = #expect(throws: LogShipperError.self) { try OTLPEnvironment([name: value]) }
        #expect(error?.message.contains(name.replacing("CLIENT_KEY", with: "CLIENT_CERTIFICATE")) == true)
    }

    @Test(arguments: [
        ("HEADERS", "x-team=shop,Basic dXNlcjpodW50ZXIyMg==", "number 2"), ("HEADERS", "dXNl cjpodW50ZXIyMg=x", "number 1"),
        ("HEADERS", "a=b,,dXNlcjpodW50ZXIyMg=c%0Ad", "number 2"), ("HEADERS", "a=b,dXNlcjpodW50ZXIyMg", "number 2"),
        ("PROTOCOL", "dXNlcjpodW50ZXIyMg", ""), ("COMPRESSION", "dXNlcjpodW50ZXIyMg", ""), ("TIMEOUT", "dXNlcjpodW50ZXIyMg", ""),
        ("ENDPOINT", "http://dXNlcjpodW50ZXIyMg:x@host", ""), ("ENDPOINT", "dXNlcjpodW50ZXIyMg", ""),
        ("CERTIFICATE", "-----BEGIN PRIVATE KEY-----\nabc/dXNlcjpodW50ZXIyMg", ""),
    ]) func `no error quotes what may be a secret`(variable: String, value: String, place: String) throws {
        for name in ["OTEL_EXPORTER_OTLP_" + variable, "OTEL_EXPORTER_OTLP_LOGS_" + variable] {
            let error = #expect(throws: (any Error).self) {
                _ = try LogShipper(otlp: OTLPEnvironment([name: value]), transport: StubReceiver())
            }
            let text = error.map { "\($0)" } ?? ""
            #expect(!text.contains("dXNl") && !text.contains("Basic"), "\(text)")
            #expect((place.isEmpty || text.contains(place)) && (text.contains(name) || variable == "ENDPOINT"), "\(text)")
        }
    }

    @Test func `files of certificates become trust`() async throws {
        let certificates = try await TLSCertificates.make()
        defer { certificates.remove() }
        let files = [
            "CERTIFICATE": certificates.path("root.pem"), "CLIENT_CERTIFICATE": certificates.path("client.pem"),
            "CLIENT_KEY": certificates.path("client.key"),
        ]
        for prefix in ["OTEL_EXPORTER_OTLP_", "OTEL_EXPORTER_OTLP_LOGS_"] {
            func trust(_ names: String...) throws -> TrustPolicy? {
                try OTLPEnvironment(Dictionary(uniqueKeysWithValues: names.map { (prefix + $0, files[$0] ?? "") })).trust
            }
            #expect(try trust("CERTIFICATE") == certificates.trust())
            #expect(try trust("CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY") == certificates.trust(asClient: true))
            let identity = try certificates.trust(asClient: true).identity
            #expect(try identity != nil && trust("CLIENT_CERTIFICATE", "CLIENT_KEY") == TrustPolicy(identity: identity))
        }
        // The variable for logs takes precedence.
        let environment = try OTLPEnvironment([
            "OTEL_EXPORTER_OTLP_CERTIFICATE": certificates.path("other.pem"),
            "OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE": certificates.path("root.pem"),
        ])
        #expect(try environment.trust == certificates.trust() && certificates.trust() != certificates.trust("other"))
        #expect(environment.trust?.faults == [])
    }

    @Test func `a shipper is made of it`() async throws {
        let receiver = StubReceiver()
        let environment = try OTLPEnvironment([
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://receiver.test", "OTEL_EXPORTER_OTLP_HEADERS": "x-team=shop", "OTEL_SERVICE_NAME": "shop",
        ])
        let shipper = try LogShipper(otlp: environment, transport: receiver) { $0.compression = .none }
        shipper.write(.sample())
        #expect(await shipper.shutdown(within: .seconds(300)))
        let request = try #require(receiver.requests.first)
        #expect(request.url.absoluteString == "http://receiver.test/v1/logs" && request.headers["X-Team"] == "shop")
        #expect(String(decoding: receiver.bodies[0], as: UTF8.self).contains("service.name"))
    }
}

import Foundation
import RemoteLogger
import Testing
import WebServiceClient

// The samples of the DocC articles, with identical code: a sample that doesn't compile here is wrong there.

@Suite struct DocumentationSampleTests {
    @Test func `the samples about redaction compile and mask`() {
        let shipper = CollectingSink()
        let redaction = LogRedaction(
            alsoHiding: ["iban"], exceptFor: ["code"],
            rules: RedactionRule.standard + [.emailAddresses, .prefix("acme_", atLeast: 20)])
        let logger = RemoteLogger(label: "shop", sinks: [shipper], redaction: redaction)
        logger.info("mail ada@x.example", ["iban": "DE1", "code": 7])
        #expect(shipper.records.first?.message == "mail <masked>" && shipper.records.first?.metadata == ["iban": "<masked>", "code": 7])
    }

    @Test func `the samples about receivers compile`() throws {
        let (server, cluster, collector, key) = (try Harness.endpoint(), try Harness.endpoint(), try Harness.endpoint(), "k")
        let loki = try LogShipper(to: LokiFormat.pushURL(of: server), format: LokiFormat(labels: ["app": "shop", "env": "production"]))

        let elastic = try LogShipper(
            to: ElasticsearchFormat.bulkURL(of: cluster), format: ElasticsearchFormat(index: "logs-shop-production")
        ) {
            $0.headers[.authorization] = "ApiKey " + key
        }

        let splunk = try LogShipper(to: SplunkFormat.eventURL(of: collector), format: SplunkFormat(index: "main", acknowledges: true)) {
            $0.headers[.authorization] = "Splunk " + key
        }

        let datadog = try LogShipper(to: DatadogFormat.intakeURL(site: "datadoghq.eu"), format: DatadogFormat(service: "shop")) {
            $0.headers["DD-API-KEY"] = key
        }

        let syslog = try LogShipper(toSyslog: SyslogReceiver(host: "logs.example.com"), format: SyslogFormat(application: "shop"))
        func secure(_ authority: Certificate, _ identity: ClientIdentity) throws -> LogShipper {
            let secure = try LogShipper(toSyslog: .tls(host: "logs.example.com"), format: SyslogFormat(application: "shop")) {
                $0.trust = TrustPolicy(authorities: .only([authority]), identity: identity)
            }
            return secure
        }
        _ = secure
        let environment = try LogShipper(otlp: OTLPEnvironment([:]), resource: ["service.name": "shop"])
        let shipper = try LogShipper(to: collector, format: OTLPFormat()) {
            $0.deadLetters = DeadLetters(file: URL(filePath: "/var/log/shop/refused.ndjson"))
        }
        let quick = try LogShipper(to: collector, format: OTLPFormat()) { $0.maximumRequestsInFlight = 4 }
        for shipper in [loki, elastic, splunk, datadog, syslog, environment, shipper, quick] { #expect(shipper.statistics.emitted == 0) }
    }

    @Test func `the samples about writers compile`() async throws {
        let folder = URL.temporaryDirectory.appending(path: "samples-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let (collector, archive) = (try Harness.endpoint(), try Harness.endpoint())
        let spool = Spool(directory: folder.appending(path: "spool"))
        let logger = try RemoteLogger(
            label: "shop",
            destinations: [
                .http("collector", to: collector, format: OTLPFormat(resource: ["service.name": "shop"])),
                .http("archive", to: archive, format: NDJSONFormat()) { $0.minimumLevel = .warning },
            ],
            spool: spool,
            sinks: [
                ConsoleSink(minimumLevel: .notice).filtered { !$0.label.hasPrefix("shop.cache") },
                FileSink(folder.appending(path: "shop.log"), rotation: .daily(files: 14), formatter: .ndjson),
            ])
        let audit = LogDestination.http("audit", to: archive, format: NDJSONFormat()) {
            $0.includes = { $0.label.hasPrefix("shop.audit") }
        }
        let transport = StubReceiver()
        let shipped = LogDestination.http("collector", to: collector, format: OTLPFormat(), transport: transport) {
            $0.includes = { !$0.label.hasPrefix("org.swift-server.async-http-client") }
        }
        #expect(audit.name == "audit" && shipped.name == "collector")
        #expect(logger.pipeline.shippers.count == 2 && logger.pipeline.health.isGood)
        await logger.shutdown(within: .zero)
    }
}

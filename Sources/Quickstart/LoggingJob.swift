import Foundation
import OData
import RemoteLogger
import WebServiceClient

/// The third job: shipping log records to a receiver.
struct LoggingJob {
    let service: EmbeddedService

    func run() async throws {
        guard let receiver = URL(string: service.url + "/logs") else { throw QuickstartError("\(service.url) isn't a URL.") }

        // A shipper collects records and sends them in batches, with retries until the receiver acknowledges them. This format writes one
        // JSON object per line; OTLPFormat writes the format of OpenTelemetry collectors.
        let shipper = try LogShipper(to: receiver, format: NDJSONFormat()) {
            // The embedded receiver doesn't decompress gzip, the default.
            $0.compression = .none
        }
        let logger = RemoteLogger(label: "shop", sinks: [shipper])

        // A record has a level, a message and typed values. Values with secret names are masked before they are stored.
        logger.info("The shop is open", ["products": service.productCount])
        logger.debug("Not logged: the logger's level is info")

        // A child logger adds values to each of its records.
        let order = logger.with(["order": 1003])
        order.notice("A large order", ["pieces": 40, "password": "in no log"])
        order.error("The payment failed", error: QuickstartError("The card has expired."))

        // As an interceptor, the call logger writes a record for each call of a client, with credentials masked.
        let catalogue = Catalogue(serviceRoot: service.url + "/shop") {
            $0.interceptors = [CallPrinter(), CallLogger(logger.with(label: "shop.calls"))]
            $0.authenticationProvider = BasicAuthenticationProvider(user: EmbeddedService.user, password: EmbeddedService.password)
        }
        _ = try await catalogue.account()

        // Logging never waits. Before a program exits, it gives the shipper time to deliver the remaining records.
        let isDelivered = await logger.shutdown(within: .seconds(5))

        let records = try service.receivedLogLines.map { try JSONDecoder().decode(ReceivedRecord.self, from: Data($0.utf8)) }
        print("\n  The receiver has \(records.count) records:\n")
        for record in records { print(record) }

        // The statistics account for every record.
        let statistics = shipper.statistics
        print("\n  \(statistics.emitted) records logged, \(statistics.delivered) delivered, \(statistics.droppedInAll) dropped.")
        guard isDelivered, records.count == 4 else { throw QuickstartError("Four records should have arrived.") }
    }
}

/// A received record. `DynamicEntity` reads any JSON object.
private struct ReceivedRecord: Decodable, CustomStringConvertible {
    let level: String
    let label: String
    let message: String
    let error: String?
    let metadata: DynamicEntity?

    var description: String {
        let level = level.padding(toLength: 8, withPad: " ", startingAt: 0)
        let label = label.padding(toLength: 11, withPad: " ", startingAt: 0)
        var lines = ["  \(level)\(label)\(message)"]
        if let error { lines.append("error: " + error) }
        lines += metadata?.properties.map { "\($0.name): \($0.value.shown)" } ?? []
        return lines.joined(separator: "\n" + String(repeating: " ", count: 21))
    }
}

public import Foundation

/// OTLP/HTTP with JSON bodies (OpenTelemetry protocol 1.11): what collectors and most log services take.
///
///     OTLPFormat(resource: ["service.name": "shop", "deployment.environment.name": "production"])
///
/// A record becomes a `LogRecord`: the message is its body, the logger's label its scope, the metadata its attributes. Beside them
/// there are `log.record.uid` (the record's id), `log.record.sequence`, `code.file.path`, `code.function.name`, `code.line.number`
/// and, with an error, `exception.message`. Attribute keys are unique: metadata under one of these names that the record uses itself gets `_` at
/// the end of its name. What is above ``maximumAttributes`` is left out and counted in `droppedAttributesCount`.
///
/// A `partialSuccess` in the answer says how many records were refused for good. Only 429, 502, 503 and 504 are tried again; 408, 500 and what
/// other 5xx there are are final, as the protocol demands. All other statuses mean what they usually mean: see <doc:Receivers>.
public struct OTLPFormat: LogFormat {
    /// What sends the records: attributes such as `service.name`.
    public var resource: LogMetadata
    /// The version of the instrumentation scopes, if they have one.
    public var scopeVersion: String?
    /// The severity number of ``LogLevel/critical``: 18 unless set, which is the specification's for syslog's "critical"; 21 is "fatal".
    public var criticalSeverity = 18
    /// The most attributes of a record: 128 unless set, the usual limit.
    public var maximumAttributes = 128
    /// The most bytes of a body before compression: 4 MiB unless set. The protocol allows 64 MiB, some receivers take no more than 4.
    public var maximumBodyBytes = 4 << 20

    /// `application/json`.
    public var contentType: String { "application/json" }

    /// The format, for records of a resource.
    public init(resource: LogMetadata = LogMetadata(), scopeVersion: String? = nil) {
        self.resource = resource
        self.scopeVersion = scopeVersion
    }

    /// Where a collector takes logs: its base URL with `v1/logs` behind it.
    public static func logsURL(ofCollector base: URL) -> URL {
        base.appending(path: "v1/logs")
    }

    /// An `ExportLogsServiceRequest` of one resource, whose scopes are the records' labels in the order of their first records.
    public func encode(_ records: [LogRecord]) throws -> Data {
        var writer = OTLPWriter(format: self)
        // About what the attributes' frames add; a guess too small costs a copy, one too large only addresses.
        writer.text.reserve(records.reduce(512) { $0 + 512 + $1.footprint })
        writer.writeRequest(records)
        return writer.text.data
    }

    /// Judges by status and `partialSuccess`.
    public func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict {
        switch answer.status {
        case 200..<300: Self.success(answer)
        case 413: .split
        case 429, 502, 503, 504: .retry
        case 400, 422: .isolate(reason: Self.message(of: answer))
        case _ where answer.asksForOtherSettings: .pause(reason: Self.message(of: answer))
        default: .reject(reason: Self.message(of: answer))
        }
    }

    /// A body that isn't what the protocol says doesn't turn success into failure: sending again would only make duplicates.
    private static func success(_ answer: ReceiverAnswer) -> DeliveryVerdict {
        guard let body = try? JSONSerialization.jsonObject(with: answer.body) as? [String: Any],
            let partial = body["partialSuccess"] as? [String: Any]
        else { return .delivered() }
        let reason = partial["errorMessage"] as? String ?? ""
        // A 64-bit integer is a string in OTLP's JSON; a number is taken, too.
        let said = partial["rejectedLogRecords"]
        let rejected = (said as? String).flatMap { Int($0) } ?? (said as? NSNumber)?.intValue ?? 0
        if rejected > 0 { return .partiallyRejected(records: min(rejected, answer.records), reason: reason) }
        return .delivered(remark: reason.isEmpty ? nil : reason)
    }

    /// The message of the `Status` that errors come with, or the beginning of whatever came.
    private static func message(of answer: ReceiverAnswer) -> String {
        let status = try? JSONSerialization.jsonObject(with: answer.body) as? [String: Any]
        return status?["message"] as? String ?? answer.excerpt
    }
}

import Foundation
import RemoteLogger
import WebServiceClient

/// The parsers of RemoteLogger.
extension ParserTarget {
    func runRemoteLogger(_ text: String, _ data: Data) {
        switch self {
        case .redaction:
            let masked = LogRedaction.standard.masked(text)
            check(masked.utf8.count <= text.utf8.count * 8 + 8, "\(text.debugDescription) grows too much")
            _ = LogRedaction.standard.masked(["text": text, "data": data] as LogMetadata)
        case .spoolSegment:
            _ = SpoolSegment(data)
            // A checksum keeps random bytes from the reader of payloads, so it is called directly.
            guard let record = SpoolSegment.record(ofPayload: data) else { return }
            let payload = SpoolSegment.payload(of: record)
            check(SpoolSegment.record(ofPayload: payload).map(SpoolSegment.payload) == payload, "a record doesn't come back")
        case .receiverAnswer:
            // The first byte chooses the status, since bodies are read only for some.
            let status = [200, 202, 400, 404, 429, 503][Int(data.first ?? 0) % 6]
            let answer = ReceiverAnswer(status: status, body: Data(data.dropFirst()), records: 3)
            for format in Self.formats { _ = format.judge(answer) }
            check(Self.splunk.acknowledged(of: ["0", "1"], answer).isSubset(of: ["0", "1"]), "an unrequested ticket")
        case .traceContext:
            guard let context = TraceContext(traceparent: text) else { return }
            check(TraceContext(traceID: context.traceID, spanID: context.spanID, flags: context.flags) == context, "a trace is lost")
        default:
            return
        }
    }

    private static let splunk = SplunkFormat(acknowledges: true)
    private static let formats: [any LogFormat] = [
        ElasticsearchFormat(index: "logs"), OTLPFormat(), splunk, LokiFormat(labels: ["app": "a"]), DatadogFormat(service: "a"),
        GELFFormat(host: "a"), NDJSONFormat(),
    ]
}

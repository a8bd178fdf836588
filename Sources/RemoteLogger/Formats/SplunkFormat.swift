public import Foundation
public import WebServiceClient

/// Splunk's HTTP Event Collector, with indexer acknowledgement if the token has it.
///
///     let format = SplunkFormat(index: "main", source: "shop", sourceType: "_json", acknowledges: true)
///     let shipper = try LogShipper(to: SplunkFormat.eventURL(of: collector), format: format) {
///         $0.headers[.authorization] = "Splunk " + token
///     }
///
/// A record becomes an event: an object with message, level, logger, error, id and the like, and the metadata below `metadata`. With
/// ``acknowledges`` a batch counts as delivered only when Splunk says that it is indexed: it is asked each second at `services/collector/ack`, and
/// after five minutes without a yes the batch is sent again, then after ten, and so on.
///
/// When an event is invalid, Splunk tells its number: those before it are stored, it is dropped, and the others are sent again; with
/// ``acknowledges`` those before it are, too, since nobody can ask whether they were indexed. Wrong tokens, channels and indexes pause. All other
/// statuses mean what they usually mean: see <doc:Receivers>.
public struct SplunkFormat: AcknowledgingLogFormat {
    /// The index; `nil` for the token's own.
    public var index: String?
    /// The event's `source`.
    public var source: String?
    /// The event's `sourcetype`.
    public var sourceType: String?
    /// The event's `host`.
    public var host: String?
    /// Whether the token has indexer acknowledgement.
    public let acknowledges: Bool
    /// The channel, which Splunk needs for acknowledgements.
    public let channel: UUID
    /// The most bytes of a body: 1 MiB unless set.
    public var maximumBodyBytes = 1 << 20
    /// One second unless set.
    public var acknowledgementInterval = Duration.seconds(1)
    /// Five minutes unless set.
    public var acknowledgementTimeout = Duration.seconds(300)

    /// `application/json`.
    public var contentType: String { "application/json" }
    /// The channel, if there are acknowledgements.
    public var headers: HTTPFields { acknowledges ? [Self.channelField: channel.uuidString] : [:] }

    private static let channelField: HTTPFields.Name = "X-Splunk-Request-Channel"

    /// The format.
    public init(
        index: String? = nil, source: String? = nil, sourceType: String? = nil, host: String? = nil, acknowledges: Bool = false,
        channel: UUID = UUID()
    ) {
        self.index = index
        self.source = source
        self.sourceType = sourceType
        self.host = host
        self.acknowledges = acknowledges
        self.channel = channel
    }

    /// Where a collector takes events: its base URL with `services/collector/event` behind it.
    public static func eventURL(of base: URL) -> URL {
        base.appending(path: "services/collector/event")
    }

    /// One object for each record, one behind the other.
    public func encode(_ records: [LogRecord]) throws -> Data {
        var text = JSONText()
        text.reserve(records.count * 420)
        for record in records {
            text.raw("{\"time\":")
            text.integer(record.time / 1_000_000_000)
            text.byte(".")
            text.padded(Int(record.time % 1_000_000_000), digits: 9)
            text.optional(",\"host\":", host)
            text.optional(",\"source\":", source)
            text.optional(",\"sourcetype\":", sourceType)
            text.optional(",\"index\":", index)
            text.raw(",\"event\":")
            NDJSONFormat.write(record, into: &text)
            text.raw("}\n")
        }
        return text.data
    }

    /// Judges by the status and Splunk's own code.
    public func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict {
        let body = (try? JSONSerialization.jsonObject(with: answer.body)) as? [String: Any]
        let code = (body?["code"] as? NSNumber)?.intValue
        let reason = body?["text"] as? String ?? answer.excerpt
        switch (answer.status, code) {
        case (200..<300, _):
            guard acknowledges else { return .delivered() }
            // Splunk has it, and without the ticket nobody can ask for it.
            if answer.bodyFault == .brokeOff { return .retry }
            if answer.bodyFault == .tooLarge { return .pause(reason: ReceiverAnswer.tooLargeText) }
            guard let ticket = (body?["ackId"] as? NSNumber)?.int64Value, ticket >= 0 else {
                return .pause(reason: "it gives no ackId: switch acknowledgement on for the token, or off for the format")
            }
            return .accepted(ticket: String(ticket))
        case (413, _): return .split
        case (_, 9): return .retry
        case (400, 6), (400, 12), (400, 13), (400, 15):
            let number = (body?["invalid-event-number"] as? NSNumber)?.intValue
            return verdict(invalid: number, of: answer.records, reason)
        // Token, index, channel, acknowledgement: the settings aren't right.
        case (_, 1), (_, 2), (_, 3), (_, 4), (_, 7), (_, 10), (_, 11), (_, 14): return .pause(reason: reason)
        case (400, _), (422, _): return .isolate(reason: reason)
        case _ where answer.asksForOtherSettings: return .pause(reason: reason)
        default: return answer.usualVerdict
        }
    }

    /// The events before the invalid one are stored, those behind it aren't. Stored isn't indexed, and there is no ticket to ask by.
    private func verdict(invalid number: Int?, of count: Int, _ reason: String) -> DeliveryVerdict {
        guard let number, (0..<count).contains(number) else { return .isolate(reason: reason) }
        let before: RecordVerdict = acknowledges ? .retry : .delivered
        return .each((0..<count).map { $0 < number ? before : $0 == number ? .rejected(reason: reason) : .retry })
    }

    /// A query of `services/collector/ack`, whichever of Splunk's paths takes the events, also behind a path of a proxy. The query of the endpoint
    /// goes along, since a token may stand in it.
    public func acknowledgementQuery(for tickets: [String], endpoint: URL) -> AcknowledgementQuery {
        let body = Data("{\"acks\":[\(tickets.joined(separator: ","))]}".utf8)
        guard var parts = URLComponents(url: endpoint, resolvingAgainstBaseURL: true) else {
            return AcknowledgementQuery(url: endpoint, headers: headers, body: body)
        }
        parts.percentEncodedPath = Self.acknowledgementPath(beside: parts.percentEncodedPath)
        parts.fragment = nil
        let items = parts.percentEncodedQueryItems ?? []
        // The receiver takes the channel from there, or from the header field: it must be the one that came with the events.
        if !items.contains(where: { $0.name == "channel" }) {
            parts.percentEncodedQueryItems = items + [URLQueryItem(name: "channel", value: channel.uuidString)]
        }
        return AcknowledgementQuery(url: parts.url ?? endpoint, headers: headers, body: body)
    }

    /// The paths that take events below `services/collector`, as Splunk documents them.
    private static let takers = [["event"], ["event", "1.0"], ["raw"], ["raw", "1.0"], ["mint"], ["mint", "1.0"], ["ack"], ["1.0"]]

    private static func acknowledgementPath(beside path: String) -> String {
        let parts = path.split(separator: "/")
        let collector = parts.indices.last { $0 > 0 && parts[$0] == "collector" && parts[$0 - 1] == "services" }
        // A proxy may have another name for the collector: then what is known of the end goes.
        let rest = takers.filter { parts.suffix($0.count).map(String.init) == $0 }.map(\.count).max()
        let base = parts.prefix(collector.map { $0 + 1 } ?? parts.count - (rest ?? 0))
        return "/" + (base + ["ack"]).joined(separator: "/")
    }

    /// The tickets that are true in the answer.
    public func acknowledged(of tickets: [String], _ answer: ReceiverAnswer) -> Set<String> {
        guard (200..<300).contains(answer.status),
            let body = (try? JSONSerialization.jsonObject(with: answer.body)) as? [String: Any], let acks = body["acks"] as? [String: Any]
        else { return [] }
        return Set(tickets.filter { acks[$0] as? Bool ?? false })
    }
}

public import Foundation
public import HTTPTransport

/// Splunk's HTTP Event Collector, with indexer acknowledgement if the token has it.
///
///     let format = SplunkFormat(index: "main", source: "shop", sourceType: "_json", acknowledges: true)
///     let shipper = try LogShipper(to: SplunkFormat.eventURL(of: collector), format: format) {
///         $0.headers[.authorization] = "Splunk " + token
///     }
///
/// A record becomes an event: an object with message, level, logger, error, id and similar values, and the metadata below `metadata`. With
/// ``acknowledges`` a batch counts as delivered only after Splunk confirms that it is indexed: the shipper polls `services/collector/ack`
/// each second, and after five minutes without confirmation sends the batch again, then after ten, and so on.
///
/// If an event is invalid, Splunk gives its number: the events before it are stored, the invalid one is dropped, and the others are sent
/// again. With ``acknowledges`` the events before it are sent again, too, since their indexing can't be confirmed. Wrong tokens, channels
/// and indexes pause. All other statuses have their usual meaning: see <doc:Receivers>.
public struct SplunkFormat: AcknowledgingLogFormat {
    /// The index; `nil` for the token's default.
    public var index: String?
    /// The event's `source`.
    public var source: String?
    /// The event's `sourcetype`.
    public var sourceType: String?
    /// The event's `host`.
    public var host: String?
    /// Whether the token has indexer acknowledgement.
    public let acknowledges: Bool
    /// The channel, which Splunk requires for acknowledgements.
    public let channel: UUID
    /// The maximum number of bytes of a body. The default is 1 MiB.
    public var maximumBodyBytes = 1 << 20
    /// The time between polls. The default is one second.
    public var acknowledgementInterval = Duration.seconds(1)
    /// The time without confirmation before a batch is sent again. The default is five minutes.
    public var acknowledgementTimeout = Duration.seconds(300)

    /// `application/json`.
    public var contentType: String { "application/json" }
    /// The channel, with ``acknowledges``.
    public var headers: HTTPFields { acknowledges ? [Self.channelField: channel.uuidString] : [:] }

    private static let channelField: HTTPFields.Name = "X-Splunk-Request-Channel"

    /// Creates a format.
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

    /// The event URL of a collector: its base URL followed by `services/collector/event`.
    public static func eventURL(of base: URL) -> URL {
        base.appending(path: "services/collector/event")
    }

    /// Writes one object after the other, one for each record.
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

    /// Splunk's codes of faults in the token, the index, the channel, the acknowledgement or the query of the URL: the settings are wrong.
    private static let ofSettings: Set<Int> = [1, 2, 3, 4, 7, 10, 11, 14, 16, 21, 22]

    /// Judges by the status and Splunk's own code.
    public func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict {
        let body = (try? JSONSerialization.jsonObject(with: answer.body)) as? [String: Any]
        let code = (body?["code"] as? NSNumber)?.intValue
        let reason = (body?["text"] as? String).map { ReceiverAnswer.excerpt(of: $0) } ?? answer.excerpt
        switch (answer.status, code) {
        case (200..<300, _):
            guard acknowledges else { return answer.usualVerdict }
            // Splunk has the batch, but without the ticket its indexing can't be confirmed.
            if answer.bodyFault == .brokeOff { return .retry }
            if answer.bodyFault == .tooLarge { return .pause(reason: ReceiverAnswer.tooLargeText) }
            guard let ticket = (body?["ackId"] as? NSNumber)?.int64Value, ticket >= 0 else {
                return .pause(reason: "its answer has no ackId: enable acknowledgement for the token, or disable it for the format")
            }
            return .accepted(ticket: String(ticket))
        case (413, _): return .split
        case (_, 9): return .retry
        case (400, 6), (400, 12), (400, 13), (400, 15):
            let number = (body?["invalid-event-number"] as? NSNumber)?.intValue
            return verdict(invalid: number, of: answer.records, reason)
        case (400..<500, let code?) where Self.ofSettings.contains(code): return .pause(reason: reason)
        case (400, _), (422, _): return .isolate(reason: reason)
        case _ where answer.asksForOtherSettings: return .pause(reason: reason)
        default: return answer.usualVerdict
        }
    }

    /// The events before the invalid one are stored, those after it aren't. Stored doesn't mean indexed, and there is no ticket to poll
    /// with.
    private func verdict(invalid number: Int?, of count: Int, _ reason: String) -> DeliveryVerdict {
        guard let number, (0..<count).contains(number) else { return .isolate(reason: reason) }
        let before: RecordVerdict = acknowledges ? .retry : .delivered
        return .each((0..<count).map { $0 < number ? before : $0 == number ? .rejected(reason: reason) : .retry })
    }

    /// Returns a query of `services/collector/ack` for any of Splunk's event paths, including those below a proxy's path. It keeps the
    /// query of the endpoint, which may contain a token.
    public func acknowledgementQuery(for tickets: [String], endpoint: URL) -> AcknowledgementQuery {
        let body = Data("{\"acks\":[\(tickets.joined(separator: ","))]}".utf8)
        guard var parts = URLComponents(url: endpoint, resolvingAgainstBaseURL: true) else {
            return AcknowledgementQuery(url: endpoint, headers: headers, body: body)
        }
        parts.percentEncodedPath = Self.acknowledgementPath(for: parts.percentEncodedPath)
        parts.fragment = nil
        let items = parts.percentEncodedQueryItems ?? []
        // The receiver reads the channel from the query or the header field: it must be the channel of the events.
        if !items.contains(where: { $0.name == "channel" }) {
            parts.percentEncodedQueryItems = items + [URLQueryItem(name: "channel", value: channel.uuidString)]
        }
        return AcknowledgementQuery(url: parts.url ?? endpoint, headers: headers, body: body)
    }

    /// The paths below `services/collector` that accept events, as Splunk documents them.
    private static let takers = [["event"], ["event", "1.0"], ["raw"], ["raw", "1.0"], ["mint"], ["mint", "1.0"], ["ack"], ["1.0"]]

    private static func acknowledgementPath(for path: String) -> String {
        let parts = path.split(separator: "/")
        let collector = parts.indices.last { $0 > 0 && parts[$0] == "collector" && parts[$0 - 1] == "services" }
        // A proxy may rename the collector: then only the known end of the path is removed.
        let rest = takers.filter { parts.suffix($0.count).map(String.init) == $0 }.map(\.count).max()
        let base = parts.prefix(collector.map { $0 + 1 } ?? parts.count - (rest ?? 0))
        return "/" + (base + ["ack"]).joined(separator: "/")
    }

    /// Returns the tickets that are true in the answer.
    public func acknowledged(of tickets: [String], _ answer: ReceiverAnswer) -> Set<String> {
        guard (200..<300).contains(answer.status),
            let body = (try? JSONSerialization.jsonObject(with: answer.body)) as? [String: Any], let acks = body["acks"] as? [String: Any]
        else { return [] }
        return Set(tickets.filter { acks[$0] as? Bool ?? false })
    }
}

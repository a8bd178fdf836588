public import Foundation

/// The bulk interface of Elasticsearch and OpenSearch.
///
///     let format = ElasticsearchFormat(index: "logs-shop-production", fields: ["service": ["name": "shop"] as LogMetadata])
///     let shipper = try LogShipper(to: ElasticsearchFormat.bulkURL(of: cluster), format: format) {
///         $0.headers[.authorization] = "ApiKey " + key
///     }
///
/// A record is created under its own id: sent twice, it is there once, as the second one is answered 409, which counts as success. Data
/// streams take it, too. Its fields are those of the Elastic Common Schema: `@timestamp`, `message`, `log.level`, `log.logger`,
/// `error.message`, `trace.id`, `event.id`; its metadata is the object `metadata`.
///
/// Each record's fate is in the answer: 2xx and 409 are done, 429 and 5xx are sent again, by themselves; 401 and 403, as of an index that is blocked
/// or a role that may not write, keep the records and pause; everything else is final. Of the
/// answers as a whole 408, 429 and every 5xx but 501 is tried again; 413 splits; 400 looks for the record in question; 401, 403, 407 and
/// redirects pause; the rest is final. When the body of a 2xx doesn't come whole, the same bytes are sent again.
public struct ElasticsearchFormat: LogFormat {
    /// The index or data stream; `nil` when the URL names it.
    public let index: String?
    /// What every document says beside the record.
    public var fields: LogMetadata
    /// The most bytes of a body: 5 MiB unless set.
    public var maximumBodyBytes = 5 << 20

    /// `application/x-ndjson`.
    public var contentType: String { "application/x-ndjson" }

    /// The format, for an index or data stream.
    public init(index: String?, fields: LogMetadata = LogMetadata()) {
        self.index = index
        self.fields = fields
    }

    /// Where a cluster takes bulks, told to keep its answers short.
    public static func bulkURL(of base: URL) -> URL {
        base.appending(path: "_bulk").appending(queryItems: [
            URLQueryItem(name: "filter_path", value: "errors,items.*.status,items.*.error.type,items.*.error.reason")
        ])
    }

    /// Two lines for each record: that it be created, and the document.
    public func encode(_ records: [LogRecord]) throws -> Data {
        var text = JSONText()
        text.reserve(records.count * 512)
        for record in records {
            text.raw("{\"create\":{")
            if let index {
                text.raw("\"_index\":")
                text.string(index)
                text.byte(",")
            }
            text.raw("\"_id\":\"")
            text.hexadecimal(record.id.high, record.id.low)
            text.raw("\"}}\n{\"@timestamp\":\"")
            TimestampText.write(nanoseconds: record.time, into: &text)
            text.raw("\",\"message\":")
            text.string(record.message)
            writeLog(of: record, into: &text)
            text.raw(",\"event\":{\"id\":\"")
            text.hexadecimal(record.id.high, record.id.low)
            text.raw("\",\"sequence\":")
            text.integer(record.sequence)
            text.byte("}")
            text.optional(",\"trace\":{\"id\":", record.trace?.traceID, "}")
            text.optional(",\"span\":{\"id\":", record.trace?.spanID, "}")
            text.optional(",\"error\":{\"message\":", record.error, "}")
            if !record.metadata.isEmpty {
                text.raw(",\"metadata\":")
                text.members(Self.finite(record.metadata))
            }
            for pair in fields where !Self.own.contains(pair.key) {
                text.byte(",")
                text.string(pair.key)
                text.byte(":")
                text.value(pair.value)
            }
            text.raw("}\n")
        }
        return text.data
    }

    private static let own: Set<String> = ["@timestamp", "message", "log", "event", "trace", "span", "error", "metadata"]

    private func writeLog(of record: LogRecord, into text: inout JSONText) {
        text.raw(",\"log\":{\"level\":")
        text.string(record.level.description)
        text.optional(",\"logger\":", record.label.isEmpty ? nil : record.label)
        if let source = record.source {
            text.raw(",\"origin\":{\"file\":{\"name\":")
            text.string(source.file)
            text.raw(",\"line\":")
            text.integer(UInt64(source.line))
            text.raw("},\"function\":")
            text.string(source.function)
            text.byte("}")
        }
        text.byte("}")
    }

    /// A field of numbers takes no texts: NaN and the infinities are nulls here. Nor is there a field without a name, or with a part without one.
    private static func finite(_ metadata: LogMetadata, depth: Int = 0) -> LogMetadata {
        let isNamed = metadata.allSatisfy { isName($0.key) }
        var names = isNamed ? [] : Set(metadata.map(\.key))
        return LogMetadata(
            metadata.map { pair in
                let key = isName(pair.key) ? pair.key : name(pair.key, besides: &names)
                return (key, finite(pair.value, depth: depth))
            })
    }

    private static func isBlank(_ part: some StringProtocol) -> Bool { part.allSatisfy(\.isWhitespace) }

    /// Elasticsearch takes a name apart at its dots.
    private static func isName(_ name: String) -> Bool {
        let bytes = name.utf8
        // Mostly there is nothing to look at.
        guard bytes.contains(UInt8(ascii: ".")) || bytes.first ?? 0x20 <= 0x20 || bytes.first ?? 0 >= 0x80 else { return true }
        return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { !isBlank($0) }
    }

    /// A name like that one, and like none that is there already.
    private static func name(_ name: String, besides names: inout Set<String>) -> String {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        var result = parts.map { isBlank($0) ? "_" : String($0) }.joined(separator: ".")
        while !names.insert(result).inserted { result += "_" }
        return result
    }

    private static func finite(_ value: LogValue, depth: Int) -> LogValue {
        switch value {
        case .double(let number) where !number.isFinite: .null
        case .array(let values) where depth < LogValue.maximumDepth: .array(values.map { finite($0, depth: depth + 1) })
        case .dictionary(let values) where depth < LogValue.maximumDepth: .dictionary(finite(values, depth: depth + 1))
        default: value
        }
    }

    /// Judges by the status, then record by record.
    public func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict {
        switch answer.status {
        case 200..<300: Self.success(answer)
        default: answer.usualVerdict
        }
    }

    private static func success(_ answer: ReceiverAnswer) -> DeliveryVerdict {
        // Without its body an answer tells nothing; ids make it safe to ask again, for less where it is too long.
        if answer.bodyFault == .tooLarge { return answer.records > 1 ? .split : .pause(reason: ReceiverAnswer.tooLargeText) }
        guard let body = try? JSONSerialization.jsonObject(with: answer.body) as? [String: Any] else {
            // It was cut where nobody could notice, or somebody else has answered: a proxy that wants a password, for one.
            guard answer.body.first ?? UInt8(ascii: "{") == UInt8(ascii: "{") else {
                return .pause(reason: "its answer can't be read: \(answer.excerpt)")
            }
            return .retry
        }
        if body["errors"] as? Bool == false { return .delivered() }
        guard let items = body["items"] as? [[String: Any]] else { return .isolate(reason: "its answer has no items") }
        let verdicts = items.map { item in
            guard let result = item.values.first as? [String: Any] else { return RecordVerdict.retry }
            return verdict(of: result)
        }
        return .each(verdicts)
    }

    private static func verdict(of result: [String: Any]) -> RecordVerdict {
        switch (result["status"] as? NSNumber)?.intValue ?? 0 {
        case 200..<300, 409: return .delivered
        case 429, 500..<600, 0: return .retry
        // A receiver that lets nobody write now: 409 makes it safe to ask again.
        case 401, 403: return .pause(reason: reason(in: result))
        default: return .rejected(reason: reason(in: result))
        }
    }

    private static func reason(in result: [String: Any]) -> String {
        let error = result["error"] as? [String: Any]
        let parts = [error?["type"] as? String, error?["reason"] as? String ?? result["error"] as? String].compactMap { $0 }
        return ReceiverAnswer.excerpt(of: parts.joined(separator: ": "), characters: 300)
    }
}

public import Foundation

/// The bulk interface of Elasticsearch and OpenSearch.
///
///     let format = ElasticsearchFormat(index: "logs-shop-production", fields: ["service": ["name": "shop"] as LogMetadata])
///     let shipper = try LogShipper(to: ElasticsearchFormat.bulkURL(of: cluster), format: format) {
///         $0.headers[.authorization] = "ApiKey " + key
///     }
///
/// A record is created under its own id, so that a record that is sent twice is stored once: the second attempt is answered 409, which
/// counts as success. This works for data streams, too. The fields are those of the Elastic Common Schema: `@timestamp`, `message`,
/// `log.level`, `log.logger`, `error.message`, `trace.id`, `event.id`; the metadata is the object `metadata`.
///
/// Elasticsearch splits names at their dots, and a field is either a value or an object. If metadata has both, as in `foo` and `foo.bar`,
/// the value becomes `foo.value`; if it has two values for one field, the name of the second gets a trailing `_`. ``fields`` follow the
/// same rules with respect to the record's own fields. The index's mapping rejects documents that contradict each other individually.
///
/// The answer has a status for each record: 2xx and 409 count as delivered; 429 and 5xx are retried individually; 401, 403, 404, 405 and an
/// index, alias or pipeline that can't take any record, as well as a cluster without room for more shards, keep the records and pause;
/// everything else is final. Statuses of whole answers have their usual meaning (see <doc:Receivers>), but a 400 about the URL or the
/// index, and a 2xx without items, keep the records and pause. If the body of a 2xx is incomplete, the same bytes are sent again.
public struct ElasticsearchFormat: LogFormat {
    /// The index or data stream; `nil` if the URL names it.
    public let index: String?
    /// Fields that are added to every document.
    public var fields: LogMetadata
    /// The maximum number of bytes of a body. The default is 5 MiB.
    public var maximumBodyBytes = 5 << 20

    /// `application/x-ndjson`.
    public var contentType: String { "application/x-ndjson" }

    /// Creates a format for an index or data stream.
    public init(index: String?, fields: LogMetadata = LogMetadata()) {
        self.index = index
        self.fields = fields
    }

    /// The bulk URL of a cluster, with a filter that keeps answers short.
    public static func bulkURL(of base: URL) -> URL {
        base.appending(path: "_bulk").appending(queryItems: [
            URLQueryItem(name: "filter_path", value: "errors,items.*.status,items.*.error.type,items.*.error.reason")
        ])
    }

    /// Writes two lines for each record: the `create` action and the document.
    public func encode(_ records: [LogRecord]) throws -> Data {
        let fields = ElasticsearchFields.avoiding(Self.own, fields)
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
                text.members(ElasticsearchFields.written(record.metadata))
            }
            for pair in fields {
                text.byte(",")
                text.string(pair.key)
                text.byte(":")
                text.value(pair.value)
            }
            text.raw("}\n")
        }
        return text.data
    }

    /// The fields that every document gets from its record.
    private static let own: LogMetadata = [
        "@timestamp": "", "message": "",
        "log": ["level": "", "logger": "", "origin": ["file": ["name": "", "line": 0], "function": ""]] as LogValue,
        "event": ["id": "", "sequence": 0] as LogValue, "trace": ["id": ""] as LogValue, "span": ["id": ""] as LogValue,
        "error": ["message": ""] as LogValue, "metadata": "",
    ]

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

    /// Judges by the status, then record by record.
    public func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict {
        switch answer.status {
        case 200..<300: Self.success(answer)
        case 400: Self.refusal(answer)
        default: answer.usualVerdict
        }
    }

    private static func success(_ answer: ReceiverAnswer) -> DeliveryVerdict {
        // An answer without its body proves nothing. The ids make a retry safe; smaller batches get shorter answers.
        if answer.bodyFault == .tooLarge { return answer.records > 1 ? .split : .pause(reason: ReceiverAnswer.tooLargeText) }
        guard let body = try? JSONSerialization.jsonObject(with: answer.body) as? [String: Any] else {
            // The answer was cut unnoticed, or doesn't come from Elasticsearch: a proxy may ask for a password.
            guard answer.body.first ?? UInt8(ascii: "{") == UInt8(ascii: "{") else {
                return .pause(reason: "its answer can't be read: \(answer.excerpt)")
            }
            return .retry
        }
        if body["errors"] as? Bool == false { return .delivered() }
        guard let items = body["items"] as? [[String: Any]] else { return .pause(reason: "its answer has no items: \(answer.excerpt)") }
        let verdicts = items.map { item in
            guard let result = item.values.first as? [String: Any] else { return RecordVerdict.retry }
            return verdict(of: result)
        }
        return .each(verdicts)
    }

    /// A path that Elasticsearch doesn't know is a 400, too.
    private static func refusal(_ answer: ReceiverAnswer) -> DeliveryVerdict {
        let body = (try? JSONSerialization.jsonObject(with: answer.body)) as? [String: Any]
        return body.map(concernsSettings) == true ? .pause(reason: answer.excerpt) : answer.usualVerdict
    }

    private static func verdict(of result: [String: Any]) -> RecordVerdict {
        switch (result["status"] as? NSNumber)?.intValue ?? 0 {
        case 200..<300, 409: return .delivered
        case 429, 500..<600, 0: return .retry
        // The receiver currently refuses all writes; 409 makes a retry safe.
        case 401, 403, 404, 405: return .pause(reason: reason(in: result))
        default: return concernsSettings(result) ? .pause(reason: reason(in: result)) : .rejected(reason: reason(in: result))
        }
    }

    /// Errors that concern the index, not the record.
    private static let ofIndex: Set<String> = [
        "index_not_found_exception", "invalid_index_name_exception", "invalid_alias_name_exception", "index_closed_exception",
        "validation_exception",
    ]
    /// Beginnings of reasons that concern the cluster's limit of shards, an alias, a pipeline or the URL. Later parts of a reason may quote
    /// the record. Their error type depends on the version.
    private static let ofSettings = [
        "Validation Failed: 1: this action would add [", "this action would add [", "no write index is defined for alias",
        "pipeline with id [", "no handler found for uri",
    ]

    private static func concernsSettings(_ result: [String: Any]) -> Bool {
        let error = result["error"] as? [String: Any]
        let text = error?["reason"] as? String ?? result["error"] as? String ?? ""
        return ofIndex.contains(error?["type"] as? String ?? "") || ofSettings.contains(where: text.hasPrefix)
    }

    private static func reason(in result: [String: Any]) -> String {
        let error = result["error"] as? [String: Any]
        let parts = [error?["type"] as? String, error?["reason"] as? String ?? result["error"] as? String].compactMap { $0 }
        return ReceiverAnswer.excerpt(of: parts.joined(separator: ": "), characters: 300)
    }
}

public import Foundation

/// Loki's push interface, with JSON bodies: `/loki/api/v1/push`.
///
///     let format = LokiFormat(labels: ["app": "shop", "env": "production"])
///     let loki = try LogShipper(to: LokiFormat.pushURL(of: server), format: format) {
///         $0.headers["X-Scope-OrgID"] = "shop"
///     }
///
/// Records of one level make a stream, whose labels are ``labels`` and `level`; its lines are the messages, ordered by time. Everything
/// else, the record's id and sequence first, is structured metadata, so that records of the same time and message stay two, and a batch
/// that is sent twice is stored once.
///
/// Of the answers, any 2xx is success. After a 400 Loki has stored what it could: how many lines it refused is counted if it says so,
/// otherwise all. 413 splits; 408, 429 and every 5xx but 501 is tried again; 401, 403, 407 and redirects pause; the rest is final.
public struct LokiFormat: LogFormat {
    /// The labels of all streams: keep them few, and their values, too.
    public let labels: [(name: String, value: String)]
    /// The most bytes of a line; a longer message is cut there, and `line_bytes` tells its length. 256 KiB unless set, as Loki has it.
    public var maximumLineBytes = 256 << 10
    /// The most structured metadata of a line; `dropped_metadata` counts what is left out or cut. 128 unless set, as Loki has it.
    public var maximumMetadata = 128
    /// The most bytes of a line's structured metadata, names and values together: a value that doesn't fit is cut or left out, and counted by
    /// `dropped_metadata`. 64,000 unless set, as Loki has it. The record's id and sequence number are there in any case.
    public var maximumMetadataBytes = 64_000
    /// The most bytes of a body: 1 MiB unless set.
    public var maximumBodyBytes = 1 << 20

    /// `application/json`.
    public var contentType: String { "application/json" }

    /// The format, with labels: letters, digits and `_`, at most 14; other characters become `_`. Without any there is `service_name`.
    public init(labels: LogMetadata) {
        var named: [(name: String, value: String)] = []
        for pair in labels.prefix(14) {
            let name = Self.name(pair.key)
            guard name != "level", !named.contains(where: { $0.name == name }) else { continue }
            named.append((name, String(FlatMetadata.prefix(of: FlatMetadata.text(of: pair.value), bytes: 2_048))))
        }
        self.labels = named.isEmpty ? [("service_name", "unknown_service")] : named
    }

    /// Where a server takes logs: its base URL with `loki/api/v1/push` behind it.
    public static func pushURL(of base: URL) -> URL {
        base.appending(path: "loki/api/v1/push")
    }

    /// A push of one stream for each level.
    public func encode(_ records: [LogRecord]) throws -> Data {
        var text = JSONText()
        text.reserve(256 + records.count * 320)
        text.raw("{\"streams\":[")
        for level in LogLevel.allCases {
            var stream = records.filter { $0.level == level }
            guard !stream.isEmpty else { continue }
            // Stable, so that records of one time stay in their order.
            stream = stream.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
            text.raw("{\"stream\":{")
            for label in labels {
                text.string(label.name)
                text.byte(":")
                text.string(label.value)
                text.byte(",")
            }
            text.raw("\"level\":")
            text.string(level.description)
            text.raw("},\"values\":[")
            for record in stream { write(record, into: &text) }
            text.dropComma()
            text.raw("]},")
        }
        text.dropComma()
        text.raw("]}")
        return text.data
    }

    private func write(_ record: LogRecord, into text: inout JSONText) {
        text.raw("[\"")
        text.integer(record.time)
        text.raw("\",")
        let line = FlatMetadata.prefix(of: record.message, bytes: maximumLineBytes)
        text.string(String(line))
        text.raw(",{\"record_id\":\"")
        text.hexadecimal(record.id.high, record.id.low)
        text.raw("\",\"sequence\":\"")
        text.integer(record.sequence)
        text.byte("\"")
        var names: Set<String> = ["record_id", "sequence", "line_bytes", "dropped_metadata"]
        var left = 0
        // Those four, with the longest numbers that they may have.
        var room = maximumMetadataBytes - Self.ownMetadataBytes
        func add(_ name: String, _ whole: String) {
            let name = Self.name(name)
            let value = FlatMetadata.prefix(of: whole, bytes: max(0, room - name.utf8.count))
            let isCut = value.utf8.count < whole.utf8.count
            // Of a value nothing of which fits the name isn't written either.
            let fits = name.utf8.count <= room && (!isCut || !value.isEmpty) && names.count < maximumMetadata && names.insert(name).inserted
            if isCut || !fits { left += 1 }
            guard fits else { return }
            room -= name.utf8.count + value.utf8.count
            text.byte(",")
            text.string(name)
            text.byte(":")
            text.string(String(value))
        }
        if !record.label.isEmpty { add("logger", record.label) }
        if let trace = record.trace {
            add("trace_id", trace.traceID)
            if let span = trace.spanID { add("span_id", span) }
        }
        if let error = record.error { add("error", error) }
        if let source = record.source { add("source", "\(source.file):\(source.line)") }
        for pair in FlatMetadata.pairs(of: record.metadata) { add(pair.name, FlatMetadata.text(of: pair.value)) }
        if line.utf8.count < record.message.utf8.count {
            text.raw(",\"line_bytes\":\""); text.integer(UInt64(record.message.utf8.count)); text.byte("\"")
        }
        if left > 0 { text.raw(",\"dropped_metadata\":\""); text.integer(UInt64(left)); text.byte("\"") }
        text.raw("}],")
    }

    private static let ownMetadataBytes =
        ["record_id", "sequence", "line_bytes", "dropped_metadata"].reduce(32 + 3 * 20) { $0 + $1.utf8.count }

    /// A name as Prometheus allows it.
    private static func name(_ name: String) -> String {
        let name = FlatMetadata.name(name, allowing: "_", maximum: 1_024)
        guard let first = name.utf8.first, !first.isDigit, !name.hasPrefix("__") else { return "x" + name }
        return name
    }

    /// Judges by the status, and after a 400 by what Loki says of it.
    public func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict {
        switch answer.status {
        case 400: Self.refusal(answer)
        default: answer.usualVerdict
        }
    }

    /// "… total ignored: 2 out of 100 …" tells how many were refused. One reason alone is of one line.
    private static func refusal(_ answer: ReceiverAnswer) -> DeliveryVerdict {
        let text = String(decoding: answer.body.prefix(64 << 10), as: UTF8.self)
        guard let range = text.range(of: "total ignored: ") else { return .reject(reason: answer.excerpt) }
        let words = text[range.upperBound...].split(separator: " ", maxSplits: 3)
        guard words.count >= 3, let ignored = Int(words[0]), words[1] == "out", ignored > 0, ignored <= answer.records else {
            return .reject(reason: answer.excerpt)
        }
        return .partiallyRejected(records: ignored, reason: answer.excerpt)
    }
}

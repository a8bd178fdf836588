public import Foundation

/// GELF 1.1 over HTTP, for Graylog.
///
///     let graylog = try LogShipper(to: URL(string: "http://localhost:12201/gelf")!, format: GELFFormat(host: "shop-1"))
///
/// A request carries one record, unless the input has "Enable Bulk Receiving" and ``bulk`` is set. The names of metadata, joined by dots
/// where it is nested, get a leading `_`. They also get a trailing `_` if Graylog would ignore them because it reserves the name, such as
/// `source` or `level`, or if another value has the name already. Booleans and nulls, which Graylog ignores, are written as texts. A
/// message without a visible character becomes `-`.
///
/// Graylog answers 202 before it parses a record, so that its answer proves nothing: records are written in a form that it always accepts.
/// Its statuses have their usual meaning: see <doc:Receivers>.
public struct GELFFormat: LogFormat {
    /// The host that sends the records.
    public let host: String
    /// Whether the input accepts several records in a request.
    public let bulk: Bool
    /// The most bytes of a body. The default is 64 KiB, Graylog's own limit.
    public var maximumBodyBytes = 64 << 10

    /// One, without bulk receiving.
    public var maximumRecords: Int { bulk ? .max : 1 }
    /// `application/json`.
    public var contentType: String { "application/json" }

    /// Creates a format. A host without a visible character becomes `unknown`.
    public init(host: String, bulk: Bool = false) {
        self.host = Self.shows(host) ? host : "unknown"
        self.bulk = bulk
    }

    /// Writes one object per line for each record.
    public func encode(_ records: [LogRecord]) throws -> Data {
        var text = JSONText()
        text.reserve(records.count * 420)
        for (index, record) in records.enumerated() {
            if index > 0 { text.byte("\n") }
            write(record, into: &text)
        }
        return text.data
    }

    private func write(_ record: LogRecord, into text: inout JSONText) {
        text.raw("{\"version\":\"1.1\",\"host\":")
        text.string(host)
        text.raw(",\"short_message\":")
        text.string(Self.shows(record.message) ? record.message : "-")
        text.raw(",\"timestamp\":")
        text.integer(record.time / 1_000_000_000)
        text.byte(".")
        text.padded(Int(record.time % 1_000_000_000), digits: 9)
        text.raw(",\"level\":")
        text.integer(Int64(SyslogSeverity.number(of: record.level)))
        text.raw(",\"_record_id\":\"")
        text.hexadecimal(record.id.high, record.id.low)
        text.raw("\",\"_sequence\":")
        text.integer(record.sequence)
        text.raw(",\"_level_name\":")
        text.string(record.level.description)
        text.optional(",\"_logger\":", record.label.isEmpty ? nil : record.label)
        text.optional(",\"_error\":", record.error)
        text.optional(",\"_trace_id\":", record.trace?.traceID)
        text.optional(",\"_span_id\":", record.trace?.spanID)
        text.optional(",\"_file\":", record.source.map { "\($0.file):\($0.line)" })
        // The index replaces dots with `_`, and keeps only one of two names that become equal.
        var names = UniqueNames(taken: Self.taken, maximum: Self.longestName) {
            $0.utf8.contains(UInt8(ascii: ".")) ? $0.replacing(".", with: "_") : $0
        }
        for pair in FlatMetadata.pairs(of: record.metadata) {
            var name = FlatMetadata.name(pair.name, allowing: "_.-", maximum: Self.longestName - 1)
            // Graylog reserves this prefix.
            if name.hasPrefix("gl2_") { name = "_" + name }
            name = names.name(for: name)
            text.raw(",\"_")
            for byte in name.unicodeScalars { text.byte(byte) }
            text.raw("\":")
            switch pair.value {
            case .int(let number): text.integer(number)
            case .double(let number) where number.isFinite: text.double(number)
            default: text.string(FlatMetadata.text(of: pair.value))
            }
        }
        text.byte("}")
    }

    private static let longestName = 1_001

    /// Names that this format uses, and those that Graylog or its index fills: it ignores a field with such a name.
    private static let taken: Set<String> = [
        "id", "record_id", "sequence", "level_name", "logger", "error", "trace_id", "span_id", "file",
        "host", "short_message", "message", "source", "timestamp", "level", "streams",
        "_id", "_ttl", "_source", "_all", "_index", "_type", "_score",
    ]

    /// Whether the text has a visible character. Graylog strips control characters and blanks, and drops a message that becomes empty.
    private static func shows(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.value > 0x20 && !$0.properties.isWhitespace && !$0.properties.isDefaultIgnorableCodePoint }
    }

    /// Judges by the status alone.
    public func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict { answer.usualVerdict }
}

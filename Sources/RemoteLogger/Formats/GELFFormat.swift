public import Foundation

/// GELF 1.1 over HTTP, for Graylog.
///
///     let graylog = try LogShipper(to: URL(string: "http://localhost:12201/gelf")!, format: GELFFormat(host: "shop-1"))
///
/// A request contains one record, or several if ``bulk`` is set, which requires "Enable Bulk Receiving" on Graylog's input. Metadata names
/// get a leading `_`; the names of nested metadata are joined by dots. A name also gets a trailing `_` if Graylog reserves it and would
/// ignore the field, such as `source` or `level`, or if another value already has the name. Booleans and nulls are written as texts,
/// because Graylog ignores them otherwise. A message without a visible character becomes `-`.
///
/// Graylog answers 202 before it parses a record, so the answer doesn't prove that Graylog stored the record. This format therefore writes
/// records only in a form that Graylog always accepts. Graylog's statuses have their usual meaning: see <doc:Receivers>.
public struct GELFFormat: LogFormat {
    /// The host that sends the records.
    public let host: String
    /// Whether a request may contain several records, which Graylog's input must accept.
    public let bulk: Bool
    /// The maximum size of a body in bytes. The default is 64 KiB, Graylog's own limit.
    public var maximumBodyBytes = 64 << 10

    /// The maximum number of records in a request: 1, or unlimited if ``bulk`` is set.
    public var maximumRecords: Int { bulk ? .max : 1 }
    /// The media type of a body: `application/json`.
    public var contentType: String { "application/json" }

    /// Creates a format. A host without a visible character becomes `unknown`.
    public init(host: String, bulk: Bool = false) {
        self.host = Self.shows(host) ? host : "unknown"
        self.bulk = bulk
    }

    /// Returns a JSON object for each record, one per line.
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
        // Graylog's index replaces dots in names with `_`, and keeps only one of two fields whose names become equal. Names are therefore
        // compared in that form.
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

    /// The names that metadata can't have: this format writes fields with these names, or Graylog or its index sets them and ignores a
    /// record's field with such a name.
    private static let taken: Set<String> = [
        "id", "record_id", "sequence", "level_name", "logger", "error", "trace_id", "span_id", "file",
        "host", "short_message", "message", "source", "timestamp", "level", "streams",
        "_id", "_ttl", "_source", "_all", "_index", "_type", "_score",
    ]

    /// Returns whether the text has a visible character. Graylog strips control characters and blanks, and drops a message that becomes
    /// empty.
    private static func shows(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.value > 0x20 && !$0.properties.isWhitespace && !$0.properties.isDefaultIgnorableCodePoint }
    }

    /// Returns the verdict by the status alone.
    public func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict { answer.usualVerdict }
}

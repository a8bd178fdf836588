public import Foundation

/// One JSON object per line, with all values of a record:
///
///     {"time":"2026-03-01T09:30:00.123456789Z","level":"info","label":"shop","message":"Order placed","metadata":{"order":7},
///      "id":"0e5f…","sequence":12,"uptime":93210123456789,"trace":"4bf9…","span":"00f0…","flags":1,
///      "file":"Shop/Orders.swift","function":"place()","line":42}
///
/// (in one line; `label`, `metadata`, `error`, `uptime`, `trace`, `span`, `flags` and the source are omitted if a record has none; `uptime`
/// is ``LogRecord/uptime`` in nanoseconds, `flags` are those of the trace). Whole numbers have all their digits, dates are RFC 3339, bytes
/// are Base64, NaN and the infinities are strings.
///
/// Statuses have their usual meaning: see <doc:Receivers>.
public struct NDJSONFormat: LogFormat {
    /// The content type. The default is `application/x-ndjson`.
    public var contentType = "application/x-ndjson"
    /// The maximum number of bytes of a body. The default is 4 MiB.
    public var maximumBodyBytes = 4 << 20

    /// Creates a format.
    public init() {}

    /// Writes one line for each record, terminated by a newline.
    public func encode(_ records: [LogRecord]) throws -> Data {
        var text = JSONText()
        text.reserve(records.count * 320)
        for record in records {
            Self.write(record, into: &text)
            text.byte("\n")
        }
        return text.data
    }

    /// Judges by the status alone.
    public func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict { answer.usualVerdict }

    /// Writes a record as an object.
    static func write(_ record: LogRecord, into text: inout JSONText) {
        text.raw("{\"time\":\"")
        TimestampText.write(nanoseconds: record.time, into: &text)
        text.raw("\",\"level\":")
        text.string(record.level.description)
        text.optional(",\"label\":", record.label.isEmpty ? nil : record.label)
        text.raw(",\"message\":")
        text.string(record.message)
        if !record.metadata.isEmpty {
            text.raw(",\"metadata\":")
            text.members(record.metadata)
        }
        text.optional(",\"error\":", record.error)
        text.raw(",\"id\":\"")
        text.hexadecimal(record.id.high, record.id.low)
        text.raw("\",\"sequence\":")
        text.integer(record.sequence)
        if record.uptime > 0 {
            text.raw(",\"uptime\":")
            text.integer(record.uptime)
        }
        if let trace = record.trace { write(trace, into: &text) }
        if let source = record.source {
            text.raw(",\"file\":")
            text.string(source.file)
            text.raw(",\"function\":")
            text.string(source.function)
            text.raw(",\"line\":")
            text.integer(UInt64(source.line))
        }
        text.byte("}")
    }

    private static func write(_ trace: TraceContext, into text: inout JSONText) {
        text.raw(",\"trace\":\"")
        text.hexadecimal(trace.traceHigh, trace.traceLow)
        text.byte("\"")
        if let span = trace.span {
            text.raw(",\"span\":\"")
            text.hexadecimal(span)
            text.byte("\"")
        }
        guard trace.flags != 0 else { return }
        text.raw(",\"flags\":")
        text.integer(UInt64(trace.flags))
    }
}

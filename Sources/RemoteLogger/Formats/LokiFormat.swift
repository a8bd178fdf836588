public import Foundation

/// Loki's push interface, with JSON bodies: `/loki/api/v1/push`.
///
///     let format = LokiFormat(labels: ["app": "shop", "env": "production"])
///     let loki = try LogShipper(to: LokiFormat.pushURL(of: server), format: format) {
///         $0.headers["X-Scope-OrgID"] = "shop"
///     }
///
/// Records of one level make a stream, whose labels are ``labels`` and `level`; its lines are the messages, ordered by time. All other
/// values, beginning with the record's id and sequence, are structured metadata, so that records with equal time and message stay distinct,
/// and a batch that is sent twice is stored once.
///
/// Names of structured metadata are letters, digits and `_`. A name that the record itself uses (`logger`, `error`, `source`, `trace_id`,
/// `span_id`, `record_id`, `sequence`), or that another value already has, gets a trailing `_`.
///
/// After a 400 Loki has stored the lines that it accepts. If its text gives the number of rejected lines, they are counted, and nothing is
/// sent again. If it rejects the labels, or structured metadata as such, nothing is dropped and sending pauses. After any other 400 the
/// shipper searches for the rejected line, since Loki ignores lines that it already has. Before version 2.9 Loki gave one reason for any
/// number of lines: it counts as one. A 260 means that Loki stores nothing of this tenant for a while: sending pauses.
/// All other statuses have their usual meaning: see <doc:Receivers>.
public struct LokiFormat: LogFormat {
    /// The labels of all streams. Use few labels with few values.
    public let labels: [(name: String, value: String)]
    /// The maximum number of bytes of a line; a longer message is cut, and `line_bytes` is its length. The default is 256 KiB, Loki's own
    /// limit.
    public var maximumLineBytes = 256 << 10
    /// The maximum number of entries in the structured metadata of a line; `dropped_metadata` counts omitted and cut values. The default is
    /// 128, Loki's own limit.
    public var maximumMetadata = 128
    /// The maximum number of bytes of a line's structured metadata, names and values together: a value that doesn't fit is cut or omitted,
    /// and counted in `dropped_metadata`. The default is 64,000, Loki's own limit. The record's id and sequence number are always included.
    public var maximumMetadataBytes = 64_000
    /// The maximum number of bytes of a body. The default is 1 MiB.
    public var maximumBodyBytes = 1 << 20

    /// `application/json`.
    public var contentType: String { "application/json" }

    /// Creates a format with at most 14 labels. Label names are letters, digits and `_`; other characters become `_`, and the second of two
    /// names that become equal gets a trailing `_`. `level` is reserved for the record's level and is ignored. Without labels,
    /// `service_name` is added.
    public init(labels: LogMetadata) {
        var named: [(name: String, value: String)] = []
        var names = UniqueNames(maximum: Self.longestName)
        for pair in labels.prefix(14) {
            let name = Self.name(pair.key)
            guard name != "level" else { continue }
            named.append((names.name(for: name), String(FlatMetadata.prefix(of: FlatMetadata.text(of: pair.value), bytes: 2_048))))
        }
        self.labels = named.isEmpty ? [("service_name", "unknown_service")] : named
    }

    /// The push URL of a server: its base URL followed by `loki/api/v1/push`.
    public static func pushURL(of base: URL) -> URL {
        base.appending(path: "loki/api/v1/push")
    }

    /// Writes a push request with one stream for each level.
    public func encode(_ records: [LogRecord]) throws -> Data {
        var text = JSONText()
        text.reserve(256 + records.count * 320)
        text.raw("{\"streams\":[")
        for level in LogLevel.allCases {
            var stream = records.filter { $0.level == level }
            guard !stream.isEmpty else { continue }
            // The sort is stable: records of the same time keep their order.
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
        var names = UniqueNames(taken: ["record_id", "sequence", "line_bytes", "dropped_metadata"], maximum: Self.longestName)
        var left = 0
        // Reserves room for those four with their longest numbers.
        var room = maximumMetadataBytes - Self.ownMetadataBytes
        func add(_ name: String, _ whole: String) {
            guard names.count < maximumMetadata, room > 0 else {
                left += 1
                return
            }
            let name = names.name(for: Self.name(name))
            let value = FlatMetadata.prefix(of: whole, bytes: max(0, room - name.utf8.count))
            let isCut = value.utf8.count < whole.utf8.count
            // If none of the value fits, the name is omitted too.
            let fits = name.utf8.count <= room && (!isCut || !value.isEmpty)
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

    /// The maximum number of bytes of a name, Loki's own limit.
    private static let longestName = 1_024

    /// A name that Prometheus allows.
    private static func name(_ name: String) -> String {
        let name = FlatMetadata.name(name, allowing: "_", maximum: longestName - 1)
        guard let first = name.utf8.first, !first.isDigit, !name.hasPrefix("__") else { return "x" + name }
        return name
    }

    /// Judges by the status, and after a 400 by Loki's text.
    public func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict {
        switch answer.status {
        case 400: LokiRefusal(answer).verdict
        case 260: .pause(reason: answer.excerpt)
        default: answer.usualVerdict
        }
    }
}

/// The text of a 400 from Loki, which has stored every line that the text doesn't mention.
private struct LokiRefusal {
    /// The text after the count of each group of refusals: the distributor groups those with equal texts.
    private static let groupMark = Array(" errors like: ".utf8)
    private static let listMark = Array(" errors: ".utf8)
    /// The text before the number of lines that an ingester has rejected, and their total.
    private static let ignoredMark = Array("total ignored: ".utf8)
    private static let lineMark = Array("entry with timestamp ".utf8)
    /// A prefix that proxies and older versions add.
    private static let preface = Array("rpc error: code = Code(400) desc = ".utf8)

    /// Beginnings of texts about one line.
    private static let ofLines = ["entry for stream ", "Max entry size ", "max entry size ", "stream '"].map { Array($0.utf8) }
    /// Parts of texts about labels or limits, which all lines of a stream share: the settings of the format or of the tenant must change,
    /// and nothing is stored until then.
    private static let ofSettings = [
        " label names; limit ", "' has label name too long: ", "' has label value too long: ", "' has duplicate label name: ",
        "this feature is disallowed", "at least one label pair is required per stream", "at least one valid label pair is required",
        "Error parsing labels ", "error parsing labels ",
        "missing required labels ", "ingestion blocked for user ",
    ]

    private let answer: ReceiverAnswer
    /// Bytes, since there may be megabytes: each rejected line may have its own text.
    private let text: ArraySlice<UInt8>

    init(_ answer: ReceiverAnswer) {
        self.answer = answer
        let bytes = Array(answer.body)
        text = bytes[(Self.positions(of: Self.preface, in: bytes[...]).first.map { $0 + Self.preface.count } ?? 0)...]
    }

    var verdict: DeliveryVerdict {
        let text = String(decoding: text, as: UTF8.self)
        if Self.ofSettings.contains(where: text.contains) { return .pause(reason: answer.excerpt) }
        // Loki ignores lines that it already has, so that sending them again to find the rejected ones is safe.
        guard let count = ignored ?? grouped ?? alone, count > 0, count <= answer.records else { return .isolate(reason: answer.excerpt) }
        return .partiallyRejected(records: count, reason: answer.excerpt)
    }

    /// Parses "…, total ignored: 2 out of 100 …"; `nil` without it.
    private var ignored: Int? {
        sum(
            Self.positions(of: Self.ignoredMark, in: text).map { position in
                let digits = text[(position + Self.ignoredMark.count)...].prefix { $0.isDigit }
                return text[digits.endIndex...].starts(with: Array(" out of ".utf8)) ? Self.number(digits) : nil
            })
    }

    /// Parses "2 errors like: entry for stream …; 1 errors like: …", or "3 errors: …; …; …"; `nil` for any other beginning.
    private var grouped: Int? {
        let digits = text.prefix { $0.isDigit }
        if text[digits.endIndex...].starts(with: Self.listMark) { return Self.number(digits) }
        guard text[digits.endIndex...].starts(with: Self.groupMark) else { return nil }
        // A group begins at the start of the text or after another group; elsewhere the same words belong to a label.
        return sum(
            Self.positions(of: Self.groupMark, in: text).compactMap { position -> Int?? in
                var start = position
                while start > text.startIndex, text[start - 1].isDigit { start -= 1 }
                let isGroup = start == text.startIndex || text[..<start].suffix(2).elementsEqual("; ".utf8)
                return isGroup && start < position ? .some(Self.number(text[start..<position])) : .none
            })
    }

    /// The number of single refusals without a group. An ingester writes one line of text for each.
    private var alone: Int? {
        if Self.ofLines.contains(where: { text.starts(with: $0) }) { return 1 }
        let lines = text.split(separator: UInt8(ascii: "\n")).count { $0.starts(with: Self.lineMark) }
        return lines > 0 ? lines : nil
    }

    /// - Returns: The sum; `nil` without counts, or if one is unknown.
    private func sum(_ counts: [Int?]) -> Int? {
        counts.isEmpty ? nil : counts.reduce(0) { sum, count in sum.flatMap { sum in count.map { min(sum, 1 << 40) + min($0, 1 << 40) } } }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        Int(String(decoding: digits, as: UTF8.self))
    }

    private static func positions(of mark: [UInt8], in text: ArraySlice<UInt8>) -> [Int] {
        text.indices.filter { text[$0] == mark[0] && text[$0...].starts(with: mark) }
    }
}

public import Foundation

/// OTLP/HTTP with JSON bodies (OpenTelemetry protocol 1.11), accepted by collectors and most log services.
///
///     OTLPFormat(resource: ["service.name": "shop", "deployment.environment.name": "production"])
///
/// A record becomes a `LogRecord`: the message is its body, the logger's label its scope, the metadata its attributes. Further attributes
/// are `log.record.uid` (the record's id), `log.record.sequence`, `code.file.path`, `code.function.name`, `code.line.number` and, with an
/// error, `exception.message`. Attribute keys are unique: if metadata uses a key that the record also writes, `_` is appended to the key of
/// the metadata. Attributes beyond ``maximumAttributes`` are omitted and counted in `droppedAttributesCount`.
///
/// A `partialSuccess` in the answer gives the number of finally rejected records. Only 429, 502, 503 and 504 are retried, as the protocol
/// demands: 408, 425, 500 and all other 5xx except 501 and 505 reject the records. All other statuses have their usual meaning: see
/// <doc:Receivers>.
public struct OTLPFormat: LogFormat {
    /// Attributes of the sender, such as `service.name`.
    public var resource: LogMetadata
    /// The version of the instrumentation scopes; `nil` to omit it.
    public var scopeVersion: String?
    /// The severity number of ``LogLevel/critical``. The default is 18, which the specification assigns to syslog's "critical"; 21 is
    /// "fatal". Values outside of 17 to 24 are limited to that range.
    public var criticalSeverity = 18
    /// The maximum number of attributes of a record. The default is 128, the usual limit. The attributes that the record itself writes, two
    /// to six, are never omitted.
    public var maximumAttributes = 128
    /// The maximum number of bytes of a body before compression. The default is 4 MiB. The protocol allows 64 MiB, but some receivers
    /// accept no more than 4 MiB.
    public var maximumBodyBytes = 4 << 20

    /// `application/json`.
    public var contentType: String { "application/json" }

    /// Creates a format for records of a resource.
    public init(resource: LogMetadata = LogMetadata(), scopeVersion: String? = nil) {
        self.resource = resource
        self.scopeVersion = scopeVersion
    }

    /// The logs URL of a collector: its base URL followed by `v1/logs`.
    public static func logsURL(ofCollector base: URL) -> URL {
        base.appending(path: "v1/logs")
    }

    /// Writes an `ExportLogsServiceRequest` of one resource, whose scopes are the records' labels in the order of their first records.
    public func encode(_ records: [LogRecord]) throws -> Data {
        var writer = OTLPWriter(format: self)
        // About 512 bytes per record for JSON syntax. A low estimate costs one copy; a high one costs only address space.
        writer.text.reserve(records.reduce(512) { $0 + 512 + $1.footprint })
        writer.writeRequest(records)
        return writer.text.data
    }

    /// Judges by status and `partialSuccess`.
    public func judge(_ answer: ReceiverAnswer) -> DeliveryVerdict {
        switch answer.status {
        case 200..<300: Self.success(answer)
        case 413: .split
        case 429, 502, 503, 504: .retry
        case 400, 422: .isolate(reason: Self.message(of: answer))
        case _ where answer.asksForOtherSettings: .pause(reason: Self.message(of: answer))
        case 400..<600: .reject(reason: Self.message(of: answer))
        default: answer.usualVerdict
        }
    }

    /// An unreadable body of a 2xx answer still counts as success, because sending again would only make duplicates.
    private static func success(_ answer: ReceiverAnswer) -> DeliveryVerdict {
        guard let body = try? JSONSerialization.jsonObject(with: answer.body) as? [String: Any],
            // Protobuf's JSON readers accept both spellings of a name.
            let partial = (body["partialSuccess"] ?? body["partial_success"]) as? [String: Any]
        else { return answer.usualVerdict }
        let reason = ReceiverAnswer.excerpt(of: (partial["errorMessage"] ?? partial["error_message"]) as? String ?? "")
        // A 64-bit integer is a string in OTLP's JSON; a number is accepted, too.
        let number = partial["rejectedLogRecords"] ?? partial["rejected_log_records"]
        let stated = (number as? String).flatMap { Double($0) } ?? (number as? NSNumber)?.doubleValue ?? 0
        // The number may be out of the range of Int.
        let rejected = stated >= Double(answer.records) ? answer.records : stated >= 1 ? Int(stated) : 0
        if rejected > 0 { return .partiallyRejected(records: rejected, reason: reason) }
        return .delivered(remark: reason.isEmpty ? nil : reason)
    }

    /// The beginning of the message of the `Status` in an error's body, or of the body.
    private static func message(of answer: ReceiverAnswer) -> String {
        let status = try? JSONSerialization.jsonObject(with: answer.body) as? [String: Any]
        return (status?["message"] as? String).map { ReceiverAnswer.excerpt(of: $0) } ?? answer.excerpt
    }
}

/// Writes the records of a request in OTLP's JSON: keys in lowerCamelCase, 64-bit integers as decimal strings, ids in hexadecimal,
/// severities as numbers, bytes in Base64.
struct OTLPWriter {
    let format: OTLPFormat
    var text = JSONText()

    mutating func writeRequest(_ records: [LogRecord]) {
        text.raw("{\"resourceLogs\":[{\"resource\":{\"attributes\":[")
        for pair in format.resource { writeAttribute(pair) }
        text.dropComma()
        text.raw("]},\"scopeLogs\":[")
        for scope in Self.scopes(of: records) {
            writeScope(scope)
            text.byte(",")
        }
        text.dropComma()
        text.raw("]}]}")
    }

    /// Groups the records by label. With a single label, the usual case, nothing is copied.
    private static func scopes(of records: [LogRecord]) -> [[LogRecord]] {
        guard let first = records.first else { return [] }
        guard records.contains(where: { $0.label != first.label }) else { return [records] }
        var indices: [String: Int] = [:]
        var scopes: [[LogRecord]] = []
        for record in records {
            if let index = indices[record.label] {
                scopes[index].append(record)
            } else {
                indices[record.label] = scopes.count
                scopes.append([record])
            }
        }
        return scopes
    }

    private mutating func writeScope(_ records: [LogRecord]) {
        text.raw("{\"scope\":{")
        if let label = records.first?.label, !label.isEmpty {
            text.raw("\"name\":")
            text.string(label)
            text.byte(",")
        }
        if let version = format.scopeVersion, !version.isEmpty {
            text.raw("\"version\":")
            text.string(version)
        }
        text.dropComma()
        text.raw("},\"logRecords\":[")
        for record in records {
            write(record)
            text.byte(",")
        }
        text.dropComma()
        text.raw("]}")
    }

    private mutating func write(_ record: LogRecord) {
        // The observation time is the record's time, not the time of sending: each attempt must write the same bytes.
        text.raw("{\"timeUnixNano\":\"")
        text.integer(record.time)
        text.raw("\",\"observedTimeUnixNano\":\"")
        text.integer(record.time)
        text.raw("\",\"severityNumber\":")
        text.integer(UInt64(severity(of: record.level)))
        text.raw(",\"severityText\":")
        text.string(record.level.description)
        text.raw(",\"body\":{\"stringValue\":")
        text.string(record.message)
        text.raw("},\"attributes\":[")
        let omitted = writeAttributes(of: record)
        text.byte("]")
        if omitted > 0 {
            text.raw(",\"droppedAttributesCount\":")
            text.integer(UInt64(omitted))
        }
        if let trace = record.trace { write(trace) }
        text.byte("}")
    }

    private mutating func write(_ trace: TraceContext) {
        if trace.flags != 0 {
            text.raw(",\"flags\":")
            text.integer(UInt64(trace.flags))
        }
        text.raw(",\"traceId\":\"")
        text.hexadecimal(trace.traceHigh, trace.traceLow)
        text.byte("\"")
        guard let span = trace.span else { return }
        text.raw(",\"spanId\":\"")
        text.hexadecimal(span)
        text.byte("\"")
    }

    private func severity(of level: LogLevel) -> Int {
        switch level {
        case .trace: 1
        case .debug: 5
        case .info: 9
        case .notice: 10
        case .warning: 13
        case .error: 17
        case .critical: min(24, max(17, format.criticalSeverity))
        }
    }
}

extension OTLPWriter {
    /// The keys of attributes that every record has.
    private static let ownKeys: Set<String> = ["log.record.uid", "log.record.sequence"]
    private static let errorKey = "exception.message"
    private static let sourceKeys = ["code.file.path", "code.function.name", "code.line.number"]
    /// The first letters of those keys: most other keys need no set lookup.
    private static let firstLettersOfOwnKeys = [UInt8(ascii: "l"), UInt8(ascii: "e"), UInt8(ascii: "c")]

    /// Makes unique names for the keys of the metadata; `nil` if no key collides with one that the record itself writes.
    private static func names(for record: LogRecord) -> UniqueNames? {
        guard record.metadata.contains(where: { isOwn($0.key, of: record) }) else { return nil }
        // Keys without a collision keep their names, even after a renamed one.
        return UniqueNames(taken: Set(record.metadata.map(\.key)))
    }

    private static func isOwn(_ key: String, of record: LogRecord) -> Bool {
        // A quick check that sorts out most keys.
        guard let first = key.utf8.first, firstLettersOfOwnKeys.contains(first) else { return false }
        return ownKeys.contains(key) || record.error != nil && key == errorKey || record.source != nil && sourceKeys.contains(key)
    }

    /// Writes the attributes and returns how many were omitted.
    mutating func writeAttributes(of record: LogRecord) -> Int {
        var omitted = 0
        var room = format.maximumAttributes - 2
        text.raw("{\"key\":\"log.record.uid\",\"value\":{\"stringValue\":\"")
        text.hexadecimal(record.id.high, record.id.low)
        text.raw("\"}},")
        writeAttribute("log.record.sequence", record.sequence)
        if let error = record.error {
            writeAttribute("exception.message", error)
            room -= 1
        }
        if let source = record.source {
            writeAttribute("code.file.path", source.file)
            writeAttribute("code.function.name", source.function)
            writeAttribute("code.line.number", UInt64(source.line))
            room -= 3
        }
        var names = Self.names(for: record)
        for pair in record.metadata {
            guard room > 0 else {
                omitted += 1
                continue
            }
            room -= 1
            guard names != nil, Self.isOwn(pair.key, of: record), let name = names?.name(for: pair.key) else {
                writeAttribute(pair)
                continue
            }
            writeAttribute(LogMetadata.Pair(key: name, value: pair.value))
        }
        text.dropComma()
        return omitted
    }

    private mutating func writeAttribute(_ key: StaticString, _ value: String) {
        text.raw("{\"key\":\"")
        text.raw(key)
        text.raw("\",\"value\":{\"stringValue\":")
        text.string(value)
        text.raw("}},")
    }

    private mutating func writeAttribute(_ key: StaticString, _ value: UInt64) {
        text.raw("{\"key\":\"")
        text.raw(key)
        text.raw("\",\"value\":{\"intValue\":\"")
        text.integer(value)
        text.raw("\"}},")
    }

    /// Writes a key with its value, and a comma.
    mutating func writeAttribute(_ pair: LogMetadata.Pair, depth: Int = 0) {
        text.raw("{\"key\":")
        text.string(pair.key)
        text.raw(",\"value\":")
        write(pair.value, depth: depth)
        text.raw("},")
    }

    private mutating func write(_ value: LogValue, depth: Int) {
        text.byte("{")
        switch value {
        case .null: break
        case .string(let value):
            text.raw("\"stringValue\":")
            text.string(value)
        case .int(let value):
            text.raw("\"intValue\":\"")
            text.integer(value)
            text.byte("\"")
        case .double(let value):
            text.raw("\"doubleValue\":")
            text.double(value)
        case .bool(let value):
            text.raw("\"boolValue\":")
            text.bool(value)
        case .data(let value):
            text.raw("\"bytesValue\":")
            text.base64(value)
        case .date(let value):
            text.raw("\"stringValue\":\"")
            TimestampText.write(value, into: &text)
            text.byte("\"")
        case .array, .dictionary:
            writeContainer(value, depth: depth)
        }
        text.byte("}")
    }

    private mutating func writeContainer(_ value: LogValue, depth: Int) {
        guard depth < LogValue.maximumDepth else {
            text.raw("\"stringValue\":")
            return text.string(LogValue.tooDeep)
        }
        switch value {
        case .array(let values):
            text.raw("\"arrayValue\":{\"values\":[")
            for value in values {
                write(value, depth: depth + 1)
                text.byte(",")
            }
        case .dictionary(let values):
            text.raw("\"kvlistValue\":{\"values\":[")
            for pair in values { writeAttribute(pair, depth: depth + 1) }
        default:
            return
        }
        text.dropComma()
        text.raw("]}")
    }
}

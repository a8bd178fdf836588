/// Writes the records of a request in OTLP's JSON: keys in lowerCamelCase, 64-bit integers as decimal strings, ids in hexadecimal,
/// severities as numbers, bytes in Base64.
struct OTLPWriter {
    let format: OTLPFormat
    var text = JSONText()

    /// The keys of what the record itself says. The user's metadata can't use them: an attribute key stands in a record once.
    private static let ownKeys: Set<String> = [
        "log.record.uid", "log.record.sequence", "code.file.path", "code.function.name", "code.line.number", "exception.message",
    ]

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

    /// The records by label. Mostly there is one label, and nothing is copied.
    private static func scopes(of records: [LogRecord]) -> [[LogRecord]] {
        guard let first = records.first else { return [] }
        guard records.contains(where: { $0.label != first.label }) else { return [records] }
        var places: [String: Int] = [:]
        var scopes: [[LogRecord]] = []
        for record in records {
            if let place = places[record.label] {
                scopes[place].append(record)
            } else {
                places[record.label] = scopes.count
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
        // The time of observation is the time of the record, not of the sending: each attempt must write the same.
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
        let left = writeAttributes(of: record)
        text.byte("]")
        if left > 0 {
            text.raw(",\"droppedAttributesCount\":")
            text.integer(UInt64(left))
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
        text.hexadecimal(trace.traceHigh)
        text.hexadecimal(trace.traceLow)
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

    /// Writes the attributes and says how many had to be left out.
    private mutating func writeAttributes(of record: LogRecord) -> Int {
        var left = 0
        var room = format.maximumAttributes - 2
        text.raw("{\"key\":\"log.record.uid\",\"value\":{\"stringValue\":\"")
        text.hexadecimal(record.id.high)
        text.hexadecimal(record.id.low)
        text.raw("\"}},{\"key\":\"log.record.sequence\",\"value\":{\"intValue\":\"")
        text.integer(record.sequence)
        text.raw("\"}},")
        if let error = record.error {
            text.raw("{\"key\":\"exception.message\",\"value\":{\"stringValue\":")
            text.string(error)
            text.raw("}},")
            room -= 1
        }
        if let source = record.source {
            text.raw("{\"key\":\"code.file.path\",\"value\":{\"stringValue\":")
            text.string(source.file)
            text.raw("}},{\"key\":\"code.function.name\",\"value\":{\"stringValue\":")
            text.string(source.function)
            text.raw("}},{\"key\":\"code.line.number\",\"value\":{\"intValue\":\"")
            text.integer(UInt64(source.line))
            text.raw("\"}},")
            room -= 3
        }
        for pair in record.metadata {
            guard room > 0, !Self.ownKeys.contains(pair.key) else {
                left += 1
                continue
            }
            writeAttribute(pair)
            room -= 1
        }
        text.dropComma()
        return left
    }

    /// Writes a key with its value, and a comma.
    private mutating func writeAttribute(_ pair: LogMetadata.Pair, depth: Int = 0) {
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

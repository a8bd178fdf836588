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

extension OTLPWriter {
    /// The keys of what every record says itself.
    private static let ownKeys: Set<String> = ["log.record.uid", "log.record.sequence"]
    private static let errorKey = "exception.message"
    private static let sourceKeys = ["code.file.path", "code.function.name", "code.line.number"]
    /// The keys that start like these are few: most need no look into a set.
    private static let ownStarts = [UInt8(ascii: "l"), UInt8(ascii: "e"), UInt8(ascii: "c")]

    /// The names for the user's keys: an attribute key stands in a record once. `nil` where none of them is the record's own.
    private static func names(for record: LogRecord) -> UniqueNames? {
        guard record.metadata.contains(where: { isOwn($0.key, of: record) }) else { return nil }
        // What needs no other name keeps its own, also behind one that does.
        return UniqueNames(taken: Set(record.metadata.map(\.key)))
    }

    private static func isOwn(_ key: String, of record: LogRecord) -> Bool {
        // Most keys need no look any further.
        guard let first = key.utf8.first, ownStarts.contains(first) else { return false }
        return ownKeys.contains(key) || record.error != nil && key == errorKey || record.source != nil && sourceKeys.contains(key)
    }

    /// Writes the attributes and says how many had to be left out.
    mutating func writeAttributes(of record: LogRecord) -> Int {
        var left = 0
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
                left += 1
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
        return left
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

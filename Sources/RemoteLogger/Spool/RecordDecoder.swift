import Foundation

/// Reads what ``RecordEncoder`` has written. Any bytes may come: what isn't a record is `nil`.
struct RecordDecoder {
    private var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    private var offset = 0
    private var names = RecentTexts()

    /// The record that some bytes begin with.
    mutating func record(in bytes: UnsafeRawBufferPointer) -> LogRecord? {
        self.bytes = bytes
        offset = 0
        guard let level = byte().flatMap(LogLevel.init(rawValue:)), let parts = byte(),
            let high = fixed(), let low = fixed(), let sequence = number(), let time = fixed(), let uptime = fixed(),
            let label = name(), let message = text(), let metadata = metadata(depth: 0)
        else { return nil }
        var error: String?
        if parts & RecordEncoder.Part.error != 0 {
            error = text()
            guard error != nil else { return nil }
        }
        var trace: TraceContext?
        if parts & RecordEncoder.Part.trace != 0 {
            guard let high = fixed(), let low = fixed(), let flags = byte() else { return nil }
            var span: UInt64?
            if parts & RecordEncoder.Part.span != 0 {
                span = fixed()
                guard span != nil else { return nil }
            }
            trace = TraceContext(traceHigh: high, traceLow: low, span: span, flags: flags)
        }
        var source: LogSource?
        if parts & RecordEncoder.Part.source != 0 {
            guard let file = name(), let function = name(), let line = number() else { return nil }
            source = LogSource(file: file, function: function, line: UInt(truncatingIfNeeded: line))
        }
        return LogRecord(
            id: LogRecordID(high: high, low: low), sequence: sequence, time: time, uptime: uptime, level: level, label: label,
            message: message, metadata: metadata, error: error, trace: trace, source: source)
    }

    private mutating func byte() -> UInt8? {
        guard offset < bytes.count else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }

    private mutating func fixed() -> UInt64? {
        guard bytes.count - offset >= 8 else { return nil }
        defer { offset += 8 }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private mutating func number() -> UInt64? {
        var result: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            guard let byte = byte() else { return nil }
            result |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return result }
        }
        return nil
    }

    /// A number of things that each take at least a byte: never more than there are bytes.
    private mutating func count() -> Int? {
        guard let number = number(), number <= UInt64(bytes.count - offset) else { return nil }
        return Int(number)
    }

    private mutating func span() -> UnsafeRawBufferPointer? {
        guard let count = count() else { return nil }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    /// A text that is likely to have been there before.
    private mutating func name() -> String? {
        span().map { names.text(of: $0) }
    }

    private mutating func text() -> String? {
        span().map { String(decoding: $0, as: UTF8.self) }
    }

    private mutating func metadata(depth: Int) -> LogMetadata? {
        guard let count = count() else { return nil }
        var pairs: [LogMetadata.Pair] = []
        pairs.reserveCapacity(min(count, 64))
        for _ in 0..<count {
            guard let key = name(), let value = value(depth: depth) else { return nil }
            pairs.append(LogMetadata.Pair(key: key, value: value))
        }
        return LogMetadata(spooled: pairs)
    }

    private mutating func value(depth: Int) -> LogValue? {
        guard let tag = byte().flatMap(RecordEncoder.Tag.init(rawValue:)) else { return nil }
        switch tag {
        case .null: return .null
        case .no: return .bool(false)
        case .yes: return .bool(true)
        case .string: return text().map(LogValue.string)
        case .int: return fixed().map { .int(Int64(bitPattern: $0)) }
        case .double: return fixed().map { .double(Double(bitPattern: $0)) }
        case .date: return fixed().map { .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0))) }
        case .data: return span().map { .data(Data($0)) }
        case .array:
            guard depth < LogValue.maximumDepth, let count = count() else { return nil }
            var values: [LogValue] = []
            values.reserveCapacity(min(count, 64))
            for _ in 0..<count {
                guard let value = value(depth: depth + 1) else { return nil }
                values.append(value)
            }
            return .array(values)
        case .dictionary:
            guard depth < LogValue.maximumDepth else { return nil }
            return metadata(depth: depth + 1).map(LogValue.dictionary)
        }
    }
}

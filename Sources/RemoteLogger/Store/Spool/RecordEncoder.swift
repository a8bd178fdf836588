import Foundation

/// Encodes records in the spool's own lossless format, independent of the receivers' formats.
///
/// | field | as |
/// |---|---|
/// | level | 1 byte, first, so that records can be counted by level without being decoded |
/// | parts present | 1 byte: bit 0 error, 1 trace, 2 span, 3 source |
/// | id | 16 bytes |
/// | sequence | number |
/// | time, uptime | 8 bytes each |
/// | label, message | text |
/// | metadata | number of pairs; each text, value |
/// | error | text |
/// | trace | 16 bytes, the flags in 1, the span in 8 |
/// | source | text, text, number |
///
/// Fixed-size numbers are little-endian; others are encoded as LEB128. A text is its length in bytes followed by its UTF-8. Bytes after
/// these fields are reserved for later versions: decoders skip them.
struct RecordEncoder {
    private var buffer = ByteBuffer()

    /// The number of encoded bytes.
    var count: Int { buffer.count }
    /// The encoded bytes, shared until more are written.
    var written: ByteBuffer { buffer }
    /// A copy of the encoded bytes.
    var bytes: [UInt8] { buffer.withBytes { Array($0) } }

    /// The kind of value that follows.
    enum Tag: UInt8 {
        case null, string, int, double, no, yes, array, dictionary, date, data
    }

    enum Part {
        static let error: UInt8 = 1
        static let trace: UInt8 = 2
        static let span: UInt8 = 4
        static let source: UInt8 = 8
    }

    /// Calls a closure with the encoded bytes, which are valid only during the call.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        buffer.withUnsafeBytes(body)
    }

    /// Returns whether the sequence in an encoded record, after level, parts and ID, is 0.
    static func lacksSequence(_ payload: UnsafeRawBufferPointer) -> Bool {
        payload.count > 18 && payload[18] == 0
    }

    /// Removes all bytes but keeps the capacity.
    mutating func removeAll() {
        buffer.truncate(to: 0)
    }

    mutating func truncate(to count: Int) {
        buffer.truncate(to: count)
    }

    mutating func write(_ record: LogRecord) {
        buffer.append(record.level.rawValue)
        var parts: UInt8 = 0
        if record.error != nil { parts |= Part.error }
        if record.trace != nil { parts |= Part.trace }
        if record.trace?.span != nil { parts |= Part.span }
        if record.source != nil { parts |= Part.source }
        buffer.append(parts)
        fixed(record.id.high)
        fixed(record.id.low)
        number(record.sequence)
        fixed(record.time)
        fixed(record.uptime)
        text(record.label)
        text(record.message)
        write(record.metadata, depth: 0)
        if let error = record.error { text(error) }
        if let trace = record.trace {
            fixed(trace.traceHigh)
            fixed(trace.traceLow)
            buffer.append(trace.flags)
            if let span = trace.span { fixed(span) }
        }
        if let source = record.source {
            text(source.file)
            text(source.function)
            number(UInt64(source.line))
        }
    }

    /// Writes a number in little-endian order, in the width of its type.
    mutating func fixed(_ value: some FixedWidthInteger) {
        let size = value.bitWidth / 8
        UnsafeMutableRawPointer(buffer.room(size)).storeBytes(of: value.littleEndian, as: type(of: value))
        buffer.advance(by: size)
    }

    /// Writes bytes unchanged.
    mutating func raw(_ other: some Sequence<UInt8>) {
        for byte in other { buffer.append(byte) }
    }

    /// Overwrites encoded bytes at an offset.
    mutating func overwrite(at offset: Int, with value: UInt32) {
        buffer.overwrite(at: offset, with: value)
    }

    private mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            buffer.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        buffer.append(UInt8(truncatingIfNeeded: rest))
    }

    private mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { text in
            number(UInt64(text.count))
            buffer.append(text)
        }
    }

    private mutating func write(_ metadata: LogMetadata, depth: Int) {
        number(UInt64(metadata.count))
        for pair in metadata {
            text(pair.key)
            write(pair.value, depth: depth)
        }
    }

    /// Values nested deeper than formats write are replaced.
    private mutating func write(_ value: LogValue, depth: Int) {
        switch value {
        case .null: tag(.null)
        case .string(let value): tagged(value)
        case .int(let value):
            tag(.int)
            fixed(value)
        case .double(let value):
            tag(.double)
            fixed(value.bitPattern)
        case .bool(let value): tag(value ? .yes : .no)
        case .date(let value):
            tag(.date)
            fixed(value.timeIntervalSinceReferenceDate.bitPattern)
        case .data(let value):
            tag(.data)
            number(UInt64(value.count))
            value.withUnsafeBytes { buffer.append($0.bindMemory(to: UInt8.self)) }
        case .array(let values):
            guard depth < LogValue.maximumDepth else { return tagged(LogValue.tooDeep) }
            tag(.array)
            number(UInt64(values.count))
            for value in values { write(value, depth: depth + 1) }
        case .dictionary(let values):
            guard depth < LogValue.maximumDepth else { return tagged(LogValue.tooDeep) }
            tag(.dictionary)
            write(values, depth: depth + 1)
        }
    }

    private mutating func tag(_ tag: Tag) {
        buffer.append(tag.rawValue)
    }

    private mutating func tagged(_ value: String) {
        tag(.string)
        text(value)
    }
}

/// Decodes the output of ``RecordEncoder``. Arbitrary bytes are safe: invalid records are `nil`.
struct RecordDecoder {
    private var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    private var offset = 0
    private var names = RecentTexts()

    /// Returns the record at the start of the bytes.
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

    /// Decodes a number of elements. Each takes at least a byte, so the number never exceeds the remaining bytes.
    private mutating func count() -> Int? {
        guard let number = number(), number <= UInt64(bytes.count - offset) else { return nil }
        return Int(number)
    }

    private mutating func span() -> UnsafeRawBufferPointer? {
        guard let count = count() else { return nil }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    /// Decodes a text that probably occurred before.
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

/// A cache of recently decoded texts, because most names occur in every record.
struct RecentTexts {
    /// The cached texts, indexed by a hash of their last eight bytes.
    private var slots = [String](repeating: "", count: 64)

    /// The minimum length of cached texts, in bytes: Swift stores shorter strings inline.
    private static var shortest: Int { 16 }

    /// Returns the text of UTF-8 bytes; invalid sequences are repaired.
    mutating func text(of bytes: UnsafeRawBufferPointer) -> String {
        guard bytes.count >= Self.shortest, let start = bytes.baseAddress else { return String(decoding: bytes, as: UTF8.self) }
        let end = bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
        let slot = Int((end &* 0x9E37_79B9_7F4A_7C15) >> 58)
        if slots[slot].utf8.count == bytes.count {
            let isKnown = slots[slot].utf8.withContiguousStorageIfAvailable { known in
                known.baseAddress.map { memcmp($0, start, bytes.count) == 0 } ?? false
            }
            if isKnown == true { return slots[slot] }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        slots[slot] = text
        return text
    }
}

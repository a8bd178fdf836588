import Foundation

/// Writes records in the spool's own form, which no receiver's format shapes: every field exactly, nothing computed.
///
/// | field | as |
/// |---|---|
/// | level | 1 byte, first, so that records can be counted by level without being read |
/// | what is there | 1 byte: bit 0 error, 1 trace, 2 span, 3 source |
/// | id | 16 bytes |
/// | sequence | number |
/// | time, uptime | 8 bytes each |
/// | label, message | text |
/// | metadata | number of pairs; each text, value |
/// | error | text |
/// | trace | 16 bytes, the flags in 1, the span in 8 |
/// | source | text, text, number |
///
/// Numbers of fixed size have their lowest byte first; others are written seven bits a byte, the lowest first (LEB128). A text is its
/// length in bytes and its UTF-8. What stands behind these fields is for later versions: readers pass over it.
struct RecordEncoder {
    private(set) var bytes: [UInt8] = []

    /// What kind of value comes.
    enum Tag: UInt8 {
        case null, string, int, double, no, yes, array, dictionary, date, data
    }

    enum Part {
        static let error: UInt8 = 1
        static let trace: UInt8 = 2
        static let span: UInt8 = 4
        static let source: UInt8 = 8
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    mutating func truncate(to count: Int) {
        bytes.removeLast(max(0, bytes.count - count))
    }

    mutating func write(_ record: LogRecord) {
        bytes.append(record.level.rawValue)
        var parts: UInt8 = 0
        if record.error != nil { parts |= Part.error }
        if record.trace != nil { parts |= Part.trace }
        if record.trace?.span != nil { parts |= Part.span }
        if record.source != nil { parts |= Part.source }
        bytes.append(parts)
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
            bytes.append(trace.flags)
            if let span = trace.span { fixed(span) }
        }
        if let source = record.source {
            text(source.file)
            text(source.function)
            number(UInt64(source.line))
        }
    }

    /// Writes a number in as many bytes as its type has, the lowest first.
    mutating func fixed(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Writes bytes as they are.
    mutating func raw(_ other: some Sequence<UInt8>) {
        bytes.append(contentsOf: other)
    }

    /// Writes over what stands at a place already.
    mutating func overwrite(at offset: Int, with value: UInt32) {
        for index in 0..<4 where bytes.indices.contains(offset + index) {
            bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * index))
        }
    }

    private mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    private mutating func text(_ value: String) {
        number(UInt64(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    private mutating func write(_ metadata: LogMetadata, depth: Int) {
        number(UInt64(metadata.count))
        for pair in metadata {
            text(pair.key)
            write(pair.value, depth: depth)
        }
    }

    /// What is nested deeper than formats write is not kept either.
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
            bytes.append(contentsOf: value)
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
        bytes.append(tag.rawValue)
    }

    private mutating func tagged(_ value: String) {
        tag(.string)
        text(value)
    }
}

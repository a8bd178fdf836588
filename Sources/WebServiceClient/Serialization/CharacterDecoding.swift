public import Foundation

extension TextEncoding {
    /// Decodes the bytes; a leading byte order mark is dropped.
    ///
    /// - Throws: ``SerializationError`` with the place of the first byte that isn't valid in this charset.
    public func decode(_ data: Data) throws -> String {
        var bytes = Array(data)
        var order: ByteOrder?
        var markLength = 0
        if let mark = mark(in: data) {
            (order, markLength) = mark
            bytes.removeFirst(markLength)
        }
        do throws(SystemCharset.Fault) {
            switch form {
            case .utf8: return try Self.decode8(bytes, below: 0x11_0000)
            case .ascii: return try Self.decode8(bytes, below: 0x80)
            case .utf16(let own): return try Self.decode16(bytes, order ?? own ?? .big)
            case .utf32(let own): return try Self.decode32(bytes, order ?? own ?? .big)
            case .latin1: return try Self.decode(bytes) { Unicode.Scalar($0) }
            case .table(let digits):
                let characters = Self.upperHalf(digits).characters
                return try Self.decode(bytes) { $0 < 0x80 ? Unicode.Scalar($0) : characters[Int($0 - 0x80)] }
            case .system(let charset): return try charset.decode(bytes)
            }
        } catch {
            throw SerializationError(
                .charset,
                "The body isn't valid \(name) at byte \(error.offset + markLength), although it is declared in that charset.")
        }
    }

    /// Encodes a text.
    ///
    /// - Throws: ``SerializationError`` that names the first character missing from this charset.
    public func encode(_ text: String) throws -> Data {
        do throws(SystemCharset.Fault) {
            switch form {
            case .utf8: return Data(text.utf8)
            case .utf16(let own): return Self.encode16(text, own ?? .big, mark: own == nil)
            case .utf32(let own): return Self.encode32(text, own ?? .big, mark: own == nil)
            case .ascii: return try Self.encode(text) { _ in nil }
            case .latin1: return try Self.encode(text) { UInt8(exactly: $0.value) }
            case .table(let digits):
                let bytes = Self.upperHalf(digits).bytes
                return try Self.encode(text) { bytes[$0] }
            case .system(let charset): return Data(try charset.encode(text))
            }
        } catch {
            let scalar = text.utf8.index(text.startIndex, offsetBy: error.offset, limitedBy: text.endIndex)
                .flatMap { $0 < text.endIndex ? text.unicodeScalars[$0] : nil }
            let offender = scalar.map { ", which has no “\(VisibleText.of(String($0)))” (U+\(Self.number($0)))" } ?? ""
            throw SerializationError(.charset, "The text can't be written in \(name)\(offender): use utf-8.")
        }
    }

    private static func number(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// The byte order mark at the beginning of the bytes, if this charset allows it. The charset decides which marks to look for, since
    /// UTF-16 text may begin with the bytes of UTF-32's mark.
    private func mark(in data: Data) -> (order: ByteOrder, length: Int)? {
        let found: (order: ByteOrder, length: Int)? =
            switch form {
            case .utf8: data.starts(with: [0xEF, 0xBB, 0xBF]) ? (.big, 3) : nil
            case .utf16: data.starts(with: [0xFF, 0xFE]) ? (.little, 2) : data.starts(with: [0xFE, 0xFF]) ? (.big, 2) : nil
            case .utf32: data.starts(with: [0xFF, 0xFE, 0, 0]) ? (.little, 4) : data.starts(with: [0, 0, 0xFE, 0xFF]) ? (.big, 4) : nil
            default: nil
            }
        switch form {
        case .utf16(let own?), .utf32(let own?): return found?.order == own ? found : nil
        default: return found
        }
    }
}

extension TextEncoding {
    /// The table of a single-byte charset.
    private struct UpperHalf: Sendable {
        /// The characters of the bytes from 0x80 on: always 128.
        let characters: [Unicode.Scalar?]
        /// The byte of each of these characters.
        let bytes: [Unicode.Scalar: UInt8]

        init(_ digits: String) {
            let digits = Array(digits.utf8)
            var bytes: [Unicode.Scalar: UInt8] = [:]
            characters = (0..<128).map { index in
                guard index * 4 + 4 <= digits.count else { return nil }
                let number = UInt32(String(decoding: digits[index * 4..<index * 4 + 4], as: UTF8.self), radix: 16)
                guard let scalar = number.flatMap({ $0 == 0xFFFD ? nil : Unicode.Scalar($0) }) else { return nil }
                bytes[scalar] = UInt8(0x80 + index)
                return scalar
            }
            self.bytes = bytes
        }
    }

    /// The tables used so far, parsed once each.
    private static let upperHalves = Locked<[String: UpperHalf]>([:])

    private static func upperHalf(_ digits: String) -> UpperHalf {
        if let known = upperHalves.withLock({ $0[digits] }) { return known }
        let made = UpperHalf(digits)
        upperHalves.withLock { $0[digits] = made }
        return made
    }

    private static func decode(
        _ bytes: [UInt8], _ character: (UInt8) -> Unicode.Scalar?
    ) throws(SystemCharset.Fault) -> String {
        var text = String.UnicodeScalarView()
        text.reserveCapacity(bytes.count)
        for (offset, byte) in bytes.enumerated() {
            guard let scalar = character(byte) else { throw SystemCharset.Fault(offset: offset) }
            text.append(scalar)
        }
        return String(text)
    }

    private static func encode(_ text: String, _ byte: (Unicode.Scalar) -> UInt8?) throws(SystemCharset.Fault) -> Data {
        var data = Data(capacity: text.utf8.count)
        var offset = 0
        for scalar in text.unicodeScalars {
            guard let byte = scalar.value < 0x80 ? UInt8(scalar.value) : byte(scalar) else {
                throw SystemCharset.Fault(offset: offset)
            }
            data.append(byte)
            offset += UTF8.width(scalar)
        }
        return data
    }

    /// Decodes UTF-8 whose characters are all below a limit.
    private static func decode8(_ bytes: [UInt8], below limit: UInt32) throws(SystemCharset.Fault) -> String {
        if let text = String(bytes: bytes, encoding: limit == 0x80 ? .ascii : .utf8), text.utf8.count == bytes.count { return text }
        var codec = UTF8()
        var iterator = bytes.makeIterator()
        var text = String.UnicodeScalarView()
        var offset = 0
        while true {
            switch codec.decode(&iterator) {
            case .scalarValue(let scalar) where scalar.value < limit:
                text.append(scalar)
                offset += UTF8.width(scalar)
            case .emptyInput: return String(text)
            default: throw SystemCharset.Fault(offset: offset)
            }
        }
    }

    private static func decode16(_ bytes: [UInt8], _ order: ByteOrder) throws(SystemCharset.Fault) -> String {
        let units = stride(from: 0, to: bytes.count - 1, by: 2).lazy.map { index -> UInt16 in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return order == .big ? first << 8 | second : second << 8 | first
        }
        var text = String.UnicodeScalarView()
        var codec = UTF16()
        var iterator = units.makeIterator()
        var offset = 0
        while true {
            switch codec.decode(&iterator) {
            case .scalarValue(let scalar):
                text.append(scalar)
                offset += UTF16.width(scalar) * 2
            case .emptyInput:
                guard offset == bytes.count else { throw SystemCharset.Fault(offset: offset) }
                return String(text)
            case .error: throw SystemCharset.Fault(offset: offset)
            }
        }
    }

    private static func encode16(_ text: String, _ order: ByteOrder, mark: Bool) -> Data {
        var data = Data(capacity: text.utf16.count * 2 + 2)
        func append(_ unit: UInt16) {
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            data.append(contentsOf: order == .big ? [high, low] : [low, high])
        }
        if mark { append(0xFEFF) }
        for unit in text.utf16 { append(unit) }
        return data
    }

    private static func decode32(_ bytes: [UInt8], _ order: ByteOrder) throws(SystemCharset.Fault) -> String {
        var text = String.UnicodeScalarView()
        for index in stride(from: 0, to: bytes.count, by: 4) {
            guard index + 4 <= bytes.count else { throw SystemCharset.Fault(offset: index) }
            let four = order == .big ? Array(bytes[index..<index + 4]) : bytes[index..<index + 4].reversed()
            guard let scalar = Unicode.Scalar(four.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }) else {
                throw SystemCharset.Fault(offset: index)
            }
            text.append(scalar)
        }
        return String(text)
    }

    private static func encode32(_ text: String, _ order: ByteOrder, mark: Bool) -> Data {
        var data = Data(capacity: text.unicodeScalars.count * 4 + 4)
        func append(_ value: UInt32) {
            let four = [24, 16, 8, 0].map { UInt8(value >> UInt32($0) & 0xFF) }
            data.append(contentsOf: order == .big ? four : four.reversed())
        }
        if mark { append(0xFEFF) }
        for scalar in text.unicodeScalars { append(scalar.value) }
        return data
    }
}

extension TextEncoding {
    /// Returns the bytes of a JSON text as UTF-8 without a byte order mark, which decoders require.
    ///
    /// JSON is UTF-8, and a charset in the header has no meaning (RFC 8259 §8.1 and §11). UTF-16 and UTF-32 are supported as well,
    /// detected by a byte order mark or by zero bytes at the beginning, which no other text has. If the bytes aren't UTF-8, the header's
    /// charset applies, if it is known.
    package static func utf8(from data: Data, contentType: String?) throws -> Data {
        if let mark = byteOrderMark(of: data) {
            return mark.encoding == .utf8 ? Data(data.dropFirst(mark.length)) : Data(try mark.encoding.decode(data).utf8)
        }
        if let encoding = withoutMark(data) { return Data(try encoding.decode(data).utf8) }
        guard let encoding = other(in: contentType), String(data: data, encoding: .utf8) == nil else { return data }
        return Data(try encoding.decode(data).utf8)
    }

    /// Whether bytes that begin like this, four or more, are UTF-8 by the same rules whatever follows. Such a text can be read in pieces.
    package static func isUTF8(beginning: Data, contentType: String?) -> Bool {
        if let mark = byteOrderMark(of: beginning) { return mark.encoding == .utf8 }
        return withoutMark(beginning) == nil && other(in: contentType) == nil
    }

    /// The charset of a header, if it is known and neither UTF-8 nor US-ASCII.
    private static func other(in contentType: String?) -> TextEncoding? {
        guard let encoding = try? named(in: contentType), encoding != .utf8, encoding != .ascii else { return nil }
        return encoding
    }

    /// Returns the charset that a `Content-Type` names, or `nil` if it names none.
    ///
    /// - Throws: ``SerializationError`` if the charset is unknown.
    package static func named(in contentType: String?) throws -> TextEncoding? {
        // Most headers have no charset or utf-8 and need no parsing.
        guard let contentType, !contentType.hasOnlyBytes({ $0 != UInt8(ascii: ";") }) else { return nil }
        guard !contentType.hasSuffix("charset=utf-8") else { return .utf8 }
        guard let name = MediaType(contentType)?.charset, !name.isEmpty else { return nil }
        return try named(name)
    }

    /// Returns UTF-16 or UTF-32 without a mark, detected by the position of the zero bytes of the first, ASCII, character.
    private static func withoutMark(_ data: Data) -> TextEncoding? {
        data.withUnsafeBytes { bytes in
            guard bytes.count >= 2 else { return nil }
            let (first, second) = (bytes[0] == 0, bytes[1] == 0)
            let (third, fourth): (Bool?, Bool?) = bytes.count >= 4 ? (bytes[2] == 0, bytes[3] == 0) : (nil, nil)
            switch (first, second, third, fourth) {
            case (true, true, true, false): return .utf32BigEndian
            case (false, true, true, true): return .utf32LittleEndian
            case (true, false, _, _): return .utf16BigEndian
            case (false, true, _, _): return .utf16LittleEndian
            default: return nil
            }
        }
    }
}

public import Foundation

extension TextEncoding {
    /// The text that the bytes are. A byte order mark at their beginning is left out.
    ///
    /// - Throws: ``SerializationError`` when the bytes are no text of this charset.
    public func decode(_ data: Data) throws -> String {
        var data = data
        var order: ByteOrder?
        if let mark = mark(in: data) {
            data = data.dropFirst(mark.length)
            order = mark.order
        }
        let text: String?
        switch form {
        case .utf8: text = String(data: data, encoding: .utf8)
        case .utf16(let own): text = Self.decode16(data, order ?? own ?? .big)
        case .utf32(let own): text = Self.decode32(data, order ?? own ?? .big)
        case .ascii: text = data.allSatisfy { $0 < 0x80 } ? String(decoding: data, as: UTF8.self) : nil
        case .latin1: text = Self.decodeLatin1(data)
        case .system(let number): text = String(data: data, encoding: String.Encoding(rawValue: number))
        }
        guard let text else {
            throw SerializationError(
                .charset, "The body isn't valid \(name)\(place(in: data)), though that is the charset it is said to have.")
        }
        return text
    }

    /// The bytes of a text.
    ///
    /// - Throws: ``SerializationError`` that names the first character which this charset doesn't have.
    public func encode(_ text: String) throws -> Data {
        if let data = bytes(of: text) { return data }
        let offender = text.first { bytes(of: String($0)) == nil }
        throw SerializationError(
            .charset, "The text can't be written in \(name)\(offender.map { ", which has no “\($0)”" } ?? ""): use utf-8.")
    }

    private func bytes(of text: String) -> Data? {
        switch form {
        case .utf8: Data(text.utf8)
        case .utf16(let own): Self.encode16(text, own ?? .big, mark: own == nil)
        case .utf32(let own): Self.encode32(text, own ?? .big, mark: own == nil)
        case .ascii: text.utf8.allSatisfy { $0 < 0x80 } ? Data(text.utf8) : nil
        case .latin1: Self.encodeLatin1(text)
        case .system(let number): text.data(using: String.Encoding(rawValue: number), allowLossyConversion: false)
        }
    }

    /// The mark at the beginning of the bytes, when it is one that this charset may have. A UTF-16 text may begin with what would be
    /// UTF-32's mark, so that the charset decides what is looked for.
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

    /// Where the first byte that is no UTF-8 stands; for other charsets nothing is said.
    private func place(in data: Data) -> String {
        guard form == .utf8 else { return "" }
        var codec = UTF8()
        var bytes = data.makeIterator()
        var position = 0
        while true {
            switch codec.decode(&bytes) {
            case .scalarValue(let scalar): position += UTF8.width(scalar)
            case .emptyInput: return ""
            case .error: return " at byte \(position)"
            }
        }
    }
}

extension TextEncoding {
    private static func decodeLatin1(_ data: Data) -> String {
        var text = String.UnicodeScalarView()
        text.reserveCapacity(data.count)
        for byte in data { text.append(Unicode.Scalar(byte)) }
        return String(text)
    }

    private static func encodeLatin1(_ text: String) -> Data? {
        var data = Data(capacity: text.utf8.count)
        for scalar in text.unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else { return nil }
            data.append(byte)
        }
        return data
    }

    private static func decode16(_ data: Data, _ order: ByteOrder) -> String? {
        let bytes = Array(data)
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let units = stride(from: 0, to: bytes.count, by: 2).lazy.map { index -> UInt16 in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return order == .big ? first << 8 | second : second << 8 | first
        }
        var text = String.UnicodeScalarView()
        var codec = UTF16()
        var iterator = units.makeIterator()
        while true {
            switch codec.decode(&iterator) {
            case .scalarValue(let scalar): text.append(scalar)
            case .emptyInput: return String(text)
            case .error: return nil
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

    private static func decode32(_ data: Data, _ order: ByteOrder) -> String? {
        let bytes = Array(data)
        guard bytes.count.isMultiple(of: 4) else { return nil }
        var text = String.UnicodeScalarView()
        for index in stride(from: 0, to: bytes.count, by: 4) {
            let four = order == .big ? Array(bytes[index..<index + 4]) : bytes[index..<index + 4].reversed()
            guard let scalar = Unicode.Scalar(four.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }) else { return nil }
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
    /// The bytes of a structured text in UTF-8 without a mark, as decoders of JSON want it.
    ///
    /// The byte order mark tells the charset, else the header, else, for UTF-16 and UTF-32 without a mark, the zero bytes at the
    /// beginning, which no other text has.
    package static func utf8(from data: Data, contentType: String?) throws -> Data {
        if let mark = byteOrderMark(of: data) {
            return mark.encoding == .utf8 ? Data(data.dropFirst(mark.length)) : Data(try mark.encoding.decode(data).utf8)
        }
        if let encoding = try named(in: contentType), encoding != .utf8, encoding != .ascii {
            return Data(try encoding.decode(data).utf8)
        }
        guard let encoding = withoutMark(data) else { return data }
        return Data(try encoding.decode(data).utf8)
    }

    /// Whether the bytes that begin so, four or more, are UTF-8 by the same rules: then a text can be read in pieces.
    package static func isUTF8(beginning: Data, contentType: String?) throws -> Bool {
        if let mark = byteOrderMark(of: beginning) { return mark.encoding == .utf8 }
        if let encoding = try named(in: contentType), encoding != .utf8, encoding != .ascii { return false }
        return withoutMark(beginning) == nil
    }

    /// The charset that a `Content-Type` names, `nil` when it names none.
    ///
    /// - Throws: ``SerializationError`` when it names one that isn't known here.
    package static func named(in contentType: String?) throws -> TextEncoding? {
        // Most headers have no charset or utf-8: those need no parsing.
        guard let contentType, !contentType.hasOnlyBytes({ $0 != UInt8(ascii: ";") }) else { return nil }
        guard !contentType.hasSuffix("charset=utf-8") else { return .utf8 }
        guard let name = MediaType(contentType)?.charset, !name.isEmpty else { return nil }
        return try named(name)
    }

    /// UTF-16 or UTF-32 without a mark, told by where the zeros of the first character, an ASCII one, are.
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

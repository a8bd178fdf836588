/// The reason why a text isn't JSON, or exceeds the reader's bounds: the underlying error of a `DecodingError.dataCorrupted`.
///
/// It has the place and what was expected there. It quotes at most one byte of the text, or an object's duplicate name.
public struct JSONSyntaxError: DescribedError, Sendable, Hashable {
    /// The kinds of failure.
    public enum Kind: Sendable, Hashable {
        /// The text ends before its value does.
        case truncated
        /// An unexpected byte (RFC 8259): a missing or trailing comma, an unknown word, a leading zero, an unknown escape, a control
        /// character, or text after the value.
        case syntax
        /// The bytes aren't UTF-8, or an escape is half a surrogate pair.
        case encoding
        /// An object has two members of the same name.
        case duplicateName
        /// The containers are nested more deeply than the reader's ``JSONReader/depthLimit``.
        case depth
        /// The text, an element of it, or a string exceeds the reader's bounds.
        case size
    }

    /// The kind of failure.
    public let kind: Kind
    /// The number of bytes before the place, counted in UTF-8 from the beginning of the text without a byte order mark.
    public let offset: Int
    /// The line, counted from 1; `nil` if the text was read in pieces.
    public let line: Int?
    /// The byte in the line, counted from 1; `nil` if the text was read in pieces.
    public let column: Int?
    /// The description of the fault, without the place.
    public let message: String

    /// The message with the place.
    public var description: String {
        guard let line, let column else { return "\(message) (byte \(offset))." }
        return "\(message) (line \(line), column \(column), byte \(offset))."
    }
}

extension JSONSyntaxError {
    /// - Parameters:
    ///   - text: The text with the fault.
    ///   - before: The number of preceding bytes that aren't in `text`; `nil` for a whole text.
    init(_ fault: JSONFault, in text: UnsafeBufferPointer<UInt8>, after before: Int? = nil, limit: Int) {
        let place = min(max(fault.offset, 0), text.count)
        let head = text[..<place]
        let byte = place < text.count ? Self.name(of: text[place]) : "the end"
        kind = Self.kind(of: fault.reason)
        offset = place + (before ?? 0)
        line = before == nil ? head.count { $0 == 0x0A } + 1 : nil
        column = before == nil ? place - (head.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1 : nil
        message = Self.message(fault.reason, byte: byte, name: Self.name(in: text, at: place), limit: limit)
    }

    /// Creates the error for exceeding a size bound.
    init(size what: String, limit: Int, offset: Int) {
        kind = .size
        self.offset = offset
        line = nil
        column = nil
        message = "\(what) is larger than the limit of \(limit) bytes"
    }

    private static func kind(of reason: JSONFault.Reason) -> Kind {
        switch reason {
        case .truncated, .empty: .truncated
        case .encoding, .surrogate: .encoding
        case .duplicate: .duplicateName
        case .depth: .depth
        case .length, .size: .size
        default: .syntax
        }
    }

    private static func message(_ reason: JSONFault.Reason, byte: String, name: String?, limit: Int) -> String {
        switch reason {
        case .truncated: "The JSON ends within a value: it was cut short"
        case .empty: "There is no JSON: the text is empty"
        case .value: "\(byte) was found where a value must begin"
        case .afterValue, .trailing: "\(byte) follows the JSON value, after which only white space is allowed"
        case .afterElement: "\(byte) was found where “,” or “]” must follow an element"
        case .afterMember: "\(byte) was found where “,” or “}” must follow a member"
        case .name: "\(byte) was found where a member's name in quotation marks must begin"
        case .colon: "\(byte) was found where “:” must follow a member's name"
        case .trailingComma: "\(byte) follows a comma, which must be followed by another element"
        case .literal: "A word other than true, false and null isn't allowed"
        case .number: "\(byte) was found where a number's first digit must be"
        case .fraction: "\(byte) was found where the first digit of a number's fraction must be"
        case .exponent: "\(byte) was found where the first digit of a number's exponent must be"
        case .controlCharacter: "The control character \(byte) in a string must be escaped"
        case .escape: "A backslash in a string doesn't begin a JSON escape"
        case .hexDigits: "\\u isn't followed by four hexadecimal digits"
        case .surrogate: "An escape is one half of a surrogate pair without the other"
        case .encoding: "\(byte) isn't valid UTF-8"
        case .duplicate: name.map { "The object has the member “\($0)” twice" } ?? "The object has a member of this value's name twice"
        case .depth: "The JSON is nested more than \(limit) containers deep, the bound that JSONReader.depthLimit sets"
        case .length: "A string or number is longer than \(JSONWord.longestLength) bytes"
        case .size: "The JSON is larger than the limit of \(limit) bytes, which JSONReader.sizeLimit sets"
        }
    }

    private static func name(of byte: UInt8) -> String {
        guard byte >= 0x20, byte < 0x7F else { return "byte 0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }
        return "“" + String(UnicodeScalar(byte)) + "”"
    }

    /// The beginning of the name at a place.
    private static func name(in text: UnsafeBufferPointer<UInt8>, at place: Int) -> String? {
        guard place < text.count, text[place] == UInt8(ascii: "\"") else { return nil }
        let name = text[(place + 1)...].prefix { $0 != UInt8(ascii: "\"") }
        return SerializationError.excerpt(String(decoding: name.prefix(200), as: UTF8.self), upTo: 40)
    }
}

/// The place and reason of a syntax error. It is small, since the scanner throws it; callers get a ``JSONSyntaxError``.
struct JSONFault: Error {
    enum Reason: Error {
        case truncated, empty
        case value, afterValue, afterElement, afterMember, name, colon, trailing
        case trailingComma
        case literal, number, exponent, fraction
        case controlCharacter, escape, hexDigits, surrogate, encoding
        case duplicate
        case depth, length, size
    }

    let reason: Reason
    let offset: Int
}

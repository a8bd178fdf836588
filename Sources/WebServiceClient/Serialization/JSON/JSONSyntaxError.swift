/// Why a text is no JSON, or more of it than the reader's bounds allow: the underlying error of the `DecodingError.dataCorrupted` that is
/// thrown.
///
/// It tells the place and what was expected there. Of the text it quotes no more than one byte, or the name that an object has twice.
public struct JSONSyntaxError: DescribedError, Sendable, Hashable {
    /// What sort of failure.
    public enum Kind: Sendable, Hashable {
        /// The text ends before its value does.
        case truncated
        /// A byte stands where it can't (RFC 8259): a missing or trailing comma, an unknown word, a zero before a number, an escape that
        /// doesn't exist, a control character, something after the value.
        case syntax
        /// The bytes are no UTF-8, or an escape is half of a surrogate pair.
        case encoding
        /// An object has two members of the same name.
        case duplicateName
        /// More containers stand inside each other than the reader's ``JSONReader/depthLimit``.
        case depth
        /// The text, an element of it, or one string is larger than the reader's bounds.
        case size
    }

    /// What sort of failure.
    public let kind: Kind
    /// The bytes before the place, counted in UTF-8 from the beginning of the text without a byte order mark.
    public let offset: Int
    /// The line, counted from 1; `nil` where the text was read in pieces.
    public let line: Int?
    /// The byte in the line, counted from 1; `nil` where the text was read in pieces.
    public let column: Int?
    /// What is wrong.
    public let message: String

    /// The message with the place.
    public var description: String {
        guard let line, let column else { return "\(message) (byte \(offset))." }
        return "\(message) (line \(line), column \(column), byte \(offset))."
    }
}

extension JSONSyntaxError {
    /// - Parameters:
    ///   - text: the text in which the fault is.
    ///   - before: how many bytes of the text went before these; `nil` for a text that is whole.
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

    /// That there is more of something than a bound allows.
    init(size what: String, limit: Int, offset: Int) {
        kind = .size
        self.offset = offset
        line = nil
        column = nil
        message = "\(what) is larger than the bound of \(limit) bytes"
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
        case .value: "\(byte) stands where a value must begin"
        case .afterValue, .trailing: "\(byte) follows the JSON value, after which only white space may stand"
        case .afterElement: "\(byte) stands where “,” or “]” must follow an element"
        case .afterMember: "\(byte) stands where “,” or “}” must follow a member"
        case .name: "\(byte) stands where a member's name in quotation marks must begin"
        case .colon: "\(byte) stands where “:” must follow a member's name"
        case .trailingComma: "\(byte) follows a comma, after which another element must stand"
        case .literal: "A word stands here that is none of true, false and null"
        case .number: "\(byte) stands where a number's first digit must"
        case .fraction: "\(byte) stands where the first digit of a number's fraction must"
        case .exponent: "\(byte) stands where the first digit of a number's exponent must"
        case .controlCharacter: "The control character \(byte) stands in a string: it must be escaped"
        case .escape: "A backslash in a string begins no escape of JSON"
        case .hexDigits: "\\u isn't followed by four hexadecimal digits"
        case .surrogate: "An escape is one half of a surrogate pair without the other"
        case .encoding: "\(byte) is no UTF-8"
        case .duplicate: name.map { "The object has the member “\($0)” twice" } ?? "The object has a member of this value's name twice"
        case .depth: "More than \(limit) containers stand inside each other"
        case .length: "A string or number is longer than \(JSONWord.longestLength) bytes"
        case .size: "The JSON is larger than the bound of \(limit) bytes"
        }
    }

    private static func name(of byte: UInt8) -> String {
        guard byte >= 0x20, byte < 0x7F else { return "byte 0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }
        return "“" + String(UnicodeScalar(byte)) + "”"
    }

    /// The beginning of the name that stands at a place.
    private static func name(in text: UnsafeBufferPointer<UInt8>, at place: Int) -> String? {
        guard place < text.count, text[place] == UInt8(ascii: "\"") else { return nil }
        let name = text[(place + 1)...].prefix { $0 != UInt8(ascii: "\"") }
        return SerializationError.excerpt(String(decoding: name.prefix(200), as: UTF8.self), upTo: 40)
    }
}

/// Where and why a text is no JSON. Small, since the scanner throws it; ``JSONSyntaxError`` is what callers see.
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

/// A media type with its parameters, as in `Content-Type` and `Accept` (RFC 9110 §8.3.1).
///
/// Parsing is lenient: it accepts whitespace between the parts, any case, values in double or single quotes, empty parameters, and a
/// missing semicolon. The printed form is exact.
///
///     MediaType("Text/HTML ; Charset='UTF-8'")?.description      // text/html; charset=UTF-8
public struct MediaType: Sendable, Hashable {
    /// A parameter: its name in lower case and its unquoted value.
    public struct Parameter: Sendable, Hashable {
        /// The name, in lower case.
        public let name: String
        /// The value, unquoted.
        public let value: String
    }

    /// The type in lower case, such as `text`; `*` in a range.
    public let type: String
    /// The subtype in lower case, such as `html`; `*` in a range.
    public let subtype: String
    /// The type and subtype in lower case without parameters, such as `text/html`.
    public let essence: String
    /// The parameters in order. If a name is repeated, the first one counts.
    public let parameters: [Parameter]

    /// Creates a media type from its parts.
    ///
    /// - Returns: `nil` if the type, the subtype or a parameter's name isn't a token of RFC 9110 §5.6.2, or a value contains control
    ///   characters, which headers don't allow.
    public init?(type: String, subtype: String, parameters: [(name: String, value: String)] = []) {
        guard URLEncoding.isToken(type), URLEncoding.isToken(subtype) else { return nil }
        for parameter in parameters {
            guard URLEncoding.isToken(parameter.name), parameter.value.utf8.allSatisfy({ !Self.isControl($0) }) else { return nil }
        }
        self.init(
            checkedType: type.lowercased(), subtype: subtype.lowercased(),
            parameters: parameters.map { Parameter(name: $0.name.lowercased(), value: $0.value) })
    }

    package init(checkedType type: String, subtype: String, parameters: [Parameter]) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters
        essence = type + "/" + subtype
    }

    /// Whether the type is one of web pages.
    package var isHTML: Bool { essence == "text/html" || essence == "application/xhtml+xml" }

    /// The value of the first parameter with that name, ignoring case.
    public subscript(name: String) -> String? {
        if parameters.isEmpty { return nil }
        let lowered = name.lowercased()
        return parameters.first { $0.name == lowered }?.value
    }

    /// The charset as sent, such as `UTF-8`.
    public var charset: String? { self["charset"] }

    /// The structured syntax suffix (RFC 6838 §4.2.8) without its plus sign: `json` in `application/problem+json`.
    public var suffix: String? {
        guard let plus = subtype.lastIndex(of: "+") else { return nil }
        let suffix = subtype[subtype.index(after: plus)...]
        return suffix.isEmpty ? nil : String(suffix)
    }

    /// The weight `q` of an `Accept` range, 0 to 1 (RFC 9110 §12.4.2); 1 if it is missing or unreadable.
    public var quality: Double {
        guard let text = self["q"], let value = Double(text), value.isFinite else { return 1 }
        return min(max(value, 0), 1)
    }
}

extension MediaType: LosslessStringConvertible {
    /// Parses a media type leniently; uses the first one of a list. Returns `nil` if the text contains no `type/subtype`.
    public init?(_ description: String) {
        var reader = MediaTypeReader(description)
        guard let value = reader.mediaType() else { return nil }
        self = value
    }

    /// The media type in the form of a header value. Values that aren't tokens are quoted.
    public var description: String {
        var text = essence
        for parameter in parameters {
            text += "; " + parameter.name + "="
            // A leading single quote is a token character, but lenient parsers, including this one, read it as a quotation mark.
            if URLEncoding.isToken(parameter.value), !parameter.value.hasPrefix("'") {
                text += parameter.value
            } else {
                text += "\""
                for scalar in parameter.value.unicodeScalars {
                    if scalar == "\"" || scalar == "\\" { text += "\\" }
                    text.unicodeScalars.append(scalar)
                }
                text += "\""
            }
        }
        return text
    }
}

extension MediaType {
    static func isControl(_ byte: UInt8) -> Bool {
        byte < 0x20 && byte != UInt8(ascii: "\t") || byte == 0x7F
    }
}

/// Parses one media type. Every step moves forward, so parsing ends on any input.
struct MediaTypeReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func mediaType() -> MediaType? {
        skip { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let type = token()
        skipBlanks()
        guard !type.isEmpty, byte == UInt8(ascii: "/") else { return nil }
        position += 1
        skipBlanks()
        let subtype = token()
        guard !subtype.isEmpty else { return nil }
        return MediaType(checkedType: type.lowercased(), subtype: subtype.lowercased(), parameters: parameters())
    }

    private mutating func parameters() -> [MediaType.Parameter] {
        var found: [MediaType.Parameter] = []
        while true {
            skip { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: ";") }
            guard let next = byte, next != UInt8(ascii: ",") else { return found }
            let name = token()
            skipBlanks()
            guard !name.isEmpty, byte == UInt8(ascii: "=") else {
                if let next = byte, !name.isEmpty, next == UInt8(ascii: ";") || URLEncoding.Alphabet.token.contains(next) { continue }
                // Neither a name nor a pair. Its value is skipped, so that nothing inside quotation marks is parsed as a parameter.
                skip { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ",") }
                if byte == UInt8(ascii: "=") {
                    position += 1
                    skipBlanks()
                    _ = value()
                }
                continue
            }
            position += 1
            skipBlanks()
            found.append(MediaType.Parameter(name: name.lowercased(), value: value()))
        }
    }

    private mutating func value() -> String {
        switch byte {
        case UInt8(ascii: "\""):
            position += 1
            let value = doubleQuoted()
            // Text directly after the closing quotation mark is ignored.
            skip { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
            return value
        case UInt8(ascii: "'"):
            let rest = bytes[(position + 1)...]
            let end = rest.firstIndex { $0 == UInt8(ascii: "'") || $0 == UInt8(ascii: ";") }
            if let end, bytes[end] == UInt8(ascii: "'") {
                position = end + 1
                return Self.text(rest[..<end])
            }
            return bare()
        default:
            return bare()
        }
    }

    private mutating func doubleQuoted() -> String {
        var value: [UInt8] = []
        while let next = byte {
            position += 1
            if next == UInt8(ascii: "\"") { break }
            if next == UInt8(ascii: "\\"), let escaped = byte {
                position += 1
                value.append(escaped)
            } else {
                value.append(next)
            }
        }
        return Self.text(value[...])
    }

    private mutating func bare() -> String {
        let start = position
        skip { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
        var end = position
        while end > start, bytes[end - 1] == UInt8(ascii: " ") || bytes[end - 1] == UInt8(ascii: "\t") { end -= 1 }
        return Self.text(bytes[start..<end])
    }

    /// Returns the text without control characters, which header values can't contain.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        if !bytes.contains(where: MediaType.isControl) { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: bytes.filter { !MediaType.isControl($0) }, as: UTF8.self)
    }

    private mutating func token() -> String {
        let start = position
        skip(while: URLEncoding.Alphabet.token.contains)
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func skipBlanks() {
        skip { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while let next = byte, condition(next) { position += 1 }
    }
}

/// A media type with its parameters, as in `Content-Type` and `Accept` (RFC 9110 §8.3.1).
///
/// Reading is lenient, since servers are not exact: blanks anywhere between the parts, any case, values in double or in single
/// quotes, empty parameters, a missing semicolon. Printing is exact.
///
///     MediaType("Text/HTML ; Charset='UTF-8'")?.description      // text/html; charset=UTF-8
public struct MediaType: Sendable, Hashable {
    /// A parameter: its name in lower case, its value as it is meant, without quotes.
    public struct Parameter: Sendable, Hashable {
        /// The name, in lower case.
        public let name: String
        /// The value, unquoted.
        public let value: String
    }

    /// The type, in lower case, such as `text`; `*` in a range.
    public let type: String
    /// The subtype, in lower case, such as `html`; `*` in a range.
    public let subtype: String
    /// Type and subtype in lower case without parameters, such as `text/html`.
    public let essence: String
    /// The parameters in their order. A name may stand here twice: the first one counts.
    public let parameters: [Parameter]

    /// A media type from its parts.
    ///
    /// - Returns: `nil` when the type, the subtype or a parameter's name is no token of RFC 9110 §5.6.2, or a value has control
    ///   characters in it, which no header may carry.
    public init?(type: String, subtype: String, parameters: [(name: String, value: String)] = []) {
        guard URLEncoding.isToken(type), URLEncoding.isToken(subtype) else { return nil }
        for parameter in parameters {
            guard URLEncoding.isToken(parameter.name), parameter.value.utf8.allSatisfy({ !Self.isControl($0) }) else { return nil }
        }
        self.init(
            checkedType: type.lowercased(), subtype: subtype.lowercased(),
            parameters: parameters.map { Parameter(name: $0.name.lowercased(), value: $0.value) })
    }

    init(checkedType type: String, subtype: String, parameters: [Parameter]) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters
        essence = type + "/" + subtype
    }

    /// The value of the first parameter of that name, in any case.
    public subscript(name: String) -> String? {
        if parameters.isEmpty { return nil }
        let lowered = name.lowercased()
        return parameters.first { $0.name == lowered }?.value
    }

    /// The charset as it was sent, such as `UTF-8`.
    public var charset: String? { self["charset"] }

    /// The structured syntax suffix (RFC 6838 §4.2.8) without its plus sign: `json` in `application/problem+json`.
    public var suffix: String? {
        guard let plus = subtype.lastIndex(of: "+") else { return nil }
        let suffix = subtype[subtype.index(after: plus)...]
        return suffix.isEmpty ? nil : String(suffix)
    }

    /// The weight `q` of an `Accept` range, 0 to 1 (RFC 9110 §12.4.2); 1 when there is none or it can't be read.
    public var quality: Double {
        guard let text = self["q"], let value = Double(text), value.isFinite else { return 1 }
        return min(max(value, 0), 1)
    }
}

extension MediaType: LosslessStringConvertible {
    /// Reads a media type leniently; of a list, the first one. `nil` when there is no `type/subtype` to be found.
    public init?(_ description: String) {
        var reader = MediaTypeReader(description)
        guard let value = reader.mediaType() else { return nil }
        self = value
    }

    /// The media type as a header carries it: values that are no tokens are quoted.
    public var description: String {
        var text = essence
        for parameter in parameters {
            text += "; " + parameter.name + "="
            // A single quote at the beginning is a token character, but lenient readers, ours too, take it for a quotation mark.
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

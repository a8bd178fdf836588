public import Foundation

/// A link in a `Link` field (RFC 8288 §3): a target, its relations, and attributes that describe it.
///
///     let response: ServiceResponse<[Issue]> = try await github.http.get("/issues").response()
///     if let next = response.link("next")?.url { … }
///
/// Fields are parsed by RFC 8288 appendix B: targets and quoted values may contain commas and semicolons, and the rest of a field line
/// after a syntax error is ignored.
public struct WebLink: Sendable, Hashable {
    /// The maximum number of links that are read from one message, and of parameters of one link. Further ones are ignored.
    public static let limit = 1_000

    /// An attribute of a link, such as `title` or `type`.
    public struct Parameter: Sendable, Hashable {
        /// The name in lower case. A name that ended with `*` has lost the asterisk.
        public let name: String
        /// The value, decoded; empty for a parameter without a value.
        public let value: String
        /// The language of an extended value (RFC 8187), such as `de`; `nil` if it has none.
        public let language: String?
    }

    /// The target as written, absolute or relative.
    public let reference: String
    /// The target, resolved against the URL of the message (§3.1); `nil` if it isn't a URL.
    public let url: URL?
    /// The relations of the first `rel` (§3.3), in order. Registered relations are in lower case; URIs keep their spelling.
    public let relations: [String]
    /// The context of the link as written, if it isn't the message's own URL (§3.2).
    public let anchor: String?
    /// All attributes except `rel` and `anchor`, in order. An extended attribute, such as `title*`, replaces the plain one.
    public let parameters: [Parameter]

    /// Returns the value of the first attribute with a name, such as `title`, `type`, `hreflang` or `media`; `nil` if there is none.
    public subscript(parameter name: String) -> String? {
        let name = name.lowercased()
        return parameters.first { $0.name == name }?.value
    }

    /// The human-readable title.
    public var title: String? { self[parameter: "title"] }

    /// Returns whether the link has a relation. Relations are compared without regard to case, URIs too (§2.1).
    public func has(_ relation: String) -> Bool {
        let relation = relation.lowercased()
        return relations.contains { $0.lowercased() == relation }
    }

    /// Returns the links of a message.
    ///
    /// - Parameters:
    ///   - fields: The header fields; all `Link` fields are read, in order.
    ///   - url: The URL of the message, after redirects.
    public static func links(in fields: HTTPFields, at url: URL) -> [WebLink] {
        links(in: fields[values: "Link"], at: url)
    }

    /// Returns the links of field values.
    static func links(in values: some Sequence<String>, at url: URL) -> [WebLink] {
        var links: [WebLink] = []
        for value in values {
            var parser = WebLinkParser(value, base: url)
            while links.count < limit, let link = parser.next() { links.append(link) }
        }
        return links
    }

    /// Resolves a link that a service sends (RFC 3986 §5). Only characters that are invalid in a URL are percent-encoded.
    package static func resolved(_ reference: String, against base: URL) -> URL? {
        let repaired = URLText.repaired(reference.trimmingCharacters(in: .whitespacesAndNewlines))
        return URL(string: URLText.resolve(repaired, against: base.absoluteString))
    }

    /// Returns the first link with a relation whose context is the message itself, as paging requires.
    package static func link(_ relation: String, in fields: HTTPFields, at url: URL) -> WebLink? {
        links(in: fields, at: url).first { $0.anchor == nil && $0.has(relation) }
    }
}

/// Parses one value of a `Link` field (RFC 8288 appendix B.2).
struct WebLinkParser {
    private var rest: ArraySlice<UInt8>
    private let base: URL

    init(_ value: String, base: URL) {
        rest = Array(value.utf8)[...]
        self.base = base
    }

    /// Returns the next link; `nil` at the end of the value, or at a syntax error.
    mutating func next() -> WebLink? {
        while skipBlanks(), rest.first == UInt8(ascii: ",") { rest.removeFirst() }
        guard rest.first == UInt8(ascii: "<") else { return nil }
        rest.removeFirst()
        let target = take { $0 != UInt8(ascii: ">") }
        guard !rest.isEmpty else { return nil }
        rest.removeFirst()
        let reference = Self.text(target)
        let parameters = self.parameters()
        let relations = parameters.first { $0.name == "rel" }?.value ?? ""
        return WebLink(
            reference: reference, url: WebLink.resolved(reference, against: base), relations: Self.relations(in: relations),
            anchor: parameters.first { $0.name == "anchor" }?.value, parameters: Self.attributes(of: parameters))
    }

    private struct RawParameter {
        var name: String
        var value: String
        var language: String?
        var isExtended = false
    }

    /// Parses the parameters of a link (appendix B.3).
    private mutating func parameters() -> [RawParameter] {
        var parameters: [RawParameter] = []
        while skipBlanks(), rest.first == UInt8(ascii: ";") {
            rest.removeFirst()
            _ = skipBlanks()
            let name = Self.text(take { !Self.isBlank($0) && $0 != UInt8(ascii: "=") && !Self.isEnd($0) }).lowercased()
            _ = skipBlanks()
            var value = ""
            if rest.first == UInt8(ascii: "=") {
                rest.removeFirst()
                _ = skipBlanks()
                value = rest.first == UInt8(ascii: "\"") ? quoted() : Self.trimmed(take { !Self.isEnd($0) })
            }
            guard parameters.count < WebLink.limit, !name.isEmpty else { continue }
            if name.hasSuffix("*") {
                // A value that can't be decoded is ignored, so that the plain attribute counts.
                guard let (text, language) = ExtendedValue.decoded(value) else { continue }
                parameters.append(RawParameter(name: String(name.dropLast()), value: text, language: language, isExtended: true))
            } else {
                parameters.append(RawParameter(name: name, value: value))
            }
        }
        return parameters
    }

    /// Parses a quoted string (appendix B.4). Without a closing quotation mark it extends to the end.
    private mutating func quoted() -> String {
        rest.removeFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte != UInt8(ascii: "\\") {
                value.append(byte)
            } else if let escaped = rest.popFirst() {
                value.append(escaped)
            }
        }
        return Self.text(value[...])
    }

    /// The attributes of a link: of `media`, `title` and `type` only the first counts (§3.4.1), and extended ones replace plain ones.
    private static func attributes(of parameters: [RawParameter]) -> [WebLink.Parameter] {
        let extended = Set(parameters.lazy.filter(\.isExtended).map(\.name))
        var seen: Set<String> = []
        return parameters.compactMap { parameter in
            guard !["rel", "anchor"].contains(parameter.name), parameter.isExtended || !extended.contains(parameter.name) else {
                return nil
            }
            let isFirst = seen.insert(parameter.name).inserted
            guard isFirst || !["media", "title", "type"].contains(parameter.name) else { return nil }
            return WebLink.Parameter(name: parameter.name, value: parameter.value, language: parameter.language)
        }
    }

    /// Reads the relations of a `rel`. Single quotes around it are dropped, although RFC 8288 has none: some services send `rel='next'`,
    /// and a list would end at a link without that relation.
    private static func relations(in text: String) -> [String] {
        var bytes = text.utf8[...]
        if bytes.count > 1, bytes.first == UInt8(ascii: "'"), bytes.last == UInt8(ascii: "'") { bytes = bytes.dropFirst().dropLast() }
        return bytes.split(whereSeparator: isBlank).map { piece in
            let relation = String(decoding: piece, as: UTF8.self)
            return relation.utf8.contains(UInt8(ascii: ":")) ? relation : relation.lowercased()
        }
    }

    // MARK: Bytes

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    private static func isEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") }
    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        var bytes = bytes
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return text(bytes)
    }

    /// Skips blanks; true, so that a condition can begin with it.
    private mutating func skipBlanks() -> Bool {
        rest = rest.drop(while: Self.isBlank)
        return true
    }

    private mutating func take(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let taken = rest.prefix(while: condition)
        rest = rest[taken.endIndex...]
        return taken
    }
}

/// An extended value of a parameter, `charset'language'percent-encoded`, which represents any text in ASCII (RFC 8187 §3.2).
package enum ExtendedValue {
    /// Returns `UTF-8''` followed by the text's UTF-8 bytes, percent-encoded unless they are `attr-char`.
    package static func encoded(_ text: String) -> String {
        var result = "UTF-8''"
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            case _ where "!#$&+-.^_`|~".utf8.contains(byte):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                result += "%" + Hexadecimal.text(of: [byte]).uppercased()
            }
        }
        return result
    }

    /// Returns the text and its language; `nil` if the value has another form, another charset than UTF-8 or ISO-8859-1, or bytes that
    /// aren't valid in its charset.
    static func decoded(_ value: String) -> (text: String, language: String?)? {
        let parts = value.utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = URLEncoding.decodeBytes(String(decoding: parts[2], as: UTF8.self)) else { return nil }
        let language = parts[1].isEmpty ? nil : String(decoding: parts[1], as: UTF8.self)
        switch String(decoding: parts[0], as: UTF8.self).lowercased() {
        case "utf-8":
            let text = String(decoding: bytes, as: UTF8.self)
            return text.utf8.elementsEqual(bytes) ? (text, language) : nil
        case "iso-8859-1":
            return (String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })), language)
        default:
            return nil
        }
    }
}

extension WebLink: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The target, with secrets masked, and the relations: `https://api.example.com/issues?page=2 (next)`.
    public var description: String { VisibleText.of("\(SecretMask.text(ofURL: reference)) (\(relations.joined(separator: " ")))") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The parts, with secrets masked.
    public var customMirror: Mirror {
        let shown = parameters.map { parameter in
            "\(parameter.name)=\(SecretMask.hidesParameter(named: parameter.name) ? SecretMask.mask : SecretMask.text(parameter.value))"
        }
        return Mirror(
            self,
            children: [
                "reference": SecretMask.text(ofURL: reference), "url": url.map(SecretMask.text(of:)) ?? "nil", "relations": relations,
                "anchor": anchor.map(SecretMask.text(ofURL:)) ?? "nil", "parameters": shown,
            ])
    }
}

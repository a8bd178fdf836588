import Foundation
import WebServiceClient

/// The properties that identify entities, and the texts under which the entities of a set are stored.
///
/// An entity's key properties and the key in its id, `Customers('ALFKI')`, result in the same text. An id without a key by the conventions
/// of OData is used unchanged.
struct EntityKeys: Sendable, Hashable, Codable {
    /// The wire names of the key properties; empty if they aren't known, so that only ids identify entities.
    var names: [String]

    /// Returns the text of an entity's key properties; `nil` unless all of them are present.
    func text(of payload: DynamicEntity) -> String? {
        guard !names.isEmpty else { return nil }
        var parts: [String] = []
        for name in names {
            guard let value = payload[name], let text = Self.text(of: value) else { return nil }
            parts.append(text)
        }
        return Self.joined(parts)
    }

    /// Returns the text of the key in an id; `nil` if the id has none, or a key of other properties.
    func text(ofID id: String) -> String? {
        guard let parts = IDKey.parts(of: id), !parts.isEmpty else { return nil }
        if names.isEmpty {
            guard parts.count > 1 else { return Self.joined(parts.map(\.text)) }
            return Self.joined(parts.sorted { ($0.name ?? "") < ($1.name ?? "") }.map(\.text))
        }
        if names.count == 1, parts.count == 1, parts[0].name == nil || parts[0].name == names[0] { return Self.joined([parts[0].text]) }
        let named = names.compactMap { name in parts.first { $0.name == name }?.text }
        return named.count == names.count && parts.count == names.count ? Self.joined(named) : nil
    }

    /// Returns the name of the set in an id that has a key in parentheses: `Customers` of `https://h/svc/Customers(1)/Ns.Vip`.
    static func set(ofID id: String) -> String? { IDKey.set(of: id) }

    /// Joins parts with their lengths, so that different parts never result in the same text.
    private static func joined(_ parts: [String]) -> String {
        parts.count == 1 ? parts[0] : parts.map { "\($0.utf8.count):\($0)" }.joined()
    }

    private static func text(of value: ODataValue) -> String? {
        switch value {
        case .string(let text): IDKey.normalized(text)
        case .integer(let number): String(number)
        case .decimal(let number): number.description
        case .boolean(let value): value ? "true" : "false"
        case .null, .array, .object: nil
        }
    }
}

/// The key in an entity's id, by the conventions for URLs (URL Conventions 4.01, section 4.3).
///
/// Ids are read by scalars, because a combining character after a quote or a slash belongs to the next text.
private enum IDKey {
    typealias Part = (name: String?, text: String)

    /// Returns the parts of the key: those in the parentheses of the last segment or, without parentheses, the whole last segment, which is
    /// the key in services with keys as segments and in Dataverse's deleted entities. Returns `nil` for an empty or malformed key.
    static func parts(of id: String) -> [Part]? {
        let path = id.unicodeScalars.prefix { $0 != "?" && $0 != "#" }
        guard let segment = lastSegment(of: path), let text = URLEncoding.decode(segment) else { return nil }
        let scalars = text.unicodeScalars
        guard let open = scalars.firstIndex(of: "(") else { return [(nil, normalized(text))] }
        return predicate(scalars[scalars.index(after: open)...])
    }

    /// Returns the name before the parentheses of the last segment; `nil` if there are none.
    static func set(of id: String) -> String? {
        let path = id.unicodeScalars.prefix { $0 != "?" && $0 != "#" }
        guard let segment = lastSegment(of: path), let scalars = URLEncoding.decode(segment)?.unicodeScalars,
            let open = scalars.firstIndex(of: "("), open > scalars.startIndex
        else { return nil }
        return String(scalars[..<open])
    }

    /// Returns the last segment that isn't the name of a derived type.
    private static func lastSegment(of path: Substring.UnicodeScalarView) -> String? {
        var (segments, segment, isQuoted) = ([String](), String.UnicodeScalarView(), false)
        for letter in path {
            if letter == "'" { isQuoted.toggle() }
            if letter == "/", !isQuoted {
                segments.append(String(segment))
                segment = String.UnicodeScalarView()
            } else {
                segment.append(letter)
            }
        }
        segments.append(String(segment))
        segments.removeAll { $0.isEmpty }
        if segments.count > 1, let last = segments.last, last.contains("."), !last.contains("("),
            segments[segments.count - 2].hasSuffix(")")
        {
            segments.removeLast()
        }
        return segments.last
    }

    /// Returns the parts of a key predicate up to its closing parenthesis.
    private static func predicate(_ text: Substring.UnicodeScalarView) -> [Part]? {
        var parts: [Part] = []
        var rest = text
        while true {
            var name: String?
            if let equals = rest.firstIndex(of: "="), ODataName.isIdentifier(String(rest[..<equals])) {
                name = String(rest[..<equals])
                rest = rest[rest.index(after: equals)...]
            }
            guard let literal = literal(&rest), let end = rest.first, end == "," || end == ")" else { return nil }
            parts.append((name, literal))
            if end == ")" { return parts }
            rest.removeFirst()
        }
    }

    /// Reads a literal, and returns its text without quotes and without the prefix or suffix of its type.
    private static func literal(_ rest: inout Substring.UnicodeScalarView) -> String? {
        let prefix = rest.prefix { $0 != "'" && $0 != "," && $0 != ")" }
        rest = rest.dropFirst(prefix.count)
        guard rest.first == "'" else { return prefix.isEmpty ? nil : plain(String(prefix)) }
        rest.removeFirst()
        var text = String.UnicodeScalarView()
        while let letter = rest.popFirst() {
            guard letter == "'" else {
                text.append(letter)
                continue
            }
            guard rest.first == "'" else { return normalized(String(text)) }
            text.append("'")
            rest.removeFirst()
        }
        return nil
    }

    /// Returns a literal without quotes: a number without version 2's suffix.
    private static func plain(_ text: String) -> String {
        if let last = text.last, "LlMmDdFf".contains(last), EdmDecimal(String(text.dropLast())) != nil { return String(text.dropLast()) }
        return normalized(text)
    }

    /// Returns a text in lower case if it is a Guid, which services spell in both cases.
    static func normalized(_ text: String) -> String {
        text.utf8.count == 36 && UUID(uuidString: text) != nil ? text.lowercased() : text
    }
}

@_spi(Fuzzing) extension DeltaCursor {
    /// Returns the text of the key in an id; for the fuzzer.
    public static func keyText(ofID id: String, names: [String]) -> String? { EntityKeys(names: names).text(ofID: id) }
}

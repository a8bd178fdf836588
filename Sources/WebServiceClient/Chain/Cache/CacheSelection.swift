import Foundation

/// A request as a cache compares it: the fields that `Vary` may name, with those that later stages add.
///
/// The cache sees a request before authentication and cookies add their fields. Their values aren't known yet, but they depend only on the
/// provider's identity and the jar, which are part of the key. Therefore both sides of a comparison have the same mark in their place.
struct CacheSelection: Sendable {
    /// The fields where the cache sees them.
    let fields: HTTPFields
    /// Whether an authentication provider changes the request.
    let isAuthenticated: Bool
    /// The `Cookie` that the jar will add; `nil` without a jar, or if the jar has no cookie for the URL.
    var cookies: String?
    var rules = HeaderRules.standard

    /// The names that `Vary` lists, in lower case and in order; `nil` if it contains `*`, alone or with others.
    static func names(in headers: HTTPFields) -> [String]? {
        guard headers.contains(.vary) else { return [] }
        var names: Set<String> = []
        for value in headers[values: .vary] {
            for name in value.split(separator: ",") {
                let name = name.trimmingCharacters(in: .whitespaces).lowercased()
                if name == "*" { return nil }
                if !name.isEmpty { names.insert(name) }
            }
        }
        return names.sorted()
    }

    /// The selecting fields of a response to this request; `nil` if it can't be stored, because the requests that it matches are unknown.
    ///
    /// - Parameters:
    ///   - prepared: The fields before authentication, with those that interceptors of single attempts add.
    ///   - sent: The fields as sent.
    func selectingFields(of headers: HTTPFields, prepared: HTTPFields, sent: HTTPFields) -> [SelectingField]? {
        guard let names = Self.names(in: headers) else { return nil }
        var selection: [SelectingField] = []
        for text in names {
            let name = HTTPFields.Name(text)
            let own = Self.normalized(fields, name)
            // An interceptor of single attempts sets it, and may set another value the next time.
            guard Self.normalized(prepared, name) == own else { return nil }
            let value = Self.normalized(sent, name)
            if value != own {
                // A cookie that didn't come from the jar can't be predicted.
                if name == .cookie ? value != cookies : !isAuthenticated { return nil }
            }
            selection.append(SelectingField(name: name, value: expected(name)))
        }
        return selection
    }

    /// Whether a stored response fits this request.
    func matches(_ selection: [SelectingField]) -> Bool {
        selection.allSatisfy { expected($0.name) == $0.value }
    }

    /// The value that this request will be sent with.
    private func expected(_ name: HTTPFields.Name) -> String? {
        let value = name == .cookie ? Self.normalized(fields, name) ?? cookies : Self.normalized(fields, name)
        guard let value else { return isAuthenticated && name == .authorization ? SelectingField.added : nil }
        // A store must not hold credentials.
        return rules.shows(name) ? value : SHA256.hexadecimal(of: value)
    }

    /// The value of a field in a form in which equal lists are equal texts: one line, with one blank after each comma.
    private static func normalized(_ fields: HTTPFields, _ name: HTTPFields.Name) -> String? {
        guard var value = fields[name] else { return nil }
        // Blanks and case mean nothing in them. Their order may: many servers take it for a preference.
        if name.canonicalName.hasPrefix("accept") { value = String(value.lowercased().filter { $0 != " " && $0 != "\t" }) }
        guard value.utf8.contains(UInt8(ascii: ",")) else { return value }
        guard !value.utf8.contains(UInt8(ascii: "\"")) else { return value }
        return value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }.joined(separator: ", ")
    }
}

/// Entity tags, as caches compare them (RFC 9110 §8.8.3).
enum EntityTag {
    /// Whether two tags are the same byte for byte (the strong comparison).
    static func isStrongMatch(_ one: String, _ other: String) -> Bool {
        one == other && one.hasPrefix("\"")
    }

    /// Whether two tags identify equivalent representations.
    static func isWeakMatch(_ one: String, _ other: String) -> Bool {
        opaque(one) == opaque(other)
    }

    /// The tags in an `If-None-Match`; `["*"]` for any.
    static func list(_ value: String) -> [String] {
        var tags: [String] = []
        var tag = ""
        var isQuoted = false
        for character in value {
            if character == ",", !isQuoted {
                tags.append(tag)
                tag = ""
            } else {
                if character == "\"" { isQuoted.toggle() }
                tag.append(character)
            }
        }
        tags.append(tag)
        return tags.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }
}

/// The range that a request asks for (RFC 9110 §14.1.2): one range of bytes.
struct ByteRange: Sendable, Hashable {
    /// The first byte; `nil` if the range counts from the end.
    let first: Int64?
    /// The last byte, or the number of bytes from the end; `nil` for the rest.
    let last: Int64?

    /// Reads a `Range`; `nil` if it isn't one valid range of bytes.
    init?(_ value: String) {
        let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces).lowercased() == "bytes" else { return nil }
        let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        guard ends.count == 2 else { return nil }
        let numbers = ends.map { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64($0) : nil }
        guard ends[0].isEmpty || numbers[0] != nil, ends[1].isEmpty || numbers[1] != nil else { return nil }
        first = ends[0].isEmpty ? nil : numbers[0]
        last = ends[1].isEmpty ? nil : numbers[1]
        if let first, let last { guard first <= last else { return nil } }
        guard first != nil || last != nil else { return nil }
    }

    /// The bytes of a whole of this length; `nil` if there are none.
    func bytes(of length: Int64) -> Range<Int64>? {
        let range: Range<Int64>
        if let first {
            guard first < length else { return nil }
            range = first..<(min(last ?? length - 1, length - 1) + 1)
        } else {
            range = max(0, length - (last ?? 0))..<length
        }
        return range.isEmpty ? nil : range
    }
}

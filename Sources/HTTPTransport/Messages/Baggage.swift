/// Values that accompany a request through all services of a trace (W3C Baggage), in their order.
///
///     let baggage: Baggage = ["tenant": "acme", "region": "Île-de-France"]
///
/// Values are percent-encoded when they are sent. Keys must be tokens. A member that can't be sent is omitted, and the client's diagnostics
/// name it. Never put secrets into baggage: every service of the trace sees it.
public struct Baggage: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// A value with its key.
    public struct Member: Sendable, Hashable {
        /// The key, a token. Keys are case-sensitive.
        public var key: String
        /// The value, not encoded.
        public var value: String
        /// The properties in their form on the wire, such as `ttl=30`.
        public var properties: [String]

        /// Creates a member.
        public init(_ key: String, _ value: String, properties: [String] = []) {
            self.key = key
            self.value = value
            self.properties = properties
        }
    }

    /// The maximum number of members to send. Every service must pass on at least this many (W3C Baggage §3.3.2).
    public static let maximumMembers = 64
    /// The maximum size in bytes of the field to send. Every service must pass on at least this many (§3.3.2).
    public static let maximumBytes = 8_192

    /// The members in their order; at most one of each key.
    public private(set) var members: [Member] = []

    /// Creates empty baggage.
    public init() {}

    /// Creates baggage from members. If several have the same key, the last one replaces the others, at the position of
    /// the first.
    public init(_ members: some Sequence<Member>) {
        for member in members { set(member) }
    }

    /// Creates baggage from keys and values.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (key, value) in elements { set(Member(key, value)) }
    }

    /// Whether the baggage is empty.
    public var isEmpty: Bool { members.isEmpty }

    /// The value of a key. Setting it removes the member's properties; setting `nil` removes the member.
    public subscript(key: String) -> String? {
        get { members.first { $0.key == key }?.value }
        set {
            if let newValue {
                set(Member(key, newValue))
            } else {
                members.removeAll { $0.key == key }
            }
        }
    }

    /// Adds a member. A member with the same key is replaced and keeps its position.
    public mutating func set(_ member: Member) {
        if let index = members.firstIndex(where: { $0.key == member.key }) {
            members[index] = member
        } else {
            members.append(member)
        }
    }
}

// The form on the wire (W3C Baggage §3.2).
extension Baggage {
    /// Reads the value of a `baggage` field; several fields are joined with commas first.
    ///
    /// - Returns: The valid members, and a sentence for each omitted member and each repeated key, without values.
    public static func parse(_ text: String) -> (baggage: Baggage, problems: [String]) {
        var baggage = Baggage()
        var problems: [String] = []
        for (index, part) in text.utf8.split(separator: UInt8(ascii: ",")).enumerated() {
            let entry = Substring(part).trimmingBlanks
            if entry.isEmpty { continue }
            guard let member = Member(entry) else {
                problems.append("member \(index + 1) was omitted: it isn't key=value, percent-encoded, with properties after semicolons")
                continue
            }
            if baggage.members.contains(where: { $0.key == member.key }) {
                problems.append("the key \"\(member.key)\" occurs several times, and its last value counts")
            }
            baggage.set(member)
        }
        return (baggage, problems)
    }

    /// Returns the value of the `baggage` field. Members that would exceed ``maximumMembers`` or ``maximumBytes`` are omitted.
    ///
    /// - Returns: `text`, which is `nil` if no member can be sent, and in `problems` a sentence for each omitted member, without its value.
    public func fieldValue() -> (text: String?, problems: [String]) {
        var parts: [String] = []
        var length = 0
        var problems: [String] = []
        for member in members {
            guard let text = member.text else {
                problems.append("the member \"\(member.key)\" was omitted: its key isn't a token, or a property is invalid")
                continue
            }
            let more = text.utf8.count + (parts.isEmpty ? 0 : 1)
            guard parts.count < Self.maximumMembers, length + more <= Self.maximumBytes else {
                let limit = parts.count < Self.maximumMembers ? "\(Self.maximumBytes) bytes" : "\(Self.maximumMembers) members"
                problems.append("the member \"\(member.key)\" was omitted: the limit is \(limit)")
                continue
            }
            length += more
            parts.append(text)
        }
        return (parts.isEmpty ? nil : parts.joined(separator: ","), problems)
    }
}

extension Baggage.Member {
    /// `baggage-octet` without `%`, which begins an escape.
    private static let octets = URLEncoding.Alphabet.alphanumeric.union(URLEncoding.Alphabet("!#$&'()*+-./:<=>?@[]^_`{|}~"))

    /// Reads a member without blanks at its ends.
    fileprivate init?(_ text: Substring) {
        let parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { Substring($0).trimmingBlanks }
        guard let (key, value) = Self.pair(parts[0]), let value, let bytes = URLEncoding.decodeBytes(value) else { return nil }
        let properties = parts.dropFirst().map(String.init)
        guard properties.allSatisfy(Self.isProperty) else { return nil }
        // Bytes that aren't UTF-8 become U+FFFD (§3.2.1.3.2).
        self.init(key, String(decoding: bytes, as: UTF8.self), properties: properties)
    }

    /// The member's text; `nil` if the key isn't a token or a property is invalid.
    fileprivate var text: String? {
        guard HTTPFields.Name.isToken(key), properties.allSatisfy(Self.isProperty) else { return nil }
        return ([key + "=" + URLEncoding.encode(value, allowing: Self.octets)] + properties).joined(separator: ";")
    }

    private static func isProperty(_ text: String) -> Bool { pair(text[...]) != nil }

    /// The key and the value around the first `=`, without blanks around it; the value is `nil` without a `=`.
    ///
    /// - Returns: `nil` if the key or the value is invalid.
    private static func pair(_ text: Substring) -> (key: String, value: String?)? {
        let equals = text.utf8.firstIndex(of: UInt8(ascii: "="))
        let key = String(text[..<(equals ?? text.endIndex)].trimmingBlanks)
        guard HTTPFields.Name.isToken(key) else { return nil }
        guard let equals else { return (key, nil) }
        let value = String(text[text.utf8.index(after: equals)...].trimmingBlanks)
        guard value.utf8.allSatisfy({ octets.contains($0) || $0 == UInt8(ascii: "%") }) else { return nil }
        return (key, value)
    }
}

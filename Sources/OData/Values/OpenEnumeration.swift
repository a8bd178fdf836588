/// A member of an extensible enumeration: one that Swift knows, or another by its name or number, which is written back unchanged.
///
///     enum Colour: String, Codable, Sendable { case red = "Red", green = "Green" }
///     let colour: OpenEnumeration<Colour>            // "Blue" is .unknown("Blue")
public enum OpenEnumeration<Known: RawRepresentable<String> & Sendable>: Sendable {
    /// A member that Swift knows.
    case known(Known)
    /// Another member by its name, or by its number if the service sent one.
    case unknown(String)

    /// Creates a member from its name.
    public init(_ name: String) {
        self = Known(rawValue: name).map { .known($0) } ?? .unknown(name)
    }

    /// The member's name.
    public var name: String {
        switch self {
        case .known(let member): member.rawValue
        case .unknown(let name): name
        }
    }

    /// The member if Swift knows it.
    public var known: Known? {
        if case .known(let member) = self { member } else { nil }
    }
}

extension OpenEnumeration: Hashable {
    /// Returns whether the names are equal.
    public static func == (left: OpenEnumeration, right: OpenEnumeration) -> Bool {
        left.name == right.name
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }
}

extension OpenEnumeration: CustomStringConvertible {
    /// The member's name.
    public var description: String { name }
}

extension OpenEnumeration: Codable {
    /// Decodes a member's name, or its number.
    public init(from decoder: any Decoder) throws {
        self.init(try EdmText.memberName(from: decoder))
    }

    /// Encodes the name.
    public func encode(to encoder: any Encoder) throws {
        try EdmText.write(self, to: encoder)
    }
}

extension OpenEnumeration: PropertySample {
    /// Returns a member that differs for each number.
    public static func propertySample(_ number: Int) -> OpenEnumeration? {
        .unknown("M\(number)")
    }
}

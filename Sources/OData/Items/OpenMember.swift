/// The identity of an enumeration of a service's model: a type without cases that specializes ``OpenMember`` and ``OpenFlags``.
public protocol OpenMemberTag: Sendable {
    /// The qualified name of the enumeration, such as `microsoft.graph.ageGroup`.
    static var typeName: String { get }
    /// The schema that lists the members.
    static var schema: ItemSchema { get }
}

extension OpenMemberTag {
    static var members: ItemMembers { schema.members(of: typeName) }
}

/// A member of an enumeration of a generated model (CSDL, section 10), including members that the model doesn't have.
///
///     switch user.ageGroup.value {
///     case .adult?: …
///     case let other: …                           // nil, or a member that a later version of the service added
///     }
///
/// Known members are static properties. A number that the service sent in place of a name becomes the name if the model has the number.
public struct OpenMember<Tag: OpenMemberTag>: Sendable, Hashable {
    /// The member's name in payloads, or its number if the name isn't known.
    public let name: String

    /// Creates a member from its name, or from its number as text.
    public init(_ name: String) {
        let first = name.utf8.first ?? 0
        let isNumber = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) || first == UInt8(ascii: "-")
        self.name = isNumber ? Int64(name).flatMap { Tag.members.name(of: $0) } ?? name : name
    }

    /// Creates a member from its number.
    public init(number: Int64) {
        name = Tag.members.name(of: number) ?? String(number)
    }

    /// The member's number, if the model has it or the name is a number.
    public var number: Int64? { Tag.members.number(of: name) ?? Int64(name) }

    /// A Boolean value that indicates whether the model has the member.
    public var isKnown: Bool { Tag.members.contains(name) }

    /// All members of the model, in its order.
    public static var known: [OpenMember] { Tag.members.list.map { OpenMember($0.name) } }
}

extension OpenMember: CustomStringConvertible {
    /// The member's name.
    public var description: String { name }
}

extension OpenMember: Codable {
    /// Decodes a member's name, or its number.
    public init(from decoder: any Decoder) throws {
        self.init(try EdmText.memberName(from: decoder))
    }

    /// Encodes the name.
    public func encode(to encoder: any Encoder) throws {
        try EdmText.write(self, to: encoder)
    }
}

extension OpenMember: ItemValue {
    /// Reads a member's name, or its number.
    public init?(odata value: ODataValue) {
        switch value {
        case .string(let name): self.init(name)
        case .integer(let number): self.init(number: number)
        default: return nil
        }
    }

    /// The name.
    public var odataValue: ODataValue { .string(name) }
}

extension OpenMember: EdmConvertible {
    /// The literal.
    public var edmValue: EdmValue { .enumeration(type: Tag.typeName, member: name) }
}

extension OpenMember: PropertySample {
    /// Returns a member that differs for each number.
    public static func propertySample(_ number: Int) -> OpenMember? { OpenMember("M\(number)") }
}

extension OpenMember: PrimitivePayload {}

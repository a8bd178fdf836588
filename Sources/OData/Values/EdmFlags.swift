/// Members of an enumeration with flags, in the order they were written: `Read,Write` (CSDL, section 10.1).
///
/// Members that Swift doesn't know stay in the list by their names, and a number stays a number.
public struct EdmFlags<Known: RawRepresentable<String> & Sendable>: Sendable, Hashable {
    /// All members, in order.
    public var members: [OpenEnumeration<Known>]

    /// These members.
    public init(_ members: [OpenEnumeration<Known>]) {
        self.members = members
    }

    /// These members.
    public init(_ members: Known...) {
        self.members = members.map { .known($0) }
    }

    /// Reads `Read,Write`; blanks around the commas are tolerated, and nothing or blanks only are no member.
    public init(_ text: String) {
        members = text.unicodeScalars.split(separator: ",").compactMap { part in
            let begin = part.drop { $0 == " " }
            guard let end = begin.lastIndex(where: { $0 != " " }) else { return nil }
            return OpenEnumeration(String(begin[...end]))
        }
    }

    /// Whether a member is among them.
    public func contains(_ member: Known) -> Bool {
        members.contains { $0.name == member.rawValue }
    }

    /// Adds a member that isn't among them.
    public mutating func insert(_ member: Known) {
        if !contains(member) { members.append(.known(member)) }
    }

    /// Takes a member away.
    public mutating func remove(_ member: Known) {
        members.removeAll { $0.name == member.rawValue }
    }
}

extension EdmFlags: ExpressibleByArrayLiteral {
    /// These members.
    public init(arrayLiteral elements: Known...) {
        members = elements.map { .known($0) }
    }
}

extension EdmFlags: CustomStringConvertible {
    /// `Read,Write`.
    public var description: String { members.map(\.name).joined(separator: ",") }
}

extension EdmFlags: QueryOperand where Known: EdmEnumeration {}

extension EdmFlags: EdmConvertible where Known: EdmEnumeration {
    /// The literal.
    public var edmValue: EdmValue { .enumeration(type: Known.edmTypeName, member: description) }
}

extension EdmFlags: Codable {
    /// Reads the members' names, or their number.
    public init(from decoder: any Decoder) throws {
        self.init(try EdmText.memberName(from: decoder))
    }

    /// Writes the names.
    public func encode(to encoder: any Encoder) throws {
        try EdmText.write(self, to: encoder)
    }
}

extension EdmFlags: PropertySample {
    /// A member that differs for each number.
    public static func propertySample(_ number: Int) -> EdmFlags? {
        EdmFlags([.unknown("M\(number)")])
    }
}

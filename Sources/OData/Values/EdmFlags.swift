/// The members of an enumeration with flags, in their original order: `Read,Write` (CSDL, section 10.1).
///
/// Members unknown to Swift keep their names, and numbers stay numbers.
public struct EdmFlags<Known: RawRepresentable<String> & Sendable>: Sendable, Hashable {
    /// All members, in order.
    public var members: [OpenEnumeration<Known>]

    /// Creates a value from members.
    public init(_ members: [OpenEnumeration<Known>]) {
        self.members = members
    }

    /// Creates a value from members.
    public init(_ members: Known...) {
        self.members = members.map { .known($0) }
    }

    /// Parses `Read,Write`; blanks around the commas are ignored, and empty or blank parts are skipped.
    public init(_ text: String) {
        members = text.unicodeScalars.split(separator: ",").compactMap { part in
            let begin = part.drop { $0 == " " }
            guard let end = begin.lastIndex(where: { $0 != " " }) else { return nil }
            return OpenEnumeration(String(begin[...end]))
        }
    }

    /// Returns whether the value contains a member.
    public func contains(_ member: Known) -> Bool {
        members.contains { $0.name == member.rawValue }
    }

    /// Adds a member unless the value contains it.
    public mutating func insert(_ member: Known) {
        if !contains(member) { members.append(.known(member)) }
    }

    /// Removes a member.
    public mutating func remove(_ member: Known) {
        members.removeAll { $0.name == member.rawValue }
    }
}

extension EdmFlags: ExpressibleByArrayLiteral {
    /// Creates a value from members.
    public init(arrayLiteral elements: Known...) {
        members = elements.map { .known($0) }
    }
}

extension EdmFlags: CustomStringConvertible {
    /// `Read,Write`.
    public var description: String { members.map(\.name).joined(separator: ",") }
}

extension EdmFlags: Codable {
    /// Decodes the members' names, or their number.
    public init(from decoder: any Decoder) throws {
        self.init(try EdmText.memberName(from: decoder))
    }

    /// Encodes the names.
    public func encode(to encoder: any Encoder) throws {
        try EdmText.write(self, to: encoder)
    }
}

extension EdmFlags: PropertySample {
    /// Returns a member that differs for each number.
    public static func propertySample(_ number: Int) -> EdmFlags? {
        EdmFlags([.unknown("M\(number)")])
    }
}

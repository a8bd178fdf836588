/// A value of an enumeration with flags of a generated model (CSDL, section 10.1): any combination of its members, including bits and names
/// that the model doesn't have.
///
///     draft.rights = .value([.read, .write])
///     if user.rights.value?.contains(.read) ?? false { … }
public struct OpenFlags<Tag: OpenMemberTag>: OptionSet, Sendable, Hashable {
    /// The bits of all members whose numbers are known.
    public let rawValue: Int64
    /// The names that the service sent and the model doesn't have, sorted.
    public let unknownNames: [String]

    /// Creates a value from its bits.
    public init(rawValue: Int64) {
        self.init(rawValue: rawValue, unknownNames: [])
    }

    /// Creates a value from its bits, and names of members that the model doesn't have.
    public init(rawValue: Int64, unknownNames: some Sequence<String>) {
        self.rawValue = rawValue
        self.unknownNames = Set(unknownNames).sorted()
    }

    /// Parses names and numbers, separated by commas: `read,write`, `read,8`. Blanks around the commas are ignored, and empty parts are
    /// skipped.
    public init(_ text: String) {
        var bits: Int64 = 0
        var unknown: [String] = []
        let members = Tag.members
        for part in text.split(separator: ",") {
            let name = String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            if name.isEmpty { continue }
            if let number = members.number(of: name) ?? Int64(name) { bits |= number } else { unknown.append(name) }
        }
        self.init(rawValue: bits, unknownNames: unknown)
    }

    /// The members' names separated by commas, as in payloads: the model's names for the bits, the number of the remaining bits, and the
    /// names that the model doesn't have.
    public var text: String {
        let members = Tag.members
        if unknownNames.isEmpty, let name = members.name(of: rawValue) { return name }
        var rest = rawValue
        var chosen: Set<String> = []
        // If members share bits, the one with more bits is more specific.
        let candidates = members.list.compactMap { member in member.number.map { (member.name, $0) } }.filter { $0.1 != 0 }
        for (name, number) in candidates.sorted(by: { $0.1.nonzeroBitCount > $1.1.nonzeroBitCount }) where rest & number == number {
            chosen.insert(name)
            rest &= ~number
        }
        var names = members.list.map(\.name).filter { chosen.contains($0) }
        if rest != 0 { names.append(String(rest)) }
        names += unknownNames
        return names.isEmpty ? "0" : names.joined(separator: ",")
    }
}

// The standard library's versions of these consider only the bits. Each is declared here, so that none loses or ignores a name that the
// model doesn't have.
extension OpenFlags {
    /// Creates a value without flags.
    public init() { self.init(rawValue: 0) }

    /// A Boolean value that indicates whether no flag is set.
    public var isEmpty: Bool { rawValue == 0 && unknownNames.isEmpty }

    /// Returns whether two values have the same bits and the same unknown names.
    public static func == (left: OpenFlags, right: OpenFlags) -> Bool {
        left.rawValue == right.rawValue && left.unknownNames == right.unknownNames
    }

    /// Hashes the bits and the unknown names.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(rawValue)
        hasher.combine(unknownNames)
    }

    // MARK: Combining

    /// Returns the flags that at least one of two values has.
    public func union(_ other: OpenFlags) -> OpenFlags {
        OpenFlags(rawValue: rawValue | other.rawValue, unknownNames: unknownNames + other.unknownNames)
    }

    /// Returns the flags that both values have.
    public func intersection(_ other: OpenFlags) -> OpenFlags {
        OpenFlags(rawValue: rawValue & other.rawValue, unknownNames: Set(unknownNames).intersection(other.unknownNames))
    }

    /// Returns the flags that exactly one of two values has.
    public func symmetricDifference(_ other: OpenFlags) -> OpenFlags {
        OpenFlags(rawValue: rawValue ^ other.rawValue, unknownNames: Set(unknownNames).symmetricDifference(other.unknownNames))
    }

    /// Returns the flags without those of another value.
    public func subtracting(_ other: OpenFlags) -> OpenFlags {
        OpenFlags(rawValue: rawValue & ~other.rawValue, unknownNames: Set(unknownNames).subtracting(other.unknownNames))
    }

    /// Adds the flags of another value.
    public mutating func formUnion(_ other: OpenFlags) { self = union(other) }

    /// Keeps the flags that another value has too.
    public mutating func formIntersection(_ other: OpenFlags) { self = intersection(other) }

    /// Keeps the flags that exactly one of the values has.
    public mutating func formSymmetricDifference(_ other: OpenFlags) { self = symmetricDifference(other) }

    /// Removes the flags of another value.
    public mutating func subtract(_ other: OpenFlags) { self = subtracting(other) }

    // MARK: Comparing

    /// Returns whether all flags of another value are set.
    public func contains(_ flags: OpenFlags) -> Bool { flags.isSubset(of: self) }

    /// Returns whether another value has all flags of this one.
    public func isSubset(of other: OpenFlags) -> Bool { subtracting(other).isEmpty }

    /// Returns whether this value has all flags of another one.
    public func isSuperset(of other: OpenFlags) -> Bool { other.isSubset(of: self) }

    /// Returns whether another value has all flags of this one, and others.
    public func isStrictSubset(of other: OpenFlags) -> Bool { isSubset(of: other) && self != other }

    /// Returns whether this value has all flags of another one, and others.
    public func isStrictSuperset(of other: OpenFlags) -> Bool { other.isStrictSubset(of: self) }

    /// Returns whether two values have no flag in common.
    public func isDisjoint(with other: OpenFlags) -> Bool { intersection(other).isEmpty }

    // MARK: Changing flags

    /// Adds flags; returns whether one of them was missing.
    @discardableResult
    public mutating func insert(_ flags: OpenFlags) -> (inserted: Bool, memberAfterInsert: OpenFlags) {
        if flags.isSubset(of: self) { return (false, intersection(flags)) }
        formUnion(flags)
        return (true, flags)
    }

    /// Removes flags; returns those that were set, or `nil` if none was.
    @discardableResult
    public mutating func remove(_ flags: OpenFlags) -> OpenFlags? {
        let removed = intersection(flags)
        subtract(flags)
        return removed.isEmpty ? nil : removed
    }

    /// Adds flags; returns those that were set before, or `nil` if none was.
    @discardableResult
    public mutating func update(with flags: OpenFlags) -> OpenFlags? {
        let present = intersection(flags)
        formUnion(flags)
        return present.isEmpty ? nil : present
    }
}

extension OpenFlags: CustomStringConvertible {
    /// The names, separated by commas.
    public var description: String { text }
}

extension OpenFlags: Codable {
    /// Decodes the members' names, or their number.
    public init(from decoder: any Decoder) throws {
        self.init(try EdmText.memberName(from: decoder))
    }

    /// Encodes the names.
    public func encode(to encoder: any Encoder) throws {
        try EdmText.write(self, to: encoder)
    }
}

extension OpenFlags: ItemValue {
    /// Reads the members' names, or their number.
    public init?(odata value: ODataValue) {
        switch value {
        case .string(let text): self.init(text)
        case .integer(let bits): self.init(rawValue: bits)
        default: return nil
        }
    }

    /// The names.
    public var odataValue: ODataValue { .string(text) }
}

extension OpenFlags: EdmConvertible {
    /// The literal.
    public var edmValue: EdmValue { .enumeration(type: Tag.typeName, member: text) }
}

extension OpenFlags: PropertySample {
    /// Returns a value that differs for each number.
    public static func propertySample(_ number: Int) -> OpenFlags? { OpenFlags(rawValue: 0, unknownNames: ["M\(number)"]) }
}

extension OpenFlags: PrimitivePayload {}

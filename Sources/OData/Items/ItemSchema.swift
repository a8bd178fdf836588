import Foundation
import WebServiceClient

/// The types of a service's model, listed by generated code in one text: properties with their types, enumerations, and base types.
///
///     static let schema = ItemSchema(
///         """
///         type microsoft.graph.directoryObject key id
///          id Edm.String!
///         type microsoft.graph.user : microsoft.graph.directoryObject open
///          ageGroup microsoft.graph.ageGroup
///          createdDateTime Edm.DateTimeOffset computed
///          otherMails [Edm.String]!
///          manager > microsoft.graph.directoryObject
///         derived microsoft.graph.educationUser : microsoft.graph.user
///         enum microsoft.graph.ageGroup
///          minor 1
///         """)
///
/// A line without indentation begins a type: a kind (`type`, `complex`, `enum` or `flags`), its name and the name of its base. The kind
/// `derived` begins a type that lists only its base. The line can end with the words `abstract` and `open`, which are for readers, and with
/// the word `key` and the parts of the type's key in order. A part is the name of a property, also of a base, or a path into a complex
/// value with an alias, as in `code=Info/Code`.
///
/// The members of the type follow, each in a line that is indented by a blank. A member of an enumeration has a name and a number. A
/// property has a name, a type, and these marks:
///
/// * `[…]` around the type of the elements, for collections, and `[…?]` if the elements can be null;
/// * `!` if the value can't be null;
/// * `>` before the target of a navigation property;
/// * the words `computed`, `immutable`, `notcreatable` and `readonly`;
/// * the word `key`, if neither the type's line nor that of a base lists the parts of the key.
///
/// Blanks, `!`, `?`, `[`, `]`, `>`, `:` and `=` in names are percent-encoded.
///
/// A string compiles much faster than a literal of all types. It is indexed at first use, and a type's properties are read when a value of
/// the type is first decoded. Members without a type are ignored.
public final class ItemSchema: Sendable {
    private struct Row: Sendable {
        var kind: Substring
        var base: String?
        /// The parts of the key that the type itself declares.
        var key: ArraySlice<Substring> = []
        /// The lines of the members.
        var members: Substring = ""
    }

    private let rows: [String: Row]
    /// The names of the types that other types derive from.
    private let bases: Set<String>
    private let tables = Locked<[String: ItemTable]>([:])
    private let enumerations = Locked<[String: ItemMembers]>([:])

    /// Creates a schema from its text.
    public init(_ text: String) {
        var rows: [String: Row] = [:]
        var bases: Set<String> = []
        var at = text.startIndex
        func line() -> Substring {
            let end = text.utf8[at...].firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
            defer { at = end == text.endIndex ? end : text.utf8.index(after: end) }
            return text[at..<end]
        }
        while at < text.endIndex {
            let head = line()
            let start = at
            while at < text.endIndex, text.utf8[at] == UInt8(ascii: " ") { _ = line() }
            let words = Self.words(of: head)
            guard words.count > 1 else { continue }
            var row = Row(kind: words[0])
            var rest = words.dropFirst(2)
            if rest.count > 1, rest.first == ":" {
                let base = Self.decoded(words[3])
                row.base = base
                bases.insert(base)
                rest = rest.dropFirst(2)
            }
            if let key = rest.firstIndex(of: "key") { row.key = rest[(key + 1)...] }
            row.members = text[start..<at]
            rows[Self.decoded(words[1])] = row
        }
        self.rows = rows
        self.bases = bases
    }

    /// Splits a line at its blanks, by bytes: a name may begin with a mark that combines with the blank before it.
    fileprivate static func words(of line: Substring) -> [Substring] {
        line.utf8.split(separator: UInt8(ascii: " ")).map { Substring($0) }
    }

    /// Splits a text into its lines, by bytes.
    fileprivate static func lines(of text: Substring) -> [Substring] {
        text.utf8.split(separator: UInt8(ascii: "\n")).map { Substring($0) }
    }

    /// Returns a name without percent-encoding.
    fileprivate static func decoded(_ name: Substring) -> String {
        guard name.utf8.contains(UInt8(ascii: "%")) else { return String(name) }
        return name.removingPercentEncoding ?? String(name)
    }

    /// Returns whether a type is another one or derives from it.
    func type(_ name: String, isKindOf other: String) -> Bool {
        var name = name
        // The count bounds the loop if the types form a cycle.
        for _ in 0...rows.count {
            if name == other { return true }
            guard let base = rows[name]?.base else { return false }
            name = base
        }
        return false
    }

    func contains(_ name: String) -> Bool { rows[name] != nil }

    func isEnumeration(_ name: String) -> Bool { rows[name].map { $0.kind == "enum" || $0.kind == "flags" } ?? false }

    /// Returns the properties of an entity type or a complex type, including those of its bases; `nil` if the schema doesn't have the
    /// type.
    func table(of name: String) -> ItemTable? {
        if let known = tables.withLock({ $0[name] }) { return known }
        guard rows[name] != nil, !isEnumeration(name) else { return nil }
        let lineage = lineage(of: name).compactMap { rows[$0] }
        let made = ItemTable(
            lineage.map(\.members), key: lineage.last { !$0.key.isEmpty }?.key ?? [], hasDerivedTypes: bases.contains(name), in: self)
        tables.withLock { $0[name] = made }
        return made
    }

    /// Returns a type and its bases, the outermost base first.
    private func lineage(of name: String) -> [String] {
        var names = [name]
        while let base = names.last.flatMap({ rows[$0]?.base }), names.count <= rows.count { names.append(base) }
        return names.reversed()
    }

    /// Returns the members of an enumeration; none if the schema doesn't have it.
    func members(of name: String) -> ItemMembers {
        if let known = enumerations.withLock({ $0[name] }) { return known }
        let made = ItemMembers(isEnumeration(name) ? rows[name]?.members ?? "" : "")
        enumerations.withLock { $0[name] = made }
        return made
    }
}

/// The declared properties of a type and its bases.
final class ItemTable: Sendable {
    /// Whether other types derive from the type.
    let hasDerivedTypes: Bool
    let properties: [String: ItemProperty]
    /// The parts of the key, in order, including parts whose properties the schema doesn't have.
    let key: [ItemKeyPart]
    private let lastPlan = Locked<ItemPlan?>(nil)

    fileprivate init(_ rows: [Substring], key declared: ArraySlice<Substring>, hasDerivedTypes: Bool, in schema: ItemSchema) {
        self.hasDerivedTypes = hasDerivedTypes
        var properties: [String: ItemProperty] = [:]
        var key = declared.map { ItemKeyPart($0) }
        for line in rows.lazy.flatMap(ItemSchema.lines) {
            guard let (name, property) = ItemProperty.read(line, in: schema) else { continue }
            properties[name] = property
            guard declared.isEmpty, property.access.contains(.key), !key.contains(where: { $0.name == name }) else { continue }
            key.append(ItemKeyPart(property: name))
        }
        // A path of several names is a part of a complex value, whose other parts can change.
        for part in key where part.path.count == 1 { properties[part.path[0]]?.access.insert(.key) }
        self.properties = properties
        self.key = key
    }

    /// Returns the declarations of an object's members. The objects of a page usually have the same members, so the previous plan usually
    /// fits.
    func plan(for object: DynamicEntity) -> ItemPlan {
        if let plan = lastPlan.withLock({ $0 }), plan.fits(object) { return plan }
        let plan = ItemPlan(object, self)
        lastPlan.withLock { $0 = plan }
        return plan
    }
}

/// A part of an entity's key.
struct ItemKeyPart: Sendable, Hashable {
    /// The name in URLs: the name of the property, or an alias.
    let name: String
    /// The names of the properties that lead to the value.
    let path: [String]

    init(property: String) {
        name = property
        path = [property]
    }

    /// Reads a part of a schema's text: `Id` or `Code=Info/Code`.
    fileprivate init(_ text: Substring) {
        let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        path = (sides.last ?? "").split(separator: "/").map { ItemSchema.decoded($0) }
        name = sides.count > 1 ? ItemSchema.decoded(sides[0]) : path.joined(separator: "/")
    }
}

/// The declarations for the members of objects with the same names.
final class ItemPlan: Sendable {
    private let names: [String]
    /// The declaration of each member; `nil` for members that the type doesn't declare.
    let declarations: [ItemProperty?]
    /// The position of the type's name.
    let typePosition: Int?
    /// Whether control information of the object contains a link.
    let hasLinks: Bool

    fileprivate init(_ object: DynamicEntity, _ table: ItemTable) {
        names = (0..<object.count).map { object.name(at: $0) }
        declarations = names.map { table.properties[$0] }
        typePosition = names.firstIndex { ItemControl.typeNames.contains($0) }
        hasLinks = names.contains { ItemLinks.isLink($0) }
    }

    fileprivate func fits(_ object: DynamicEntity) -> Bool {
        guard object.count == names.count else { return false }
        // The names of a page are usually the same string instances, which compare in constant time.
        for position in names.indices where object.name(at: position) != names[position] { return false }
        return true
    }
}

/// A declared property: the kind of its values, and when they can be set.
struct ItemProperty: Sendable {
    /// When a client can set a property.
    struct Access: OptionSet, Sendable {
        let rawValue: UInt8
        /// Identifies the entity, and can't change.
        static let key = Access(rawValue: 1)
        /// `Core.Computed`: the service sets it.
        static let computed = Access(rawValue: 2)
        /// `Core.Immutable`: can be set only when the entity is created.
        static let immutable = Access(rawValue: 4)
        /// `Core.Permissions`: can only be read.
        static let readOnly = Access(rawValue: 8)
        /// Can be set only after the entity was created.
        static let notCreatable = Access(rawValue: 16)

        fileprivate init?(word: Substring) {
            switch word {
            case "key": self = .key
            case "computed": self = .computed
            case "immutable": self = .immutable
            case "readonly": self = .readOnly
            case "notcreatable": self = .notCreatable
            default: return nil
            }
        }

        init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    var kind: ItemKind
    var isCollection = false
    var hasNullElements = false
    var isNullable = true
    var isRelation = false
    var access: Access = []

    /// Reads a line such as ` manager > microsoft.graph.directoryObject`; returns `nil` for lines of another form.
    fileprivate static func read(_ line: Substring, in schema: ItemSchema) -> (String, ItemProperty)? {
        var words = ItemSchema.words(of: line)[...]
        guard words.count > 1, let name = words.popFirst() else { return nil }
        let isRelation = words.first == ">"
        if isRelation { words = words.dropFirst() }
        guard var type = words.popFirst() else { return nil }
        func takeLast(_ character: Unicode.Scalar) -> Bool {
            guard type.utf8.last == UInt8(ascii: character) else { return false }
            type = Substring(type.utf8.dropLast())
            return true
        }
        let isNullable = !takeLast("!")
        let isCollection = type.utf8.first == UInt8(ascii: "[") && takeLast("]")
        if isCollection { type = Substring(type.utf8.dropFirst()) }
        let hasNullElements = isCollection && takeLast("?")
        var property = ItemProperty(kind: ItemKind(ItemSchema.decoded(type), in: schema))
        property.isCollection = isCollection
        property.hasNullElements = hasNullElements
        property.isNullable = isNullable
        property.isRelation = isRelation
        for word in words { if let access = Access(word: word) { property.access.insert(access) } }
        return (ItemSchema.decoded(name), property)
    }
}

/// The members of an enumeration, in the order of the text. Generated texts list them by number, then by name.
final class ItemMembers: Sendable {
    let list: [(name: String, number: Int64?)]
    private let numbers: [String: Int64]
    private let names: [Int64: String]

    fileprivate init(_ lines: Substring) {
        list = ItemSchema.lines(of: lines).compactMap { line in
            let words = ItemSchema.words(of: line)
            return words.first.map { (ItemSchema.decoded($0), words.count > 1 ? Int64(words[1]) : nil) }
        }
        var numbers: [String: Int64] = [:]
        var names: [Int64: String] = [:]
        for case (let name, let number?) in list {
            numbers[name] = number
            // Of two members with the same number, the first names the value.
            if names[number] == nil { names[number] = name }
        }
        self.numbers = numbers
        self.names = names
    }

    func number(of name: String) -> Int64? { numbers[name] }
    func name(of number: Int64) -> String? { names[number] }
    func contains(_ name: String) -> Bool { numbers[name] != nil || list.contains { $0.name == name } }
}

/// The names of an entity's properties, in order.
///
/// The entities of a page mostly have the same names, so the reader gives them the same ones: copies share their memory until one changes.
struct EntityNames: Sendable {
    private struct Table: Sendable {
        var list: [String] = []
        /// The positions by name, only for many names, where a linear search is slower. An own table with hashes of the bytes isn't faster.
        var positions: [String: Int] = [:]
        /// The names before an `@` within a name: the properties that have control information or annotations.
        var annotated: Set<String> = []
    }

    /// One element, or none without names: an array is a reference that is copied before a change if it is shared.
    private var table: [Table] = []

    /// The number of names up to which a linear search is faster.
    private static let searchedCount = 12

    /// Creates no names.
    init() {}

    /// The names, in order.
    var list: [String] { table.first?.list ?? [] }

    /// The number of names.
    var count: Int { table.isEmpty ? 0 : table[0].list.count }

    /// Returns the name at a valid position.
    subscript(_ position: Int) -> String { table[0].list[position] }

    /// Returns the position of a name, or `nil` if it is missing.
    func position(of name: String) -> Int? {
        guard !table.isEmpty else { return nil }
        return table[0].positions.isEmpty ? table[0].list.firstIndex { $0 == name } : table[0].positions[name]
    }

    /// Returns whether a property has control information or annotations.
    func isAnnotated(_ name: String) -> Bool {
        !table.isEmpty && !table[0].annotated.isEmpty && table[0].annotated.contains(name)
    }

    /// Adds a name that is known to be new.
    mutating func append(_ name: String) {
        if table.isEmpty { table = [Table()] }
        table[0].list.append(name)
        index(name, at: count - 1)
    }

    /// Reserves memory for a number of names.
    mutating func reserve(_ count: Int) {
        if table.isEmpty { table = [Table()] }
        table[0].list.reserveCapacity(count)
    }

    /// Removes the name at a valid position.
    mutating func remove(at position: Int) {
        var kept = table[0].list
        kept.remove(at: position)
        // The positions of all later names change.
        self = EntityNames()
        reserve(kept.count)
        for name in kept { append(name) }
    }

    private mutating func index(_ name: String, at position: Int) {
        if position >= Self.searchedCount {
            if table[0].positions.isEmpty {
                for (position, name) in table[0].list.enumerated() { table[0].positions[name] = position }
            } else {
                table[0].positions[name] = position
            }
        }
        guard name.utf8.contains(UInt8(ascii: "@")) else { return }
        // An annotation has annotations too, such as `@Core.Messages@odata.count`.
        for mark in name.utf8.indices.dropFirst() where name.utf8[mark] == UInt8(ascii: "@") {
            table[0].annotated.insert(String(name[..<mark]))
        }
    }
}

extension EntityNames: Hashable {
    static func == (left: EntityNames, right: EntityNames) -> Bool { left.list == right.list }

    func hash(into hasher: inout Hasher) { hasher.combine(list) }
}

import Foundation

/// The names of an entity's properties, in order.
///
/// The entities of a page mostly have the same names, so the reader gives them the same ones: copies share their memory until one changes.
struct EntityNames: Sendable {
    fileprivate struct Table: Sendable {
        var list: [String] = []
        /// The positions by hashes of the names, and -1, only for many names; the number is a power of two, at least twice that of the names.
        var slots: [Int32] = []
        /// The positions of names beyond ASCII, which may be equal in other bytes, only for many names.
        var wide: [String: Int] = [:]
        /// The names before an `@` within a name: the properties that have control information or annotations.
        var annotated: Set<String> = []
    }

    /// One element, or none without names: an array is a reference that is copied before a change if it is shared.
    private var table: [Table] = []

    /// The number of names up to which a linear search is faster.
    private static let searchedCount = 6

    /// Creates no names.
    init() {}

    /// The names, in order.
    var list: [String] { table.first?.list ?? [] }

    /// The number of names.
    var count: Int { table.isEmpty ? 0 : table[0].list.count }

    /// Returns the name at a valid position.
    subscript(_ position: Int) -> String { table[0].list[position] }

    /// Returns the position of a name, or `nil` if it is missing.
    func position(of name: String) -> Int? { table.isEmpty ? nil : table[0].position(of: name) }

    /// Returns whether a property has control information or annotations.
    func isAnnotated(_ name: String) -> Bool {
        !table.isEmpty && !table[0].annotated.isEmpty && table[0].annotated.contains(name)
    }

    /// Adds a name that is known to be new.
    mutating func append(_ name: String) {
        if table.isEmpty { table = [Table()] }
        table[0].append(name, searchedCount: Self.searchedCount)
    }

    /// Reserves memory for a number of names.
    mutating func reserve(_ count: Int) {
        if table.isEmpty { table = [Table()] }
        table[0].list.reserveCapacity(count)
    }

    /// Removes the name at a valid position.
    mutating func remove(at position: Int) {
        var kept = list
        kept.remove(at: position)
        // The positions of all later names change.
        self = EntityNames()
        reserve(kept.count)
        for name in kept { append(name) }
    }
}

extension EntityNames: Hashable {
    static func == (left: EntityNames, right: EntityNames) -> Bool { left.list == right.list }

    func hash(into hasher: inout Hasher) { hasher.combine(list) }
}

extension EntityNames.Table {
    func position(of name: String) -> Int? {
        guard !slots.isEmpty else { return list.firstIndex { $0 == name } }
        guard let hash = Self.hash(name) else {
            if let position = wide[name] { return position }
            // A few characters are equal to one of ASCII, such as the Kelvin sign to K.
            let composed = name.precomposedStringWithCanonicalMapping
            return Self.hash(composed).flatMap { find(composed, $0) }
        }
        return find(name, hash) ?? (wide.isEmpty ? nil : wide[name])
    }

    private func find(_ name: String, _ hash: Int) -> Int? {
        var slot = hash & (slots.count - 1)
        while slots[slot] >= 0 {
            let position = Int(slots[slot])
            if list[position] == name { return position }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    mutating func append(_ name: String, searchedCount: Int) {
        list.append(name)
        if list.count > searchedCount {
            if slots.count >= 2 * list.count {
                index(name, at: list.count - 1)
            } else {
                slots = Array(repeating: -1, count: max(16, 2 * slots.count))
                for (position, name) in list.enumerated() { index(name, at: position) }
            }
        }
        guard name.utf8.contains(UInt8(ascii: "@")) else { return }
        // An annotation has annotations too, such as `@Core.Messages@odata.count`.
        for mark in name.utf8.indices.dropFirst() where name.utf8[mark] == UInt8(ascii: "@") {
            annotated.insert(String(name[..<mark]))
        }
    }

    private mutating func index(_ name: String, at position: Int) {
        guard let hash = Self.hash(name) else {
            wide[name] = position
            return
        }
        var slot = hash & (slots.count - 1)
        while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = Int32(truncatingIfNeeded: position)
    }

    /// Unpredictable outside this process, so that no payload can choose names with the same hash.
    private static let seed = UInt64.random(in: 1 ... .max) | 1

    /// Returns a hash of a name, or `nil` if it contains other characters than those of ASCII.
    private static func hash(_ name: String) -> Int? {
        func sum(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
            var state = seed ^ UInt64(truncatingIfNeeded: bytes.count)
            var seen: UInt64 = 0
            let raw = UnsafeRawBufferPointer(bytes)
            var index = 0
            while index < raw.count {
                var word: UInt64 = 0
                if raw.count - index >= 8 {
                    word = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                } else {
                    for byte in raw[index...] { word = word << 8 | UInt64(byte) }
                }
                seen |= word
                let product = (state ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15 ^ seed)
                state = product.high ^ product.low &+ word
                index += 8
            }
            guard seen & 0x8080_8080_8080_8080 == 0 else { return nil }
            return Int(truncatingIfNeeded: state ^ state >> 29)
        }
        if let hash = name.utf8.withContiguousStorageIfAvailable(sum) { return hash }
        var copy = name
        return copy.withUTF8(sum)
    }
}

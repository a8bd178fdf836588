/// The prefixes that are bound at a place of a text, and the names that have been resolved with them.
struct XMLNamespaceScope {
    /// The open declarations, and for each prefix the namespaces that the open elements bind it to.
    private var declared: [String] = []
    private var bound: [String: [String]] = [:]
    /// The resolved names, valid until bindings change.
    private var names = XMLNameTable()

    /// The number of open declarations.
    var count: Int { declared.count }

    /// Whether a prefix may be bound to a namespace (Namespaces in XML 1.0 §3). Only the default namespace may be unset.
    static func mayBind(_ prefix: String, to namespace: String) -> Bool {
        switch prefix {
        case "": namespace != XMLName.xmlNamespace && namespace != XMLName.xmlnsNamespace
        case "xml": namespace == XMLName.xmlNamespace
        case "xmlns": false
        default: !namespace.isEmpty && namespace != XMLName.xmlNamespace && namespace != XMLName.xmlnsNamespace
        }
    }

    /// Enters an element's declarations.
    mutating func begin(_ declarations: [XMLValue.Declaration]) {
        for declaration in declarations {
            declared.append(declaration.prefix)
            bound[declaration.prefix, default: []].append(declaration.namespace)
        }
        names.removeAll()
    }

    /// Leaves all declarations after the first `count` ones.
    mutating func end(to count: Int) {
        guard declared.count > count else { return }
        while declared.count > count {
            let prefix = declared.removeLast()
            bound[prefix]?.removeLast()
            if bound[prefix]?.isEmpty == true { bound[prefix] = nil }
        }
        names.removeAll()
    }

    /// The namespace of a prefix, empty for none; `nil` if it isn't declared. An attribute without a prefix is in no namespace.
    func namespace(of prefix: String?, isAttribute: Bool) -> String? {
        guard let prefix else { return isAttribute ? "" : bound[""]?.last ?? "" }
        if prefix == "xml" { return XMLName.xmlNamespace }
        return bound[prefix]?.last
    }

    func known(_ name: UnsafeBufferPointer<UInt8>, isAttribute: Bool) -> UInt32? { names.find(name, isAttribute: isAttribute) }

    mutating func remember(_ index: UInt32, for name: UnsafeBufferPointer<UInt8>, isAttribute: Bool) {
        names.insert(index, for: name, isAttribute: isAttribute)
    }
}

/// Names by their bytes, without creating strings for lookups. The bytes belong to the text and outlive the table.
private struct XMLNameTable {
    private struct Entry {
        let name: UnsafeBufferPointer<UInt8>
        let isAttribute: Bool
        let index: UInt32
    }

    private var entries: [Entry] = []
    /// The places of entries plus one, by hash; 0 is free. The size is a power of two, at least twice the number of entries.
    private var slots: [UInt32] = []

    mutating func removeAll() {
        guard !entries.isEmpty else { return }
        entries.removeAll(keepingCapacity: entries.count <= 64)
        if slots.count <= 256 {
            for index in slots.indices { slots[index] = 0 }
        } else {
            slots = []
        }
    }

    func find(_ name: UnsafeBufferPointer<UInt8>, isAttribute: Bool) -> UInt32? {
        guard !entries.isEmpty else { return nil }
        let slot = slot(of: name, isAttribute)
        return slots[slot] == 0 ? nil : entries[Int(slots[slot]) - 1].index
    }

    mutating func insert(_ index: UInt32, for name: UnsafeBufferPointer<UInt8>, isAttribute: Bool) {
        entries.append(Entry(name: name, isAttribute: isAttribute, index: index))
        if entries.count * 2 > slots.count {
            slots = [UInt32](repeating: 0, count: max(16, slots.count * 2))
            for (place, entry) in entries.enumerated() { slots[slot(of: entry.name, entry.isAttribute)] = UInt32(place + 1) }
        } else {
            slots[slot(of: name, isAttribute)] = UInt32(entries.count)
        }
    }

    /// The slot of a name, or the free one where it belongs. The hash is seeded per process, so that a text can't choose collisions.
    private func slot(of name: UnsafeBufferPointer<UInt8>, _ isAttribute: Bool) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(name))
        hasher.combine(isAttribute)
        var slot = hasher.finalize() & (slots.count - 1)
        while slots[slot] != 0 {
            let entry = entries[Int(slots[slot]) - 1]
            if entry.isAttribute == isAttribute, entry.name.elementsEqual(name) { return slot }
            slot = (slot + 1) & (slots.count - 1)
        }
        return slot
    }
}

/// The `name="value"` pairs of an XML declaration.
struct XMLPseudoAttributes {
    private var rest: Substring

    init(_ bytes: some Sequence<UInt8>) { rest = String(decoding: Array(bytes), as: UTF8.self)[...] }

    /// Whether only white space is left.
    var isAtEnd: Bool { XMLCharacters.isBlank(rest) }

    /// Returns the next pair; `nil` at the end and at text that isn't a pair.
    mutating func next() -> (name: String, value: String)? {
        let blanks = rest.utf8.prefix(while: XMLCharacters.isBlank)
        guard !blanks.isEmpty else { return nil }
        var after = rest.utf8.dropFirst(blanks.count)
        let name = after.prefix { (0x61...0x7A).contains($0) }
        after = after.dropFirst(name.count).drop(while: XMLCharacters.isBlank)
        guard !name.isEmpty, after.first == UInt8(ascii: "=") else { return nil }
        after = after.dropFirst().drop(while: XMLCharacters.isBlank)
        guard let quote = after.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
            let end = after.dropFirst().firstIndex(of: quote)
        else { return nil }
        let value = after[..<end].dropFirst()
        rest = Substring(after[end...].dropFirst())
        return (String(Substring(name)), String(Substring(value)))
    }
}

extension JSONDocument {
    /// The index of a member's name in an object.
    ///
    /// The search begins after the member that was found last: mostly that is the one asked for.
    @inline(__always) func find(_ name: String, inObjectAt node: Int) -> Int? {
        if convertsNames { return convertedNames(ofObjectAt: node).find(name) }
        return findRaw(name, inObjectAt: node)
    }

    /// The same for a name as it stands in the text.
    @inline(__always) func findRaw(_ name: String, inObjectAt node: Int) -> Int? {
        // Strings of Swift are contiguous; those that come from elsewhere are made so.
        if let index = name.utf8.withContiguousStorageIfAvailable({ find($0, inObjectAt: node) ?? -1 }) { return index < 0 ? nil : index }
        return Array(name.utf8).withUnsafeBufferPointer { find($0, inObjectAt: node) }
    }

    /// The names of an object as keys see them, each once.
    func names(ofObjectAt node: Int) -> [String] {
        convertsNames ? convertedNames(ofObjectAt: node).unique : rawNames(ofObjectAt: node)
    }

    /// The names of an object as they stand in the text.
    func rawNames(ofObjectAt node: Int) -> [String] {
        var names: [String] = []
        names.reserveCapacity(word(node + 1).high)
        var index = node + JSONWord.objectHead
        while index < word(node + 1).low {
            names.append(string(word(index)))
            index = end(ofValueAt: index + 1)
        }
        return names
    }

    /// The names of an object as a strategy converts them.
    private func convertedNames(ofObjectAt node: Int) -> JSONConvertedNames {
        if let known = storage.pointee.convertedNames[node] { return known }
        let names = JSONConvertedNames(self, node)
        // A few, for the objects that are being decoded; a text may have any number.
        if storage.pointee.convertedNames.count >= 16 { storage.pointee.convertedNames.removeAll(keepingCapacity: true) }
        storage.pointee.convertedNames[node] = names
        return names
    }

    @inline(__always) func find(_ name: UnsafeBufferPointer<UInt8>, inObjectAt node: Int) -> Int? {
        let tape = storage.pointee.tape
        let likely = Int(truncatingIfNeeded: tape[node &+ 3])
        let end = JSONWord(bits: tape[node &+ 1]).low
        if likely < end, isName(name, at: likely) {
            tape[node &+ 3] = UInt64(truncatingIfNeeded: JSONWord.end(ofValueAt: likely &+ 1, tape))
            return likely
        }
        return search(name, inObjectAt: node, from: likely, end: end)
    }

    @inline(__always) private func isName(_ name: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        let word = word(index)
        guard word.length == name.count else { return false }
        guard let start = name.baseAddress else { return true }
        return JSONBytes.areEqual(self.name(word), exactly: start, name.count)
    }

    /// Searches onwards and then from the beginning.
    @inline(never) private func search(_ name: UnsafeBufferPointer<UInt8>, inObjectAt node: Int, from likely: Int, end: Int) -> Int? {
        let tape = storage.pointee.tape
        let first = node &+ JSONWord.objectHead
        if word(node &+ 1).high > Self.manyMembers {
            guard let index = table(ofObjectAt: node).find(name) else { return canonical(name, inObjectAt: node) }
            tape[node &+ 3] = UInt64(truncatingIfNeeded: JSONWord.end(ofValueAt: index &+ 1, tape))
            return index
        }
        for (start, stop) in [(likely, end), (first, min(likely, end))] {
            var index = start
            while index < stop {
                let next = JSONWord.end(ofValueAt: index &+ 1, tape)
                if isName(name, at: index) {
                    tape[node &+ 3] = UInt64(truncatingIfNeeded: next)
                    return index
                }
                index = next
            }
        }
        return canonical(name, inObjectAt: node)
    }

    /// A member of exactly this name: not one whose name is the same text in another canonical form, for which all would be looked through.
    func findExactly(_ name: UnsafeBufferPointer<UInt8>, inObjectAt node: Int) -> Int? {
        table(ofObjectAt: node).find(name)
    }

    /// Objects with more members get a table of their names.
    static let manyMembers = 64

    private func table(ofObjectAt node: Int) -> JSONNameTable {
        if let table = storage.pointee.tables[node] { return table }
        var table = JSONNameTable(storage, count: word(node + 1).high)
        var index = node + JSONWord.objectHead
        while index < word(node + 1).low {
            _ = table.insert(index)
            index = end(ofValueAt: index + 1)
        }
        storage.pointee.tables[node] = table
        return table
    }

    /// The name that is the same text in another canonical form, such as “é” as one scalar or as two: to Swift these are equal.
    private func canonical(_ name: UnsafeBufferPointer<UInt8>, inObjectAt node: Int) -> Int? {
        guard name.contains(where: { $0 >= 0x80 }) else { return nil }
        let wanted = String(decoding: name, as: UTF8.self)
        var index = node + JSONWord.objectHead
        while index < word(node + 1).low {
            let word = word(index)
            if word.kind != .ascii, string(word) == wanted { return index }
            index = end(ofValueAt: index + 1)
        }
        return nil
    }
}

extension JSONDocument {
    /// The index of a member's name in an object.
    ///
    /// The search begins after the member that was found last: mostly that is the one asked for.
    @inline(__always) func find(_ name: String, inObjectAt node: Int) -> Int? {
        var name = name
        return name.withUTF8 { find($0, inObjectAt: node) }
    }

    @inline(__always) private func find(_ name: UnsafeBufferPointer<UInt8>, inObjectAt node: Int) -> Int? {
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
        return JSONBytes.areEqual(storage.pointee.name(word), exactly: start, name.count)
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

    /// Objects with more members get a table of their names.
    private static let manyMembers = 64

    private func table(ofObjectAt node: Int) -> JSONNameTable {
        if let table = tables[node] { return table }
        var table = JSONNameTable(storage, count: word(node + 1).high)
        var index = node + JSONWord.objectHead
        while index < word(node + 1).low {
            _ = table.insert(index)
            index = end(ofValueAt: index + 1)
        }
        tables[node] = table
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

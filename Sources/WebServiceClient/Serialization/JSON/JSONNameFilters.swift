/// A small cache of Bloom filters, each of which quickly excludes most names that an object lacks.
///
/// A type with many optional properties looks up many missing names. Without a filter, each lookup compares the name with every name in the
/// object. A filter is a set of hashes, so it never excludes a name that exists.
struct JSONNameFilters {
    /// The filter of one object: the object's index in the document, the hashes of its names, and the hashes of prefixes. A prefix is the
    /// part of a name before the mark of a dialect, such as `name` in OData's `name@odata.type`.
    struct Filter {
        let memory: UnsafeMutablePointer<UInt64>

        static let size = 1 + 2 * words
        private static let words = 8

        @inline(__always) var node: Int { Int(truncatingIfNeeded: memory[0]) }

        func begin(_ node: Int) {
            memory.update(repeating: 0, count: Self.size)
            memory[0] = UInt64(truncatingIfNeeded: node)
        }

        @inline(__always) private static func hash(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
            guard count > 0 else { return 0 }
            // Five bytes and the length distinguish most names of one object; texts outside the tape aren't padded, so they are read
            // singly.
            var sum = UInt64(bytes[0]) &<< 8 | UInt64(bytes[count &- 1])
            sum = sum &<< 24 | UInt64(bytes[count &>> 1]) &<< 16 | UInt64(bytes[count &>> 2]) &<< 8 | UInt64(bytes[(3 &* count) &>> 2])
            sum ^= UInt64(truncatingIfNeeded: count) &<< 40
            return Int(truncatingIfNeeded: (sum &* 0x9E37_79B9_7F4A_7C15) &>> 55)
        }

        @inline(__always) private func insert(_ hash: Int, at start: Int) {
            memory[start &+ hash &>> 6] |= 1 &<< UInt64(truncatingIfNeeded: hash & 63)
        }

        @inline(__always) private func contains(_ hash: Int, at start: Int) -> Bool {
            memory[start &+ hash &>> 6] &>> UInt64(truncatingIfNeeded: hash & 63) & 1 != 0
        }

        func insert(_ name: UnsafePointer<UInt8>, _ count: Int) { insert(Self.hash(name, count), at: 1) }
        func insertPrefix(_ name: UnsafePointer<UInt8>, _ count: Int) { insert(Self.hash(name, count), at: 1 + Self.words) }

        @inline(__always) func mayContain(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
            guard let start = name.baseAddress else { return true }
            return contains(Self.hash(start, name.count), at: 1)
        }

        @inline(__always) func mayHavePrefix(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
            guard let start = name.baseAddress else { return true }
            return contains(Self.hash(start, name.count), at: 1 + Self.words)
        }
    }

    /// The number of filters; an object that needs the place of another one replaces it.
    private static let count = 4
    /// Never freed, like the storage.
    private let memory: UnsafeMutablePointer<UInt64>
    private var isEmpty = true
    /// The object of the last failed lookup.
    private var missed = -1

    init() {
        memory = .allocate(capacity: Self.count * Filter.size)
        memory.initialize(repeating: .max, count: Self.count * Filter.size)
    }

    @inline(__always) private func slot(_ node: Int) -> Filter {
        Filter(memory: memory + (node ^ node &>> 3) % Self.count &* Filter.size)
    }

    /// Returns whether an object certainly doesn't have a name; false if it has no filter.
    @inline(__always) func excludes(_ name: UnsafeBufferPointer<UInt8>, fromObjectAt node: Int) -> Bool {
        let filter = slot(node)
        return filter.node == node && !filter.mayContain(name)
    }

    /// Records a failed lookup. Returns whether the previous one was in the same object and the object has no filter yet.
    mutating func recordMiss(ofObjectAt node: Int) -> Bool {
        if missed == node { return slot(node).node != node }
        missed = node
        return false
    }

    /// Returns the filter of an object, and whether it is empty because it is new.
    mutating func filter(ofObjectAt node: Int) -> (filter: Filter, isNew: Bool) {
        let filter = slot(node)
        if filter.node == node { return (filter, false) }
        isEmpty = false
        filter.begin(node)
        return (filter, true)
    }

    /// Removes all filters, because their objects end.
    mutating func removeAll() {
        missed = -1
        guard !isEmpty else { return }
        isEmpty = true
        for index in 0..<Self.count { memory[index &* Filter.size] = .max }
    }
}

extension JSONDocument {
    /// Returns the filter of an object's names, making it if needed.
    @discardableResult @inline(never) func nameFilter(ofObjectAt node: Int) -> JSONNameFilters.Filter {
        let (filter, isNew) = storage.pointee.filters.filter(ofObjectAt: node)
        guard isNew else { return filter }
        let mark = storage.pointee.neighbourMark
        let end = word(node + 1).low
        var index = node + JSONWord.objectHead
        while index < end {
            let word = word(index)
            let name = name(word)
            filter.insert(name, word.length)
            if mark != 0 {
                for position in stride(from: 0, to: word.length, by: 1) where name[position] == mark {
                    filter.insertPrefix(name, position)
                }
            }
            index = self.end(ofValueAt: index + 1)
        }
        return filter
    }

    /// Returns whether an object without a member of this name has members such as `name@odata.type`.
    func neighbours(of name: String, inObjectAt node: Int) -> JSONNeighbours {
        // Without a dialect there are none. With converted names, the dialect finds them.
        guard hasDialect else { return .none }
        guard !convertsNames else { return .some }
        var name = name
        return name.withUTF8 { name in
            var isAlone = true
            forEachNeighbour(of: name, behind: storage.pointee.neighbourMark, inObjectAt: node) { _ in isAlone = false }
            return isAlone ? .none : .some
        }
    }

    /// Calls a closure with the indices of the names that begin with a name followed by a mark.
    func forEachNeighbour(
        of name: UnsafeBufferPointer<UInt8>, behind mark: UInt8, inObjectAt node: Int, _ body: (Int) -> Void
    ) {
        guard let start = name.baseAddress else { return }
        if mark == storage.pointee.neighbourMark, !nameFilter(ofObjectAt: node).mayHavePrefix(name) { return }
        let end = word(node + 1).low
        var index = node + JSONWord.objectHead
        while index < end {
            let word = word(index)
            if word.length > name.count, self.name(word)[name.count] == mark,
                JSONBytes.areEqual(self.name(word), exactly: start, name.count)
            {
                body(index)
            }
            index = self.end(ofValueAt: index + 1)
        }
    }
}

import Foundation

/// The names of an object on the tape.
struct JSONNames {
    private let storage: UnsafeMutablePointer<JSONStorage>

    @inline(__always) init(_ storage: UnsafeMutablePointer<JSONStorage>) { self.storage = storage }

    /// Up to so many names are compared each with each.
    private static let fewest = 16

    /// Where in the text a name stands that the object has had before.
    ///
    /// - Parameters:
    ///   - first: the index of the first name.
    ///   - end: the index after the last member.
    @inline(never) func duplicate(from first: Int, count: Int, end: Int) -> Int? {
        if count > Self.fewest { return duplicateOfMany(from: first, count: count, end: end) }
        return withUnsafeTemporaryAllocation(of: (UInt64, Int).self, capacity: Self.fewest) { seen in
            var index = first
            var number = 0
            while index < end, number < Self.fewest {
                let word = JSONWord(bits: storage.pointee.tape[index])
                let bytes = JSONDocument(storage).name(word)
                // Length and first bytes tell most names apart.
                var mark = JSONBytes.load8(bytes)
                if word.length < 8 { mark &= ~(~0 &<< UInt64(truncatingIfNeeded: 8 &* word.length)) }
                mark ^= UInt64(truncatingIfNeeded: word.length) &<< 56
                for other in 0..<number where seen[other].0 == mark && isEqual(seen[other].1, index) { return offset(ofNameAt: index) }
                seen.initializeElement(at: number, to: (mark, index))
                number &+= 1
                index = JSONWord.end(ofValueAt: index &+ 1, storage.pointee.tape)
            }
            return nil
        }
    }

    private func duplicateOfMany(from first: Int, count: Int, end: Int) -> Int? {
        var table = JSONNameTable(storage, count: count)
        var index = first
        while index < end {
            if table.insert(index) { return offset(ofNameAt: index) }
            index = JSONWord.end(ofValueAt: index &+ 1, storage.pointee.tape)
        }
        return nil
    }

    @inline(__always) func isEqual(_ one: Int, _ other: Int) -> Bool {
        let words = (JSONWord(bits: storage.pointee.tape[one]), JSONWord(bits: storage.pointee.tape[other]))
        return words.0.length == words.1.length
            && JSONBytes.areEqual(JSONDocument(storage).name(words.0), JSONDocument(storage).name(words.1), words.0.length)
    }

    /// Where the name stands, or its value where the name was stored elsewhere.
    private func offset(ofNameAt index: Int) -> Int {
        let word = JSONWord(bits: storage.pointee.tape[index])
        return word.kind == .unescapedName ? JSONWord(bits: storage.pointee.tape[index + 1]).offset : word.offset - 1
    }
}

/// A hash table of names on the tape, for objects with many of them.
struct JSONNameTable {
    private let storage: UnsafeMutablePointer<JSONStorage>
    private var slots: [Int32]

    init(_ storage: UnsafeMutablePointer<JSONStorage>, count: Int) {
        self.storage = storage
        var size = 64
        while size < count * 2 { size *= 2 }
        slots = [Int32](repeating: -1, count: size)
    }

    /// Adds the name at an index; true when it was there before, and is left as it was.
    mutating func insert(_ index: Int) -> Bool {
        let word = JSONWord(bits: storage.pointee.tape[index])
        var slot = place(of: JSONDocument(storage).name(word), word.length)
        while slots[slot] >= 0 {
            if JSONNames(storage).isEqual(Int(slots[slot]), index) { return true }
            slot = (slot &+ 1) & (slots.count &- 1)
        }
        slots[slot] = Int32(truncatingIfNeeded: index)
        return false
    }

    /// The index of a name, if it is there.
    func find(_ name: UnsafeBufferPointer<UInt8>) -> Int? {
        // The hash reads whole words: a copy with room after its end.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: name.count + JSONBytes.padding) { copy in
            guard let start = copy.baseAddress else { return nil }
            copy.initialize(repeating: 0)
            if let source = name.baseAddress { start.update(from: source, count: name.count) }
            var slot = place(of: start, name.count)
            while slots[slot] >= 0 {
                let word = JSONWord(bits: storage.pointee.tape[Int(slots[slot])])
                if word.length == name.count, JSONBytes.areEqual(JSONDocument(storage).name(word), start, name.count) {
                    return Int(slots[slot])
                }
                slot = (slot &+ 1) & (slots.count &- 1)
            }
            return nil
        }
    }

    private func place(of bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
        Int(truncatingIfNeeded: JSONBytes.hash(bytes, count)) & (slots.count &- 1)
    }
}

/// Names that had escapes, without them: one behind the other, with padding behind the last one.
struct JSONNameStore {
    private(set) var bytes: UnsafeMutablePointer<UInt8>
    private var count = 0
    private var capacity = 0

    init() { bytes = Self.zeros(JSONBytes.padding) }

    private static func zeros(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
        bytes.initialize(repeating: 0, count: count)
        return bytes
    }

    /// Stores a name unescaped.
    ///
    /// - Returns: where it lies, and its length.
    mutating func store(_ escaped: UnsafePointer<UInt8>, _ length: Int) -> (offset: Int, length: Int) {
        if count + length > capacity {
            let larger = max(capacity * 2, count + length, 256)
            let fresh = Self.zeros(larger + JSONBytes.padding)
            fresh.update(from: bytes, count: count)
            bytes.deallocate()
            bytes = fresh
            capacity = larger
        }
        let offset = count
        let length = JSONEscapes.unescape(escaped, length, into: bytes + offset)
        count += length
        return (offset, length)
    }

    /// Forgets all names, and gives back the memory if it is more than so much.
    mutating func removeAll(keeping size: Int) {
        count = 0
        guard capacity > size else { return }
        bytes.deallocate()
        capacity = 0
        bytes = Self.zeros(JSONBytes.padding)
    }
}

/// The names of one object, converted by a strategy. Where two become one, the first is meant.
struct JSONConvertedNames {
    private var members: [(name: String, index: Int)] = []
    /// The names of an object that has many.
    private var table: [String: Int] = [:]

    init(_ document: JSONDocument, _ node: Int) {
        members.reserveCapacity(document.word(node + 1).high)
        var index = node + JSONWord.objectHead
        while index < document.word(node + 1).low {
            members.append((document.convertedName(document.string(document.word(index)), in: node), index))
            index = document.end(ofValueAt: index + 1)
        }
        if members.count > 16 { table = Dictionary(members.map { ($0.name, $0.index) }) { first, _ in first } }
    }

    /// Each name once.
    var unique: [String] {
        var seen: Set<String> = []
        return members.map(\.name).filter { seen.insert($0).inserted }
    }

    /// The index of a name on the tape.
    func find(_ name: String) -> Int? {
        table.isEmpty ? members.first { $0.name == name }?.index : table[name]
    }
}

/// Names on the wire as names of properties.
enum JSONNameConversion {
    /// The same as Foundation's `convertFromSnakeCase` makes of a name: `page_count` is `pageCount`, underscores at either end stay.
    static func fromSnakeCase(_ name: String) -> String {
        let head = name.prefix { $0 == "_" }
        let rest = name.dropFirst(head.count)
        guard let last = rest.lastIndex(where: { $0 != "_" }) else { return name }
        let words = rest[...last].split(separator: "_")
        guard words.count > 1, let first = words.first else { return name }
        return head + first.lowercased() + words.dropFirst().map(\.capitalized).joined() + rest[rest.index(after: last)...]
    }
}

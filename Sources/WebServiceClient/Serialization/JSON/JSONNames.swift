import Foundation

/// Finds duplicate names of objects on the tape.
struct JSONNames {
    private let storage: UnsafeMutablePointer<JSONStorage>

    @inline(__always) init(_ storage: UnsafeMutablePointer<JSONStorage>) { self.storage = storage }

    /// Objects with more names use a hash table.
    private static let fewest = 16

    /// Returns the text offset of a repeated name, or of its value if the name had escapes; `nil` if none repeats.
    ///
    /// - Parameters:
    ///   - first: The index of the first name.
    ///   - end: The index after the last member.
    @inline(never) func duplicate(from first: Int, count: Int, end: Int) -> Int? {
        if count > Self.fewest { return duplicateOfMany(from: first, count: count, end: end) }
        return withUnsafeTemporaryAllocation(of: (UInt64, Int).self, capacity: Self.fewest) { seen in
            var index = first
            var number = 0
            while index < end, number < Self.fewest {
                let word = JSONWord(bits: storage.pointee.tape[index])
                let bytes = JSONDocument(storage).name(word)
                // Length and first bytes distinguish most names.
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

    /// The text offset of the name, or of its value if the name is in the name store.
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

    /// Inserts the name at an index; returns true and changes nothing if the name exists already.
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

    /// Returns the index of a name, or `nil` if it is missing.
    func find(_ name: UnsafeBufferPointer<UInt8>) -> Int? {
        // The hash reads whole words, so it needs a copy with padding.
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

/// The unescaped forms of names with escapes, stored contiguously with padding after the last one.
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
    /// - Returns: Its offset and length in the store.
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

    /// Removes all names, and frees the memory if it exceeds a size.
    mutating func removeAll(keeping size: Int) {
        count = 0
        guard capacity > size else { return }
        bytes.deallocate()
        capacity = 0
        bytes = Self.zeros(JSONBytes.padding)
    }
}

/// The names of one object, converted by a strategy. If two names convert to the same one, the first counts.
struct JSONConvertedNames {
    private var members: [(name: String, index: Int)] = []
    /// The names of a large object.
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

    /// The names without duplicates.
    var unique: [String] {
        var seen: Set<String> = []
        return members.map(\.name).filter { seen.insert($0).inserted }
    }

    /// Returns the index of a name on the tape.
    func find(_ name: String) -> Int? {
        table.isEmpty ? members.first { $0.name == name }?.index : table[name]
    }
}

/// Converts names on the wire to property names.
enum JSONNameConversion {
    /// Converts like Foundation's `convertFromSnakeCase`: `page_count` becomes `pageCount`; underscores at either end are kept.
    static func fromSnakeCase(_ name: String) -> String {
        let head = name.prefix { $0 == "_" }
        let rest = name.dropFirst(head.count)
        guard let last = rest.lastIndex(where: { $0 != "_" }) else { return name }
        let words = rest[...last].split(separator: "_")
        guard words.count > 1, let first = words.first else { return name }
        return head + first.lowercased() + words.dropFirst().map(\.capitalized).joined() + rest[rest.index(after: last)...]
    }
}

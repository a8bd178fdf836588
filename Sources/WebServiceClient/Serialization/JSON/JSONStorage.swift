import Foundation

/// The memory of a document: the text, padded with zeros, the tape, and the names that had escapes. Its owner frees it.
///
/// Raw memory and no arrays: nothing in the inner loops counts references or checks bounds. What keeps it safe is the padding, that the
/// scanner alone writes the tape, and that whoever reads holds the owner.
struct JSONStorage {
    private(set) var bytes: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var capacity: Int

    var tape: UnsafeMutablePointer<UInt64>
    var tapeCount = 0
    private(set) var tapeCapacity: Int

    private(set) var names: UnsafeMutablePointer<UInt8>
    private(set) var namesCount = 0
    private var namesCapacity: Int

    /// The containers around the place where the scanner is.
    let frames: UnsafeMutablePointer<JSONFrame>

    /// The number of the root's first element, where the tape holds some elements of an array.
    var firstIndex = 0

    /// How many values are being decoded inside each other.
    var nesting = 0

    init(depthLimit: Int) {
        capacity = 256
        tapeCapacity = 64
        namesCapacity = 0
        bytes = .allocate(capacity: capacity + JSONBytes.padding)
        bytes.initialize(repeating: 0, count: JSONBytes.padding)
        tape = .allocate(capacity: tapeCapacity)
        names = .allocate(capacity: JSONBytes.padding)
        names.initialize(repeating: 0, count: JSONBytes.padding)
        frames = .allocate(capacity: depthLimit + 2)
    }

    func free() {
        bytes.deallocate()
        tape.deallocate()
        names.deallocate()
        frames.deallocate()
    }

    // MARK: Text

    mutating func append(_ piece: UnsafeRawBufferPointer) {
        reserve(piece.count)
        if let start = piece.baseAddress, piece.count > 0 {
            UnsafeMutableRawPointer(bytes + count).copyMemory(from: start, byteCount: piece.count)
        }
        count += piece.count
        (bytes + count).update(repeating: 0, count: JSONBytes.padding)
    }

    /// Drops the first bytes.
    mutating func removeFirst(_ number: Int) {
        guard number > 0 else { return }
        bytes.update(from: bytes + number, count: count - number)
        count -= number
        (bytes + count).update(repeating: 0, count: JSONBytes.padding)
    }

    mutating func removeAll() {
        count = 0
        bytes.update(repeating: 0, count: JSONBytes.padding)
        clearTape()
    }

    private mutating func reserve(_ number: Int) {
        guard count + number > capacity else { return }
        // What is filled once is taken as large as it is; what grows does so by half.
        let larger = count == 0 ? number : max(count + number, capacity + capacity / 2)
        let fresh = UnsafeMutablePointer<UInt8>.allocate(capacity: larger + JSONBytes.padding)
        fresh.update(from: bytes, count: count)
        bytes.deallocate()
        bytes = fresh
        capacity = larger
    }

    // MARK: Tape

    mutating func clearTape() {
        tapeCount = 0
        namesCount = 0
    }

    /// Makes room for more words.
    mutating func growTape(keeping count: Int) {
        // About as many words as the rest of the text will need, if it is like what has been read.
        let larger = max(tapeCapacity * 2, min(self.count / 8, 1 << 16))
        let fresh = UnsafeMutablePointer<UInt64>.allocate(capacity: larger)
        fresh.update(from: tape, count: count)
        tape.deallocate()
        tape = fresh
        tapeCapacity = larger
    }

    // MARK: Names

    /// Stores a name unescaped.
    ///
    /// - Returns: where it lies, and its length.
    mutating func storeName(_ escaped: UnsafePointer<UInt8>, _ length: Int) -> (offset: Int, length: Int) {
        if namesCount + length > namesCapacity {
            let larger = max(namesCapacity * 2, namesCount + length, 256)
            let fresh = UnsafeMutablePointer<UInt8>.allocate(capacity: larger + JSONBytes.padding)
            fresh.initialize(repeating: 0, count: larger + JSONBytes.padding)
            fresh.update(from: names, count: namesCount)
            names.deallocate()
            names = fresh
            namesCapacity = larger
        }
        let offset = namesCount
        let count = JSONEscapes.unescape(escaped, length, into: names + offset)
        namesCount += count
        return (offset, count)
    }

    /// The bytes of the name that a word tells.
    @inline(__always) func name(_ word: JSONWord) -> UnsafePointer<UInt8> {
        UnsafePointer(word.kind == .unescapedName ? names : bytes) + word.offset
    }
}

/// A container that the scanner is inside of.
struct JSONFrame {
    var head: Int
    var count: Int
    /// For objects: the name in an earlier object which the next name is likely to be, and the end of that object.
    var predicted: Int
    var predictedEnd: Int
    /// The value in an earlier container that is likely to be like the next one here; -1 for none.
    var counterpart: Int
    /// Whether a name has come that the earlier object didn't have.
    var hasDiverged: Bool
}

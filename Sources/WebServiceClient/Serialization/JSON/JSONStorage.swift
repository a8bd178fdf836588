import CSystemLibraries
import Foundation

/// The memory in which a text is read: the text itself or its end, padded with zeros, the tape, and the names that had escapes.
///
/// Raw memory and no arrays: nothing in the inner loops counts references or checks bounds. What keeps it safe is the padding, that the
/// scanner alone writes the tape, and the ``generation``: decoders hold a pointer to here, which is never freed, and look at nothing else
/// once the call for which they were made has ended.
struct JSONStorage {
    /// Whether names are converted on their way to properties.
    private(set) var convertsNames = false
    /// What values are decoded with.
    private(set) var reader = JSONReader()
    /// Whether that has a dialect, and which of the types that have come the dialect reads.
    private(set) var hasDialect = false
    var dialectTypes: ContiguousArray<(type: ObjectIdentifier, isRead: Bool)> = []
    /// Which text this is: raised whenever the tape changes under decoders of an earlier one.
    let generation = JSONGeneration()

    /// The text where its owner has it, for as long as that lends it, and up to where it may be read there; see ``JSONStretch``.
    private(set) var lent: UnsafePointer<UInt8>?
    private(set) var lentLimit = 0
    /// How much of the text lies there, and so before what lies in the storage's own memory.
    private(set) var origin = 0
    private(set) var bytes: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var capacity: Int

    private(set) var tape: UnsafeMutablePointer<UInt64>
    var tapeCount = 0
    private(set) var tapeCapacity: Int

    /// The names that had escapes.
    var names = JSONNameStore()

    /// The containers around the place where the scanner is.
    let frames: UnsafeMutablePointer<JSONFrame>

    /// How many values are being decoded inside each other.
    var nesting = 0
    /// How many bytes the arrays that are being decoded have taken for elements that haven't been read.
    var reserved = 0
    /// Where the tape's root lies in the payload, and the number of its first element, where it was read in pieces.
    var rootPath: [any CodingKey] = []
    var firstIndex = 0
    /// The keyed containers that have been made.
    var containers = JSONContainerCache()
    /// The tables of names of objects that have many, by their indices on the tape.
    var tables: [Int: JSONNameTable] = [:]
    /// Where a strategy converts names: those of the objects that containers were made of, by their indices on the tape.
    var convertedNames: [Int: JSONConvertedNames] = [:]
    /// Conversions that have been made.
    var conversions: [String: String] = [:]

    /// What is kept between two texts, in bytes and in words.
    private static let smallText = 1 << 16
    private static let smallTape = 1 << 13

    init() {
        capacity = 1 << 10
        tapeCapacity = 1 << 8
        bytes = JSONMemory.allocate(UInt8.self, count: capacity + JSONBytes.padding)
        bytes.initialize(repeating: 0, count: JSONBytes.padding)
        tape = JSONMemory.allocate(UInt64.self, count: tapeCapacity)
        frames = .allocate(capacity: JSONReader.greatestDepth + 2)
    }

    mutating func begin(_ reader: JSONReader) {
        self.reader = reader
        hasDialect = reader.dialect != nil
        if case .useDefaultKeys = reader.keyDecodingStrategy { convertsNames = false } else { convertsNames = true }
    }

    /// Forgets the text, and gives back the memory if it was a large one.
    mutating func end() {
        endDecoders()
        if capacity > Self.smallText {
            JSONMemory.deallocate(bytes)
            capacity = Self.smallText
            bytes = JSONMemory.allocate(UInt8.self, count: capacity + JSONBytes.padding)
        }
        if tapeCapacity > Self.smallTape {
            JSONMemory.deallocate(tape)
            tapeCapacity = Self.smallTape
            tape = JSONMemory.allocate(UInt64.self, count: tapeCapacity)
        }
        if !tables.isEmpty { tables = [:] }
        if !convertedNames.isEmpty { convertedNames = [:] }
        if !conversions.isEmpty { conversions = [:] }
        if !dialectTypes.isEmpty { dialectTypes = [] }
        reader = JSONReader()
        rootPath = []
        lent = nil
        origin = 0
        firstIndex = 0
        nesting = 0
        reserved = 0
        count = 0
        tapeCount = 0
        names.removeAll(keeping: Self.smallText)
        pad()
    }

    /// Ends the decoders and containers there are: they read no more.
    private mutating func endDecoders() {
        generation.advance()
        containers.end()
    }

    // MARK: Text

    /// What comes after the text reads as zeros, which end whatever the scanner is in.
    private func pad() {
        (bytes + count).update(repeating: 0, count: JSONBytes.padding)
    }

    /// Takes a whole text. Most of it isn't copied, but must stay as it is until ``end()``.
    mutating func lend(_ text: UnsafeRawBufferPointer) {
        let text = text.bindMemory(to: UInt8.self)
        guard let limit = JSONStretch.limit(of: text) else { return append(UnsafeRawBufferPointer(text)) }
        lent = text.baseAddress
        lentLimit = limit
        origin = text.count
    }

    /// Copies a lent text from some byte on: from there it is read in the storage's own memory.
    mutating func copyRest(from offset: Int) {
        guard let lent, count == 0, offset <= origin else { return }
        let rest = UnsafeRawBufferPointer(start: lent + offset, count: origin - offset)
        origin = offset
        append(rest)
    }

    mutating func append(_ piece: UnsafeRawBufferPointer) {
        reserve(piece.count)
        if let start = piece.baseAddress, piece.count > 0 {
            UnsafeMutableRawPointer(bytes + count).copyMemory(from: start, byteCount: piece.count)
        }
        count += piece.count
        pad()
    }

    /// Drops the first bytes.
    mutating func removeFirst(_ number: Int) {
        guard number > 0 else { return }
        // Who still holds a place in the text must not read what is there now.
        endDecoders()
        bytes.update(from: bytes + number, count: count - number)
        count -= number
        pad()
    }

    private mutating func reserve(_ number: Int) {
        guard count + number > capacity else { return }
        // What is filled once is taken as large as it is; what grows does so by half.
        let larger = count == 0 ? number : max(count + number, capacity + capacity / 2)
        let fresh = JSONMemory.allocate(UInt8.self, count: larger + JSONBytes.padding)
        fresh.update(from: bytes, count: count)
        JSONMemory.deallocate(bytes)
        bytes = fresh
        capacity = larger
    }

    // MARK: Tape

    /// Empties the tape; decoders of what was on it read no more.
    mutating func clearTape() {
        endDecoders()
        tapeCount = 0
        names.removeAll(keeping: .max)
        if !tables.isEmpty { tables = [:] }
        if !convertedNames.isEmpty { convertedNames = [:] }
    }

    /// Makes room for more words.
    @inline(never) mutating func growTape(keeping count: Int) {
        // A word for eight bytes is enough for most texts; what isn't used of a large block costs nothing.
        let larger = max(tapeCapacity * 2, (origin + self.count) / 8)
        let fresh = JSONMemory.allocate(UInt64.self, count: larger)
        fresh.update(from: tape, count: count)
        JSONMemory.deallocate(tape)
        tape = fresh
        tapeCapacity = larger
    }
}

/// The memory for reading texts, used again and again.
///
/// What has once been made for as many calls as there were at the same time stays for good. So decoders and containers can hold
/// plain pointers, which counts no references, and one that outlives its call finds memory that says so.
enum JSONPool {
    // Sendable as raw addresses; each is used by the one who took it.
    private struct Entry: @unchecked Sendable { let storage: UnsafeMutablePointer<JSONStorage> }

    private static let idle = Locked<[Entry]>([])

    /// Memory for one text, until it is given back.
    static func take(_ reader: JSONReader) -> JSONDocument {
        let entry = idle.withLock { $0.popLast() } ?? make()
        entry.storage.pointee.begin(reader)
        return JSONDocument(entry.storage)
    }

    static func giveBack(_ document: JSONDocument) {
        document.storage.pointee.end()
        if document.storage.pointee.generation.isOld { return }
        idle.withLock { $0.append(Entry(storage: document.storage)) }
    }

    private static func make() -> Entry {
        let storage = UnsafeMutablePointer<JSONStorage>.allocate(capacity: 1)
        storage.initialize(to: JSONStorage())
        return Entry(storage: storage)
    }
}

/// Which text is in some pooled memory: a number that changes whenever decoders and containers of an earlier text must read no more.
///
/// One that was kept beyond its call looks here, while another call may be using the memory. So the number lies by itself in memory that
/// is never freed, it is read and written atomically, and it is all that such a one ever looks at.
struct JSONGeneration {
    private let number: UnsafeMutablePointer<UInt32>

    init() {
        number = .allocate(capacity: 1)
        number.initialize(to: 0)
    }

    @inline(__always) var current: UInt32 { csl_shared_number(number) }

    /// Whether so many generations have passed that some number might come again: memory with such a one is used no more.
    var isOld: Bool { current > .max / 2 }

    /// Ends the present generation. Only whoever uses the memory calls this, so nobody else writes at the same time.
    func advance() { csl_set_shared_number(number, current &+ 1) }
}

/// Memory for texts and tapes.
enum JSONMemory {
    /// From this size on, pages are large ones where the system has such: to touch a large block for the first time costs as much as to
    /// scan it otherwise.
    private static let large = 1 << 22
    private static let pageSize = 1 << 21

    static func allocate<Value: BitwiseCopyable>(_ type: Value.Type, count: Int) -> UnsafeMutablePointer<Value> {
        let size = max(count, 1) * MemoryLayout<Value>.stride
        #if os(Linux)
        if size >= large {
            let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: pageSize)
            // Where it isn't followed, nothing is lost.
            _ = madvise(block, size, MADV_HUGEPAGE)
            return block.bindMemory(to: type, capacity: count)
        }
        #endif
        return UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16).bindMemory(to: type, capacity: count)
    }

    static func deallocate<Value: BitwiseCopyable>(_ block: UnsafeMutablePointer<Value>) {
        // As raw memory, which knows of no alignment.
        UnsafeMutableRawPointer(block).deallocate()
    }
}

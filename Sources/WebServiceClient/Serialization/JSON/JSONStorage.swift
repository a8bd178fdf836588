import CSystemLibraries
import Foundation

/// The memory of a text that is being read: the text itself or its end, padded with zeros, the tape, and the names that had escapes.
///
/// It is raw memory instead of arrays, so the inner loops neither count references nor check bounds. Three facts make it safe: the
/// padding, the scanner as the tape's only writer, and the ``generation``. Decoders hold a pointer to this memory, which is never freed,
/// and read only the generation once their call has ended.
struct JSONStorage {
    /// Whether names are converted to property names.
    private(set) var convertsNames = false
    /// The settings for decoding values.
    private(set) var reader = JSONReader()
    /// Whether the reader has a dialect, and which of the types seen so far the dialect reads.
    private(set) var hasDialect = false
    /// The dialect's mark of accompanying members; zero without a dialect.
    private(set) var neighbourMark: UInt8 = 0
    var dialectTypes: ContiguousArray<(type: ObjectIdentifier, isRead: Bool)> = []
    /// The generation of the text, incremented whenever the tape changes under existing decoders.
    let generation = JSONGeneration()

    /// The text in its owner's memory, while that is lent, and the limit for reading it there; see ``JSONStretch``.
    private(set) var lent: UnsafePointer<UInt8>?
    private(set) var lentLimit = 0
    /// The number of text bytes in the owner's memory, before those in the storage's own memory.
    private(set) var origin = 0
    private(set) var bytes: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var capacity: Int

    private(set) var tape: UnsafeMutablePointer<UInt64>
    var tapeCount = 0
    private(set) var tapeCapacity: Int

    /// The names that had escapes.
    var names = JSONNameStore()

    /// The containers that enclose the scanner's position.
    let frames: UnsafeMutablePointer<JSONFrame>

    /// The current nesting of values that are being decoded.
    var nesting = 0
    /// The number of bytes that arrays have reserved for elements that haven't been read yet.
    var reserved = 0
    /// The path of the tape's root in the payload, and the number of its first element, if the text is read in pieces.
    var rootPath: [any CodingKey] = []
    var firstIndex = 0
    /// The keyed containers created so far.
    var containers = JSONContainerCache()
    /// The name tables of large objects, by their indices on the tape.
    var tables: [Int: JSONNameTable] = [:]
    /// The filters of the objects that are being decoded.
    var filters = JSONNameFilters()
    /// The converted names of the objects with containers, by their indices on the tape, if a strategy converts names.
    var convertedNames: [Int: JSONConvertedNames] = [:]
    /// The conversions made so far.
    var conversions: [String: String] = [:]

    /// The sizes of the memory that is kept between texts, in bytes and in words.
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
        neighbourMark = reader.dialect?.neighbourMark ?? 0
        if case .useDefaultKeys = reader.keyDecodingStrategy { convertsNames = false } else { convertsNames = true }
    }

    /// Discards the text, and frees the memory if it was large.
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

    /// Ends the existing decoders and containers, which can't read afterwards.
    private mutating func endDecoders() {
        generation.advance()
        containers.end()
        filters.removeAll()
    }

    // MARK: Text

    /// Zeros after the text end every token.
    private func pad() {
        (bytes + count).update(repeating: 0, count: JSONBytes.padding)
    }

    /// Takes a whole text. Most of it isn't copied, so it must not change until ``end()``.
    mutating func lend(_ text: UnsafeRawBufferPointer) {
        let text = text.bindMemory(to: UInt8.self)
        guard let limit = JSONStretch.limit(of: text) else { return append(UnsafeRawBufferPointer(text)) }
        lent = text.baseAddress
        lentLimit = limit
        origin = text.count
    }

    /// Copies a lent text from an offset on, from which it is read in the storage's own memory.
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
        // Existing decoders must not read the text that moves to their places.
        endDecoders()
        bytes.update(from: bytes + number, count: count - number)
        count -= number
        pad()
    }

    private mutating func reserve(_ number: Int) {
        guard count + number > capacity else { return }
        // Memory that is filled once gets the exact size; memory that grows does so by half.
        let larger = count == 0 ? number : max(count + number, capacity + capacity / 2)
        let fresh = JSONMemory.allocate(UInt8.self, count: larger + JSONBytes.padding)
        fresh.update(from: bytes, count: count)
        JSONMemory.deallocate(bytes)
        bytes = fresh
        capacity = larger
    }

    // MARK: Tape

    /// Empties the tape, which ends the decoders of its contents.
    mutating func clearTape() {
        endDecoders()
        tapeCount = 0
        names.removeAll(keeping: .max)
        if !tables.isEmpty { tables = [:] }
        if !convertedNames.isEmpty { convertedNames = [:] }
    }

    /// Grows the tape.
    @inline(never) mutating func growTape(keeping count: Int) {
        // One word per eight bytes is enough for most texts; the unused part of a large block costs nothing.
        let larger = max(tapeCapacity * 2, (origin + self.count) / 8)
        let fresh = JSONMemory.allocate(UInt64.self, count: larger)
        fresh.update(from: tape, count: count)
        JSONMemory.deallocate(tape)
        tape = fresh
        tapeCapacity = larger
    }
}

/// A pool of memory for reading texts.
///
/// The pool grows to the number of concurrent calls and never shrinks. Decoders and containers can therefore hold plain pointers without
/// reference counting, and one that outlives its call can still read that the call has ended.
enum JSONPool {
    // Sendable as a raw address; only the caller that took it uses it.
    private struct Entry: @unchecked Sendable { let storage: UnsafeMutablePointer<JSONStorage> }

    private static let idle = Locked<[Entry]>([])

    /// Takes memory for one text, until it is returned.
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

/// The generation of the text in pooled memory: a number that changes whenever decoders and containers of an earlier text must stop
/// reading.
///
/// A decoder that outlives its call reads the generation while another call may be using the memory. The number is therefore separate, in
/// memory that is never freed, and accessed atomically, and such a decoder reads nothing else.
struct JSONGeneration {
    private let number: UnsafeMutablePointer<UInt32>

    init() {
        number = .allocate(capacity: 1)
        number.initialize(to: 0)
    }

    @inline(__always) var current: UInt32 { csl_shared_number(number) }

    /// Whether the number is so high that it might wrap around; such memory is no longer used.
    var isOld: Bool { current > .max / 2 }

    /// Ends the current generation. Only the memory's current user calls this, so there are no concurrent writes.
    func advance() { csl_set_shared_number(number, current &+ 1) }
}

/// Memory for texts and tapes.
enum JSONMemory {
    /// The size from which large pages are requested, if the system has them: page faults in a large block otherwise cost as much as
    /// scanning it.
    private static let large = 1 << 22
    private static let pageSize = 1 << 21

    static func allocate<Value: BitwiseCopyable>(_ type: Value.Type, count: Int) -> UnsafeMutablePointer<Value> {
        let size = max(count, 1) * MemoryLayout<Value>.stride
        #if os(Linux)
        if size >= large {
            let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: pageSize)
            // The call is a hint; ignoring its failure is safe.
            _ = madvise(block, size, MADV_HUGEPAGE)
            return block.bindMemory(to: type, capacity: count)
        }
        #endif
        return UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16).bindMemory(to: type, capacity: count)
    }

    static func deallocate<Value: BitwiseCopyable>(_ block: UnsafeMutablePointer<Value>) {
        // Freed as raw memory, without a type's alignment.
        UnsafeMutableRawPointer(block).deallocate()
    }
}

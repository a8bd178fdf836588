import Foundation

/// How far a destination is.
struct DestinationState: Sendable {
    /// It gets these records.
    var selection = RecordSelection()
    /// Segments of whose records nobody knows yet whether it gets them.
    var unjudged: Set<SegmentName> = []
    /// A shipper uses it.
    var isOpen = false
    /// Everything up to here is acknowledged, or not for this destination.
    var acknowledged: RecordPosition = 0
    /// Everything up to here was handed out.
    var read: RecordPosition = 0
    /// What was handed out and isn't acknowledged.
    private(set) var handed: [RecordPosition] = []
    /// For what was handed out at once: its last place, and when the oldest of it came, or an older one.
    private var handings: [(last: RecordPosition, since: UInt64)] = []
    /// How many records are held for it, those that were handed out included.
    private(set) var held = 0
    /// The bytes of what wasn't handed out, as they take in memory, about.
    private(set) var unreadBytes = 0
    /// When these came.
    private var arrivals = ArrivalMarks()
    /// How many of its records somebody else has put here.
    var found = 0
    /// What was lost and not told yet, by reason.
    private(set) var losses = ShortList<RecordLoss>()
    /// The cursor as it was written last.
    var cursor = DestinationCursor()
    /// Whether the cursor has its file.
    var hasFile = false
    /// Where to read on.
    var mark: ReadingMark?
    /// What ends the sleep of the shipper that uses it.
    var wake = WakeCondition.never
    /// The shipper waits for a loss.
    var isLossAwaited = false

    var minimumLevel: LogLevel { selection.minimumLevel }
    /// When the oldest came of what wasn't handed out, or an older one.
    var since: UInt64 { arrivals.oldest }
    /// When the oldest came of what was handed out, or an older one.
    var handedSince: UInt64? { handings.first?.since }
    var unread: Int { held - handed.count }
    /// How many these are.
    var lost: Int { losses.reduce(0) { $0 + $1.count } }

    /// A record has come to that place; `isFound` when somebody else has brought it.
    mutating func take(_ level: LogLevel, at position: RecordPosition, size: Int, now: UInt64, isFound: Bool) {
        guard level >= minimumLevel else { return }
        if unread == 0 {
            arrivals.passAll()
            unreadBytes = 0
        }
        arrivals.take(position, at: now)
        held += 1
        unreadBytes += size
        if isFound { found += 1 }
    }

    /// Begins anew behind what is acknowledged.
    mutating func forget() {
        read = acknowledged
        handed = []
        handings = []
        held = 0
        found = 0
        losses = ShortList()
        unreadBytes = 0
        arrivals.passAll()
        mark = nil
    }

    /// Records are there that an earlier run has left, or another shipper of this one.
    ///
    /// - Parameter since: when the oldest of them came; 0 where this run's clock doesn't know.
    mutating func find(_ count: Int, since: UInt64) {
        if count > 0 { arrivals.take(0, at: since) }
        held += count
        found += count
    }

    /// Records that were left by an earlier run turn out not to be for it.
    mutating func exclude(_ count: Int) {
        held -= count
        found -= count
    }

    /// A record is lost. One that it doesn't get, or that was handed out, isn't lost for it.
    mutating func lose(_ position: RecordPosition, _ level: LogLevel, _ reason: DropReason) {
        if level >= minimumLevel, position > read { lose(1, from: position, reason) }
    }

    mutating func lose(_ count: Int, from position: RecordPosition, _ reason: DropReason) {
        held -= count
        guard let index = losses.firstIndex(where: { $0.reason == reason }) else {
            return losses.append(RecordLoss(count: count, first: position, reason: reason))
        }
        losses[index].count += count
        losses[index].first = min(position, losses[index].first)
    }

    /// Lets go of the last records, some of which may be handed out.
    mutating func abandon(_ count: Int) {
        let fromHanded = max(0, count - unread)
        handed.removeLast(min(handed.count, fromHanded))
        if handed.isEmpty { handings = [] }
        held -= count
    }

    /// Tells how it is after a record has come, and what is lost.
    mutating func tell(_ outcome: inout AppendOutcome) {
        outcome.mustWake = wake.take(unread, unreadBytes)
        if !losses.isEmpty { outcome.losses = takeLosses() }
    }

    /// Tells what the shipper waits for and hasn't brought itself.
    mutating func takeNews(_ tell: (StoreNews) -> Void) {
        if wake.take(unread, unreadBytes) { tell(.records) }
        guard isLossAwaited, !losses.isEmpty else { return }
        isLossAwaited = false
        tell(.losses)
    }

    mutating func takeLosses() -> ShortList<RecordLoss> {
        defer { losses = ShortList() }
        if losses.count > 1 { losses.sort { $0.reason.rawValue < $1.reason.rawValue } }
        return losses
    }

    /// Records are handed out; those that were before don't count again.
    mutating func hand(_ records: ArraySlice<StoredRecord>, through position: RecordPosition) {
        for record in records where record.position > read {
            handed.append(record.position)
            unreadBytes -= record.record.footprint
        }
        if let last = records.last, last.position > read { handings.append((last.position, since)) }
        unreadBytes = max(0, unreadBytes)
        read = max(read, position)
        arrivals.pass(read)
    }

    mutating func acknowledge(through position: RecordPosition) {
        let count = handed.firstIndex { $0 > position } ?? handed.count
        handed.removeFirst(count)
        handings.removeAll { $0.last <= position }
        held -= count
        acknowledged = max(acknowledged, handed.isEmpty && position >= acknowledged ? max(position, read) : position)
    }
}

/// How far a destination has acknowledged, in a file of its own: two slots of 32 bytes, written in turn and in place, so that one is
/// whole whatever happens to the other, and the file never grows.
///
///     "RLog" · version (4) · count of writes (8) · position (8) · 0 (4) · CRC-32C of the 28 bytes before (4)
///
/// A cursor that is lost costs duplicates, no records.
struct DestinationCursor: Sendable, Equatable {
    static let version: UInt32 = 1
    /// The bytes of the file.
    static let size = 64
    private static let slotSize = 32
    private static let magic: [UInt8] = Array("RLog".utf8)
    private static let suffix = ".cursor"

    /// How often it was written.
    var writes: UInt64 = 0
    /// Everything up to here is acknowledged.
    var position: RecordPosition = 0

    /// Why a file gives no cursor.
    enum Finding: Equatable {
        case cursor(DestinationCursor)
        case damaged
        /// A later version has written it.
        case newer
    }

    static func read(_ bytes: ByteBuffer) -> Finding {
        var latest: DestinationCursor?
        var isNewer = false
        bytes.withUnsafeBytes { bytes in
            for start in [0, slotSize] where bytes.count >= start + slotSize {
                let slot = UnsafeRawBufferPointer(rebasing: bytes[start..<start + slotSize])
                var checksum = CRC32C()
                checksum.update(UnsafeRawBufferPointer(rebasing: slot[..<28]))
                guard slot.prefix(4).elementsEqual(magic),
                    UInt32(littleEndian: slot.loadUnaligned(fromByteOffset: 28, as: UInt32.self)) == checksum.value
                else { continue }
                guard UInt32(littleEndian: slot.loadUnaligned(fromByteOffset: 4, as: UInt32.self)) == version else {
                    isNewer = true
                    continue
                }
                let cursor = DestinationCursor(
                    writes: UInt64(littleEndian: slot.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                    position: UInt64(littleEndian: slot.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
                // From what somebody else has made up nothing could be counted on.
                guard max(cursor.position, cursor.writes) <= SegmentFrame.lastPosition else { continue }
                if latest.map({ $0.writes < cursor.writes }) ?? true { latest = cursor }
            }
        }
        if isNewer { return .newer }
        return latest.map(Finding.cursor) ?? .damaged
    }

    /// Where the slot of this write is.
    var offset: Int { writes % 2 == 0 ? 0 : Self.slotSize }

    /// The slot of this write.
    var slot: [UInt8] {
        var slot = RecordEncoder()
        slot.raw(Self.magic)
        slot.fixed(Self.version)
        slot.fixed(writes)
        slot.fixed(position)
        slot.fixed(UInt32(0))
        slot.fixed(CRC32C.checksum(of: slot.bytes))
        return slot.bytes
    }

    // MARK: Names

    /// The file of a destination: its name, with everything but letters, digits, `-` and `_` as `%` and the byte's two digits.
    static func file(of destination: String) -> String {
        var name = JSONText()
        for byte in destination.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                name.byte(Unicode.Scalar(byte))
            default:
                name.byte("%")
                name.hexadecimal(byte: byte)
            }
        }
        return name.string + suffix
    }

    /// The destination of a file; `nil` when the file isn't a cursor.
    static func destination(ofFile file: String) -> String? {
        guard file.hasSuffix(suffix), let name = String(file.dropLast(suffix.count)).removingPercentEncoding, Self.file(of: name) == file
        else { return nil }
        return name
    }
}

/// The records of a segment that a destination's filter keeps out. The filter is asked once for each record: what it says later, reading a file, say,
/// would spoil the counts.
struct Exclusions: Sendable {
    /// A bit for each place, 64 places a word. Places in a segment are close to each other, but for gaps, which cost nothing.
    private var words: [RecordPosition: UInt64] = [:]
    private(set) var count = 0

    func contains(_ position: RecordPosition) -> Bool {
        words[position >> 6, default: 0] & (1 << (position & 63)) != 0
    }

    mutating func insert(_ position: RecordPosition) {
        guard !contains(position) else { return }
        words[position >> 6, default: 0] |= 1 << (position & 63)
        count += 1
    }

    mutating func formUnion(_ other: Exclusions) {
        words.merge(other.words) { $0 | $1 }
        count = words.values.reduce(0) { $0 + $1.nonzeroBitCount }
    }

    /// Forgets all but these.
    mutating func keep(only positions: some Sequence<RecordPosition>) {
        var kept = Exclusions()
        for position in positions where contains(position) { kept.insert(position) }
        self = kept
    }

    /// How many are behind a place.
    func count(after position: RecordPosition) -> Int {
        words.reduce(0) { sum, word in
            guard word.key >= position >> 6 else { return sum }
            guard word.key == position >> 6 else { return sum + word.value.nonzeroBitCount }
            let upTo = position & 63
            return sum + (upTo == 63 ? 0 : (word.value >> (upTo + 1)).nonzeroBitCount)
        }
    }
}

// Changes of values in their place, by their index: the subscript by key allocates memory each time.
extension Dictionary {
    /// Changes the value of a key.
    ///
    /// - Returns: what the change gives; `nil` where the key isn't there.
    mutating func change<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        guard let index = index(forKey: key) else { return nil }
        return change(&values[index])
    }

    /// Changes every value. To look each key up again while going through the keys would copy the dictionary.
    mutating func changeEach(_ change: (Key, inout Value) -> Void) {
        var index = startIndex
        while index != endIndex {
            // Not `self[index].key`, which copies the value, too.
            change(keys[index], &values[index])
            formIndex(after: &index)
        }
    }
}

import Foundation
import HTTPTransport

/// The progress of a destination.
struct DestinationState: Sendable {
    /// The records that the destination receives.
    var selection = RecordSelection()
    /// The segments that the destination's filter hasn't judged yet.
    var unjudged: Set<SegmentName> = []
    /// Whether a shipper uses the destination.
    var isOpen = false
    /// All records up to this position are acknowledged by this destination or excluded from it.
    var acknowledged: RecordPosition = 0
    /// All records up to this position have been read.
    var read: RecordPosition = 0
    /// The positions that have been read but not acknowledged.
    private(set) var handed: [RecordPosition] = []
    /// For each read: its last position, and a lower bound of the arrival time of its oldest record.
    private var handings: [(last: RecordPosition, since: UInt64)] = []
    /// The number of records held, including those that have been read.
    private(set) var held = 0
    /// The approximate memory footprint of the unread records, in bytes.
    private(set) var unreadBytes = 0
    /// The arrival times of the unread records.
    private var arrivals = ArrivalMarks()
    /// The number of the held records that other destinations have appended.
    var found = 0
    /// The unreported losses, by reason.
    private(set) var losses = ShortList<RecordLoss>()
    /// The last written cursor.
    var cursor = DestinationCursor()
    /// Whether the cursor file exists.
    var hasFile = false
    /// The point at which reading continues.
    var mark: ReadingMark?
    /// The condition that wakes the destination's shipper.
    var wake = WakeCondition.never
    /// Whether the shipper waits for a loss.
    var isLossAwaited = false

    var minimumLevel: LogLevel { selection.minimumLevel }
    /// A lower bound of the arrival time of the oldest unread record.
    var since: UInt64 { arrivals.oldest }
    /// A lower bound of the arrival time of the oldest record that has been read but not acknowledged.
    var handedSince: UInt64? { handings.first?.since }
    var unread: Int { held - handed.count }
    /// The number of unreported losses.
    var lost: Int { losses.reduce(0) { $0 + $1.count } }

    /// Adds a record at a position. `isFound` is `true` if another destination has appended it.
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

    /// Resets the state to the acknowledged position.
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

    /// Adds records of an earlier run or another shipper.
    ///
    /// - Parameter since: The arrival time of the oldest record; 0 if this run's clock doesn't know it.
    mutating func find(_ count: Int, since: UInt64) {
        if count > 0 { arrivals.take(0, at: since) }
        held += count
        found += count
    }

    /// Removes records of an earlier run that aren't for this destination.
    mutating func exclude(_ count: Int) {
        held -= count
        found -= count
    }

    /// Counts a lost record if this destination receives it and hasn't read it.
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

    /// Discards the last records. Some may have been read.
    mutating func abandon(_ count: Int) {
        let fromHanded = max(0, count - unread)
        handed.removeLast(min(handed.count, fromHanded))
        if handed.isEmpty { handings = [] }
        held -= count
    }

    /// Adds the wake-up and the losses to the outcome of an append.
    mutating func addEvents(to outcome: inout AppendOutcome) {
        outcome.mustWake = wake.take(unread, unreadBytes)
        if !losses.isEmpty { outcome.losses = takeLosses() }
    }

    /// Reports the events that the shipper waits for and that it didn't cause.
    mutating func takeNews(_ notify: (StoreNews) -> Void) {
        if wake.take(unread, unreadBytes) { notify(.records) }
        guard isLossAwaited, !losses.isEmpty else { return }
        isLossAwaited = false
        notify(.losses)
    }

    mutating func takeLosses() -> ShortList<RecordLoss> {
        defer { losses = ShortList() }
        if losses.count > 1 { losses.sort { $0.reason.rawValue < $1.reason.rawValue } }
        return losses
    }

    /// Marks records as read. Records that were read before don't count again.
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

/// The acknowledged position of a destination, stored in a file: two slots of 32 bytes, written alternately and in place, so that one slot
/// is always intact and the file never grows.
///
///     "RLog" · version (4) · count of writes (8) · position (8) · 0 (4) · CRC-32C of the 28 bytes before (4)
///
/// Losing a cursor causes duplicates but loses no records.
struct DestinationCursor: Sendable, Equatable {
    static let version: UInt32 = 1
    /// The size of the file in bytes.
    static let size = 64
    private static let slotSize = 32
    private static let magic: [UInt8] = Array("RLog".utf8)
    private static let suffix = ".cursor"

    /// The number of writes.
    var writes: UInt64 = 0
    /// All records up to this position are acknowledged.
    var position: RecordPosition = 0

    /// The result of reading a cursor file.
    enum Finding: Equatable {
        case cursor(DestinationCursor)
        case damaged
        /// A later version has written the file.
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
                // A forged value could make the arithmetic overflow.
                guard max(cursor.position, cursor.writes) <= SegmentFrame.lastPosition else { continue }
                if latest.map({ $0.writes < cursor.writes }) ?? true { latest = cursor }
            }
        }
        if isNewer { return .newer }
        return latest.map(Finding.cursor) ?? .damaged
    }

    /// The offset of the slot for this write.
    var offset: Int { writes % 2 == 0 ? 0 : Self.slotSize }

    /// The content of the slot for this write.
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

    /// Returns the cursor file of a destination: its name, with each byte except letters, digits, `-` and `_` percent-encoded.
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

    /// Returns the destination of a cursor file; `nil` if the file isn't a cursor.
    static func destination(ofFile file: String) -> String? {
        guard file.hasSuffix(suffix), let name = String(file.dropLast(suffix.count)).removingPercentEncoding, Self.file(of: name) == file
        else { return nil }
        return name
    }
}

/// The records of a segment that a destination's filter excludes. The filter is called once per record, because a later, different answer
/// would corrupt the counts.
struct Exclusions: Sendable {
    /// A bit for each position, 64 positions per word. Positions in a segment are dense; gaps cost nothing.
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

    /// Removes all positions except the given ones.
    mutating func keep(only positions: some Sequence<RecordPosition>) {
        var kept = Exclusions()
        for position in positions where contains(position) { kept.insert(position) }
        self = kept
    }

    /// Returns the number of positions after the given one.
    func count(after position: RecordPosition) -> Int {
        words.reduce(0) { sum, word in
            guard word.key >= position >> 6 else { return sum }
            guard word.key == position >> 6 else { return sum + word.value.nonzeroBitCount }
            let upTo = position & 63
            return sum + (upTo == 63 ? 0 : (word.value >> (upTo + 1)).nonzeroBitCount)
        }
    }
}

// These methods change values in place by index, because the subscript by key allocates memory each time.
extension Dictionary {
    /// Changes the value of a key.
    ///
    /// - Returns: The result of the closure; `nil` if the key doesn't exist.
    mutating func change<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        guard let index = index(forKey: key) else { return nil }
        return change(&values[index])
    }

    /// Changes every value. Looking up each key while iterating over the keys would copy the dictionary.
    mutating func changeEach(_ change: (Key, inout Value) -> Void) {
        var index = startIndex
        while index != endIndex {
            // `self[index].key` would also copy the value.
            change(keys[index], &values[index])
            formIndex(after: &index)
        }
    }
}

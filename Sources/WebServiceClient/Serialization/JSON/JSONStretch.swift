/// A stretch of a text as it lies in memory, which the scanner reads without looking at each byte whether it is the last one.
///
/// The storage's own memory is padded with zeros, which end everything. A large text is read where its owner has it, as copying it would
/// take as long as scanning a third of it; there is no padding there. But no string can get past a quotation mark unnoticed, nor anything
/// else at all: so the stretch has a ``limit``, at which the rest is copied, and the scanner reads on in the copy.
struct JSONStretch {
    let base: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    /// Names and strings that end here or later are read from the copy. The scanner gets no further before: here is a quotation mark, and
    /// another one, behind which there are enough bytes. Beyond the end where the stretch has padding.
    let limit: UnsafePointer<UInt8>
    /// How many bytes of the text lie before the stretch.
    let origin: Int

    init(_ storage: UnsafeMutablePointer<JSONStorage>) {
        if let lent = storage.pointee.lent, storage.pointee.count == 0 {
            base = lent
            end = base + storage.pointee.origin
            limit = base + storage.pointee.lentLimit
            origin = 0
        } else {
            base = UnsafePointer(storage.pointee.bytes)
            end = base + storage.pointee.count
            limit = end + 1
            origin = storage.pointee.origin
        }
    }

    @inline(__always) func offset(of p: UnsafePointer<UInt8>) -> Int { p - base &+ origin }

    @inline(__always) func fault(_ reason: JSONFault.Reason, _ place: UnsafePointer<UInt8>) -> JSONFault {
        JSONFault(reason: place >= end ? .truncated : reason, offset: offset(of: min(place, end)))
    }

    /// The first byte of a name that is on the tape, where it lies in this stretch and had no escapes.
    @inline(__always) func name(_ word: JSONWord) -> UnsafePointer<UInt8>? {
        word.kind != .unescapedName && word.offset >= origin ? base + (word.offset &- origin) : nil
    }

    /// The limit within a text that has no padding: its last quotation mark but one that has some bytes behind it. `nil` where there is none,
    /// or not in some last bytes, or the text is so short that nothing is gained.
    static func limit(of text: UnsafeBufferPointer<UInt8>) -> Int? {
        guard text.count >= shortest else { return nil }
        var isSecond = false
        var index = text.count - JSONBytes.padding
        let last = max(index - farthest, 0)
        while index > last {
            index -= 1
            guard text[index] == UInt8(ascii: "\"") else { continue }
            if isSecond { return index }
            isSecond = true
        }
        return nil
    }

    private static let shortest = 256
    private static let farthest = 4096
}

/// The number of a record, of 128 bits, unique among all records of all programs.
///
/// The first half is random per session, the second runs through all numbers of 64 bits in an order that is scattered by a random
/// start: no two records of a session can share one, and two sessions would have to draw the same 64 bits.
public struct LogRecordID: Sendable, Hashable, CustomStringConvertible {
    /// The first 64 bits.
    public let high: UInt64
    /// The last 64 bits.
    public let low: UInt64

    /// A number of two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// 32 hexadecimal digits.
    public var description: String {
        var text = JSONText()
        text.hexadecimal(high)
        text.hexadecimal(low)
        return text.string
    }
}

/// Gives the numbers of a session's records.
struct LogRecordIDSource: Sendable {
    private let session: UInt64
    private let start: UInt64

    init(using generator: inout some RandomNumberGenerator) {
        session = generator.next()
        start = generator.next()
    }

    /// The number of the record at that place in the order. Each step of the mixing can be undone, hence no two places share a number.
    func id(of sequence: UInt64) -> LogRecordID {
        var mixed = start &+ sequence &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return LogRecordID(high: session, low: mixed ^ (mixed >> 31))
    }
}

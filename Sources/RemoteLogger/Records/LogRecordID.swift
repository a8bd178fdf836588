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
        text.hexadecimal(high, low)
        return text.string
    }
}

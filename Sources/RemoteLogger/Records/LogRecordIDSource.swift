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

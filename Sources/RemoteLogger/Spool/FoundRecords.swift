/// The records that are found in a segment, in order. There may be thousands, whose memory is to go back to the system: see
/// ``SystemPages``.
struct FoundRecords: Sendable, RandomAccessCollection {
    private static let stride = MemoryLayout<Segment.Found>.stride

    private var memory = ByteBuffer()

    let startIndex = 0
    var endIndex: Int { memory.count / Self.stride }

    subscript(index: Int) -> Segment.Found {
        precondition(indices.contains(index))
        return memory.withUnsafeBytes { $0.load(fromByteOffset: index * Self.stride, as: Segment.Found.self) }
    }

    mutating func append(_ found: Segment.Found) {
        UnsafeMutableRawPointer(memory.room(Self.stride)).storeBytes(of: found, as: Segment.Found.self)
        memory.advance(by: Self.stride)
    }
}

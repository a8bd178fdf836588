/// Goes from record to record through a segment's bytes. Where something is damaged it goes on behind, at the next record that is whole.
struct SegmentScanner {
    private let bytes: UnsafeRawBufferPointer
    private let salt: UInt64
    /// Whether the segment ends with these bytes.
    private let isEnd: Bool
    /// How far everything is read: the beginning of what comes next.
    private(set) var offset: Int
    /// How many stretches of damage were passed.
    private(set) var damages = 0
    /// The bytes from ``offset`` on which there must be to read on.
    private(set) var needed = 0
    private var isInDamage = false

    init(_ bytes: UnsafeRawBufferPointer, from offset: Int = 0, salt: UInt64, isEnd: Bool = true) {
        self.bytes = bytes
        self.salt = salt
        self.isEnd = isEnd
        self.offset = offset
    }

    /// The next record that is whole; `nil` where the bytes end or one isn't there to its end yet.
    mutating func next() -> SegmentFrame? {
        while offset < bytes.count {
            switch SegmentFrame.find(at: offset, in: bytes, salt: salt) {
            case .frame(let frame):
                offset = frame.payload.upperBound
                isInDamage = false
                return frame
            case .incomplete(let size) where !isEnd:
                needed = size
                return nil
            case .incomplete, .nothing:
                if !isInDamage { damages += 1 }
                isInDamage = true
                skip()
            }
        }
        return nil
    }

    /// Goes on to the next place where a record may begin.
    private mutating func skip() {
        offset += 1
        while offset < bytes.count, !SegmentFrame.hasMarker(at: offset, in: bytes) { offset += 1 }
    }
}

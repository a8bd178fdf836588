/// Names that had escapes, without them: one behind the other, with padding behind the last one.
struct JSONNameStore {
    private(set) var bytes: UnsafeMutablePointer<UInt8>
    private var count = 0
    private var capacity = 0

    init() { bytes = Self.zeros(JSONBytes.padding) }

    private static func zeros(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
        bytes.initialize(repeating: 0, count: count)
        return bytes
    }

    /// Stores a name unescaped.
    ///
    /// - Returns: where it lies, and its length.
    mutating func store(_ escaped: UnsafePointer<UInt8>, _ length: Int) -> (offset: Int, length: Int) {
        if count + length > capacity {
            let larger = max(capacity * 2, count + length, 256)
            let fresh = Self.zeros(larger + JSONBytes.padding)
            fresh.update(from: bytes, count: count)
            bytes.deallocate()
            bytes = fresh
            capacity = larger
        }
        let offset = count
        let length = JSONEscapes.unescape(escaped, length, into: bytes + offset)
        count += length
        return (offset, length)
    }

    /// Forgets all names, and gives back the memory if it is more than so much.
    mutating func removeAll(keeping size: Int) {
        count = 0
        guard capacity > size else { return }
        bytes.deallocate()
        capacity = 0
        bytes = Self.zeros(JSONBytes.padding)
    }
}

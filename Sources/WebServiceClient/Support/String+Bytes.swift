extension String {
    /// The text in UTF-8, without a copy where its memory has it so already, which it has but for texts of Objective-C.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return copy.withUTF8(body)
    }

    /// Whether all bytes of its UTF-8 are of a kind.
    ///
    /// The bytes as they lie in memory: `utf8.allSatisfy` asks the string for each of them, and takes ten times as long. All of them, also behind
    /// one of another kind: without a way out in the middle the compiler looks at many at once.
    @inline(__always)
    func hasOnlyBytes(_ isOfKind: (UInt8) -> Bool) -> Bool {
        let result = utf8.withContiguousStorageIfAvailable { bytes in
            var others: UInt8 = 0
            for byte in bytes { others |= isOfKind(byte) ? 0 : 1 }
            return others == 0
        }
        return result ?? utf8.allSatisfy(isOfKind)
    }

    /// Whether a byte of its UTF-8 is below a limit of at most 128: eight at a time.
    func hasBytes(below limit: UInt8) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let result = utf8.withContiguousStorageIfAvailable { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            var place = 0
            var found: UInt64 = 0
            while place + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                // A byte below the limit borrows from its highest bit, which it doesn't have itself; one above such a byte may be taken for
                // another, which changes nothing.
                found |= (word &- ones &* UInt64(limit)) & ~word & (ones << 7)
                place += 8
            }
            while place < bytes.count {
                if bytes[place] < limit { found = 1 }
                place += 1
            }
            return found != 0
        }
        return result ?? utf8.contains { $0 < limit }
    }
}

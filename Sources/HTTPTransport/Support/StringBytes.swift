extension String {
    /// Calls the body with the text's UTF-8 bytes. Only bridged Objective-C strings are copied.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return copy.withUTF8(body)
    }

    /// Whether all UTF-8 bytes satisfy a condition.
    @inline(__always)
    package func hasOnlyBytes(_ isOfKind: (UInt8) -> Bool) -> Bool { hasNoByte { isOfKind($0) ? 0 : 1 } }

    /// Whether `mark` returns 0 for every UTF-8 byte.
    ///
    /// Works on contiguous memory, because `utf8.allSatisfy` takes ten times as long. The loop doesn't exit early, so the compiler can
    /// vectorize it. Combine several conditions with `|` and `&` on numbers: `&&` and `||` branch.
    @inline(__always)
    package func hasNoByte(_ mark: (UInt8) -> UInt8) -> Bool {
        let result = utf8.withContiguousStorageIfAvailable { bytes in
            var marks: UInt8 = 0
            for byte in bytes { marks |= mark(byte) }
            return marks == 0
        }
        return result ?? utf8.allSatisfy { mark($0) == 0 }
    }
}

extension StringProtocol {
    /// Returns the parts between the occurrences of a separator.
    package func split(mark: String) -> [SubSequence] {
        var parts: [SubSequence] = []
        var rest = self[...]
        while let found = rest.range(ofMark: mark) {
            parts.append(rest[..<found.lowerBound])
            rest = rest[found.upperBound...]
        }
        return parts + [rest]
    }

    /// Returns the first occurrence of a separator, without using Foundation. It compares bytes, because the separator may form one
    /// character with the text after it.
    package func range(ofMark mark: String) -> Range<Index>? {
        let (bytes, wanted) = (utf8, mark.utf8)
        var position = startIndex
        while position < endIndex {
            if bytes[position...].starts(with: wanted), let end = bytes.index(position, offsetBy: wanted.count, limitedBy: endIndex) {
                return position..<end
            }
            position = bytes.index(after: position)
        }
        return nil
    }
}

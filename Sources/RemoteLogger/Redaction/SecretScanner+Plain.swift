extension SecretScanner {
    /// Where the first thing stands that has to be looked at; `nil` where there are plain words only, which is what most texts are.
    static func firstSuspect(in bytes: Bytes) -> Int? {
        kinds.withUnsafeBufferPointer { kinds in
            var index = 0
            while index < bytes.count {
                let kind = kinds[Int(bytes[index])]
                guard kind < 2 else { return index }
                let start = index
                index += 1
                guard kind == 1 else { continue }
                var hasDigits = bytes[start].isDigit
                while index < bytes.count, kinds[Int(bytes[index])] == 1 {
                    hasDigits = hasDigits || bytes[index].isDigit
                    index += 1
                }
                if hasDigits || !isPlain(start..<index, in: bytes) { return start }
            }
            return nil
        }
    }

    /// Whether a word without digits is none of those that ``word(_:hasDigits:)`` looks at.
    private static func isPlain(_ word: Range<Int>, in bytes: Bytes) -> Bool {
        let first = bytes[word.lowerBound]
        return word.count < SecretSearch.shortestRun && first != UInt8(ascii: "-") && first != UInt8(ascii: "/")
            && !(word.upperBound < bytes.count && bytes[word.upperBound].isBlank && bytes.isScheme(word))
    }
}

// What header lines say, as far as the transport itself has to know.
extension CurlHeadReader {
    /// Whether a word, in lower case, is a member of a list, such as `close` among the options of a `Connection` field (RFC 9112 §9.6).
    static func lists(_ word: StaticString, _ value: Slice<UnsafeRawBufferPointer>) -> Bool {
        // By hand: most responses have the field, and arrays of options and words take as long as all that is looked for here.
        var rest = value
        while true {
            let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
            var option = rest[..<end]
            while let byte = option.first, isBlank(byte) { option.removeFirst() }
            while let byte = option.last, isBlank(byte) { option.removeLast() }
            let letters = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
            if option.elementsEqual(letters, by: { $0 | 0x20 == $1 }) { return true }
            guard end < rest.endIndex else { return false }
            rest = rest[(end + 1)...]
        }
    }

    /// Whether a line begins with that name, which is in lower case and ends with its colon.
    static func begins(_ line: UnsafeRawBufferPointer, with name: StaticString) -> Bool {
        let count = name.utf8CodeUnitCount
        guard line.count >= count, line[count - 1] == name.utf8Start[count - 1] else { return false }
        for index in 0..<count {
            let letter = name.utf8Start[index]
            guard line[index] == letter || (letter >= UInt8(ascii: "a") && line[index] | 0x20 == letter) else { return false }
        }
        return true
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 || byte == 10 }

    /// The number that stands there between blanks; `nil` when it is none, or of more than 18 digits.
    static func number(_ part: Slice<UnsafeRawBufferPointer>) -> Int64? {
        var (number, digits, hasEnded) = (Int64(0), 0, false)
        for byte in part {
            if isBlank(byte) {
                hasEnded = digits > 0
            } else {
                guard (48...57).contains(byte), !hasEnded, digits < 18 else { return nil }
                number = number * 10 + Int64(byte - 48)
                digits += 1
            }
        }
        return digits > 0 ? number : nil
    }

    /// What stands there instead of a number, for the error.
    static func text(_ part: Slice<UnsafeRawBufferPointer>) -> String {
        let words = part.split(whereSeparator: isBlank).map { String(decoding: $0.prefix(40), as: UTF8.self) }
        return String(words.joined(separator: " ").prefix(40))
    }
}

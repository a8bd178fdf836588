/// Finds where a value ends, in pieces of a text, without checking it: each byte is looked at once.
struct JSONValueEnd {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var hasBegun = false

    /// Looks at more bytes, from the value's first one on.
    ///
    /// - Returns: how many of them belong to the value, once its end has been found. A number or a word ends before what follows it.
    mutating func feed(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                    if depth == 0 { return index }
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""):
                if depth == 0, hasBegun { return index - 1 }
                isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if depth == 0, hasBegun { return index - 1 }
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // The container around a number or a word ends.
                if depth == 0 { return index - 1 }
                depth -= 1
                if depth == 0 { return index }
            case UInt8(ascii: ","), 0x20, 0x0A, 0x0D, 0x09:
                if depth == 0 { return index - 1 }
            default:
                break
            }
            hasBegun = true
        }
        return nil
    }
}

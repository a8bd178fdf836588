extension UnsafeBufferPointer<UInt8> {
    /// Whether a range is a text of small letters, in any case.
    func isText(_ range: Range<Int>, _ text: StaticString) -> Bool {
        text.utf8CodeUnitCount == range.count
            && text.withUTF8Buffer { text in text.indices.allSatisfy { self[range.lowerBound + $0].lowercased == text[$0] } }
    }

    /// Whether a range is the name of an authentication scheme.
    func isScheme(_ range: Range<Int>) -> Bool {
        guard (4...9).contains(range.count) else { return false }
        return switch self[range.lowerBound].lowercased {
        case UInt8(ascii: "b"): isText(range, "bearer") || isText(range, "basic")
        case UInt8(ascii: "d"): isText(range, "digest") || isText(range, "dpop")
        case UInt8(ascii: "t"): isText(range, "token")
        case UInt8(ascii: "s"): isText(range, "splunk")
        case UInt8(ascii: "a"): isText(range, "apikey")
        case UInt8(ascii: "n"): isText(range, "negotiate") || isText(range, "ntlm")
        default: false
        }
    }

    /// Whether what stands beside such a name is a name itself.
    func isNaming(_ range: Range<Int>) -> Bool {
        isText(range, "key") || isText(range, "name") || isText(range, "field") || isText(range, "header") || isText(range, "parameter")
    }

    /// Whether what stands beside such a name is the value of one that stands beside ``isNaming(_:)``.
    func isValuing(_ range: Range<Int>) -> Bool {
        isText(range, "val") || isText(range, "value") || isText(range, "values") || isText(range, "content")
    }
}

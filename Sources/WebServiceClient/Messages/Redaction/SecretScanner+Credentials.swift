extension SecretScanner {
    func isText(_ range: Range<Int>, _ text: StaticString) -> Bool { bytes.isText(range, text) }

    /// The credentials behind a scheme.
    ///
    /// - Returns: their end; `nil` if there are none.
    mutating func scheme(_ word: Range<Int>) -> Int? {
        guard forms.contains(.bearerTokens) else { return nil }
        var start = word.upperBound
        while start < bytes.count, start < word.upperBound + 8, bytes[start].isBlank { start += 1 }
        var end = start
        var (hasDigit, hasSign, upper, lower) = (false, false, 0, 0)
        while end < bytes.count, bytes[end].isAlphanumeric || "-._~+/=".utf8.contains(bytes[end]) {
            hasDigit = hasDigit || bytes[end].isDigit
            hasSign = hasSign || !bytes[end].isAlphanumeric && end > start
            upper += bytes[end].isUppercase ? 1 : 0
            lower += bytes[end].isLowercase ? 1 : 0
            end += 1
        }
        // "The bearer certificate" has none; a word at a sentence's end has a dot.
        while end > start, bytes[end - 1] == UInt8(ascii: ".") { end -= 1 }
        let count = end - start
        let isMixed = hasDigit || hasSign && upper + lower < count - 1 || upper > 1 && lower > 0
        let isCredential =
            switch bytes[word.lowerBound].lowercased {
            case UInt8(ascii: "b") where word.count == 5: count >= 4 && isPair(start..<end)
            case UInt8(ascii: "b"), UInt8(ascii: "d"): count >= 20 || count >= 6 && isMixed
            default: count >= 16 && isMixed
            }
        guard isCredential else { return nil }
        found.append(start..<end)
        return end
    }

    /// Whether a text is the Base64 of user and password (RFC 7617 §2).
    private func isPair(_ range: Range<Int>) -> Bool {
        let decoded = Base64Run.decoded(range, of: bytes)
        return decoded.contains(UInt8(ascii: ":")) && decoded.allSatisfy { $0 >= 0x20 }
    }

    /// The user info of a URL, of which the `//` has been found.
    ///
    /// - Returns: where to go on.
    mutating func userInfo(at slashes: Int) -> Int {
        guard forms.contains(.urlUserInfo), slashes + 1 < bytes.count, bytes[slashes + 1] == UInt8(ascii: "/") else { return slashes }
        let start = slashes + 2
        var end = start
        var (at, colon): (Int?, Int?) = (nil, nil)
        var isAuthority = true
        let limit = min(bytes.count, start + 1_024)
        while end < limit {
            let byte = bytes[end]
            if byte.isBlank || byte.isLineEnd || byte.isQuote || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") { break }
            if isAuthority, byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") {
                isAuthority = false
                // A password may have such a character by mistake: then what stands behind the colon is no port.
                guard at == nil, let colon, !bytes[(colon + 1)..<end].allSatisfy(\.isDigit) else { break }
            }
            if byte == UInt8(ascii: "@") { at = end }
            if byte == UInt8(ascii: ":"), colon == nil { colon = end }
            end += 1
        }
        guard let at, at > start else { return slashes }
        found.append(start..<at)
        return at
    }

    /// A PEM block: what is between its first line and its last, or the end of the text.
    ///
    /// - Returns: where to go on; `nil` if there is none.
    mutating func pemBlock(at start: Int) -> Int? {
        guard forms.contains(.pemBlocks), starts(at: start, with: "-----begin") else { return nil }
        var index = start + 10
        let limit = min(bytes.count, index + 64)
        while index < limit, !starts(at: index, with: "-----") { index += 1 }
        guard index < limit else { return nil }
        let content = index + 5
        var end = content
        while end < bytes.count, !(bytes[end] == UInt8(ascii: "-") && starts(at: end, with: "-----end")) { end += 1 }
        guard end > content else { return nil }
        found.append(content..<end)
        return end
    }

    func starts(at index: Int, with text: StaticString) -> Bool {
        bytes.count - index >= text.utf8CodeUnitCount && isText(index..<index + text.utf8CodeUnitCount, text)
    }
}

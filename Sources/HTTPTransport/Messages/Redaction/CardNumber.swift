/// Detects payment card numbers (ISO/IEC 7812-1): 13 to 19 digits that begin with an issuer's prefix and end with a check digit.
package enum CardNumber {
    package typealias Bytes = UnsafeBufferPointer<UInt8>

    /// The minimum number of digits of a card number.
    package static let fewest = 13
    /// One more than the maximum number of digits of a card number, to detect longer numbers.
    private static let most = 20

    /// Returns whether the whole text is a card number without separators.
    package static func isWhole(_ text: String) -> Bool {
        let digits = text.utf8.map { $0 &- UInt8(ascii: "0") }
        return digits.allSatisfy { $0 < 10 } && digits.withUnsafeBufferPointer(isCard)
    }

    /// Returns whether a card number can begin with this group of digits: the group has 13 to 19 digits, or is shorter and another group
    /// follows.
    static func mayBegin(_ group: Range<Int>, in bytes: Bytes) -> Bool {
        group.count < fewest ? continues(at: group.upperBound, in: bytes) : group.count < most
    }

    /// Returns whether a single space or dash and another group of digits follow.
    package static func continues(at end: Int, in bytes: Bytes) -> Bool {
        end + 1 < bytes.count && (bytes[end] == UInt8(ascii: " ") || bytes[end] == UInt8(ascii: "-")) && bytes[end + 1].isDigit
    }

    /// Returns the end of the card number that begins at a position; `nil` if there is none. The number may have groups separated by single
    /// spaces or dashes.
    package static func end(from start: Int, in bytes: Bytes) -> Int? {
        guard hasDigits(from: start, in: bytes) else { return nil }
        // Most long numbers are IDs, not card numbers: they are checked often, so the check must not allocate.
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: most) { digits in
            withUnsafeTemporaryAllocation(of: Int.self, capacity: most) { ends in
                end(from: start, in: bytes, digits, ends)
            }
        }
    }

    private static func end(
        from start: Int, in bytes: Bytes, _ digits: UnsafeMutableBufferPointer<UInt8>, _ ends: UnsafeMutableBufferPointer<Int>
    ) -> Int? {
        var (index, count) = (start, 0)
        while index < bytes.count, count < most {
            let digit = bytes[index] &- UInt8(ascii: "0")
            if digit < 10 {
                digits[count] = digit
                ends[count] = index + 1
                count += 1
                index += 1
            } else if bytes[index] == UInt8(ascii: " ") || bytes[index] == UInt8(ascii: "-"), index > start,
                index + 1 < bytes.count, bytes[index + 1] &- UInt8(ascii: "0") < 10, bytes[index - 1] &- UInt8(ascii: "0") < 10
            {
                index += 1
            } else {
                break
            }
        }
        guard count >= fewest else { return nil }
        // Finds the longest valid number that ends at the end of a group of digits.
        for count in stride(from: min(19, count), through: fewest, by: -1) {
            let end = ends[count - 1]
            let endsGroup = end >= bytes.count || bytes[end] &- UInt8(ascii: "0") > 9
            if endsGroup, isCard(Bytes(rebasing: digits[..<count])) { return end }
        }
        return nil
    }

    /// Returns whether at least ``fewest`` digits follow, without separators or with single spaces or dashes between them. Most numbers
    /// fail this cheap check.
    private static func hasDigits(from start: Int, in bytes: Bytes) -> Bool {
        var (index, count, wasDigit) = (start, 0, false)
        while index < bytes.count, count < fewest {
            let isDigit = bytes[index].isDigit
            guard isDigit || wasDigit && (bytes[index] == UInt8(ascii: " ") || bytes[index] == UInt8(ascii: "-")) else { return false }
            count += isDigit ? 1 : 0
            wasDigit = isDigit
            index += 1
        }
        return count >= fewest
    }

    private static func isCard(_ digits: Bytes) -> Bool {
        guard (fewest...19).contains(digits.count), isIssued(digits) else { return false }
        var sum = 0
        for (place, digit) in digits.reversed().enumerated() {
            let weighted = place % 2 == 0 ? Int(digit) : Int(digit) * 2
            sum += weighted > 9 ? weighted - 9 : weighted
        }
        return sum % 10 == 0
    }

    /// Returns whether an issuer uses the number's prefix with the number's length.
    private static func isIssued(_ digits: Bytes) -> Bool {
        let first = digits.prefix(4).reduce(0) { $0 * 10 + Int($1) }
        return switch (first, digits.count) {
        case (4_000...4_999, 13), (4_000...4_999, 16), (4_000...4_999, 19): true
        case (5_100...5_599, 16), (2_221...2_720, 16): true
        case (3_400...3_499, 15), (3_700...3_799, 15): true
        case (3_000...3_059, 14...19), (3_095, 14...19), (3_600...3_699, 14...19), (3_800...3_999, 14...19): true
        case (3_528...3_589, 16...19): true
        case (6_011, 16...19), (6_440...6_599, 16...19), (6_200...6_299, 16...19): true
        case (5_000...5_099, 13...19), (5_600...5_899, 13...19), (6_300...6_399, 13...19), (6_700...6_799, 13...19): true
        default: false
        }
    }
}

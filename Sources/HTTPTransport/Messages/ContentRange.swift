/// The field `Content-Range` (RFC 9110 §14.4) in the unit `bytes`: the position of a part in the whole representation.
package struct ContentRange: Hashable, Sendable {
    /// The positions of the first and the last byte; `nil` in a response with the status 416, whose range can't be satisfied (`bytes
    /// */42`).
    package let bytes: ClosedRange<Int64>?
    /// The length of the whole representation; `nil` if the server doesn't know it.
    package let total: Int64?

    package init(_ bytes: ClosedRange<Int64>?, of total: Int64?) {
        self.bytes = bytes
        self.total = total
    }

    /// The number of bytes of the part; `nil` if the range can't be satisfied.
    package var count: Int64? { bytes.map { $0.upperBound - $0.lowerBound + 1 } }

    /// Parses a field. Returns `nil` for other units and for texts that contradict themselves, such as `bytes 5-4/9` and `bytes 0-9/9`.
    package init?(_ text: String?) {
        guard let text, text.utf8.count <= 100 else { return nil }
        let words = text.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.map { Substring($0) }
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let total = halves[1] == "*" ? nil : Self.number(halves[1])
        guard halves[1] == "*" || total != nil else { return nil }
        guard halves[0] != "*" else {
            guard let total else { return nil }
            self.init(nil, of: total)
            return
        }
        guard let range = Self.range(halves[0]), range.upperBound < total ?? .max else { return nil }
        self.init(range, of: total)
    }

    /// The field's value.
    package var text: String {
        let total = total.map { "\($0)" } ?? "*"
        return bytes.map { "bytes \($0.lowerBound)-\($0.upperBound)/\(total)" } ?? "bytes */\(total)"
    }

    /// Parses `first-last`, both inclusive.
    package static func range(_ text: some StringProtocol) -> ClosedRange<Int64>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = number(ends[0]), let last = number(ends[1]), first <= last, last < .max else { return nil }
        return first...last
    }

    /// Parses a number of decimal digits.
    package static func number(_ text: some StringProtocol) -> Int64? {
        guard (1...19).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}

extension HTTPFields {
    /// Whether the body is a sequence of parts with a `Content-Range` each (RFC 9110 §14.6). A server may send it for one range too.
    package var isMultipartByteRanges: Bool {
        self[.contentType]?.lowercased().hasPrefix("multipart/byteranges") == true
    }
}

@_spi(Fuzzing) extension HTTPFields {
    /// The canonical text of a `Content-Range`; `nil` if it is malformed.
    public static func canonicalContentRange(_ text: String) -> String? { ContentRange(text)?.text }
}

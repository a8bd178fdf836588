import Foundation

/// The field `Content-Range` (RFC 9110 §14.4) in the unit `bytes`.
struct ContentRange: Hashable, Sendable {
    /// The first and the last byte; `nil` in a response with the status 416.
    let bytes: ClosedRange<Int64>?
    /// The length of the whole representation; `nil` if the server doesn't know it.
    let total: Int64?

    init(_ bytes: ClosedRange<Int64>?, of total: Int64?) {
        self.bytes = bytes
        self.total = total
    }

    /// Parses a field. Returns `nil` for other units and for texts that contradict themselves, such as `bytes 5-4/9` and `bytes 0-9/9`.
    init?(_ text: String?) {
        guard let text, text.utf8.count <= 100 else { return nil }
        let words = text.trimmingCharacters(in: CharacterSet(charactersIn: " \t")).split(separator: " ", omittingEmptySubsequences: true)
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

    /// Parses `first-last`, both inclusive.
    static func range(_ text: some StringProtocol) -> ClosedRange<Int64>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = number(ends[0]), let last = number(ends[1]), first <= last, last < .max else { return nil }
        return first...last
    }

    /// Parses a number of decimal digits.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard (1...19).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }

    /// The number of bytes that the server of an upload session has, from the `Range` of its 308 response: `bytes=0-42` means 43. Returns 0
    /// without the field, and `nil` for another form.
    static func received(_ field: String?) -> Int64? {
        guard let field else { return 0 }
        let text = field.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
        guard text.lowercased().hasPrefix("bytes="), let range = range(text.dropFirst(6)), range.lowerBound == 0 else { return nil }
        return range.upperBound + 1
    }

    /// The field's value for a piece of an upload.
    static func text(_ bytes: Range<Int64>, of total: Int64) -> String {
        bytes.isEmpty ? "bytes */\(total)" : "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(total)"
    }
}

/// A strong validator, which proves that two responses have the same bytes. Only such validators permit combining ranges (RFC 9110
/// §13.1.5).
enum EntityValidator: Hashable, Sendable, Codable {
    /// A strong entity tag, with its quotes.
    case tag(String)
    /// A date that qualifies as strong (RFC 9110 §8.8.2.2).
    case date(String)

    /// Reads the validator of a response; `nil` if it has no strong one.
    ///
    /// A date is strong if the response's own date is at least a second later: otherwise the file may have changed twice in that second. A
    /// date isn't used if the response has an entity tag, even a weak one.
    init?(_ headers: HTTPFields) {
        if let tag = headers["ETag"] {
            guard Self.isStrong(tag) else { return nil }
            self = .tag(tag)
            return
        }
        guard let modified = headers["Last-Modified"], let date = headers[.date], let changed = HTTPDate.strictDate(from: modified),
            let sent = HTTPDate.strictDate(from: date), sent.timeIntervalSince(changed) >= 1
        else { return nil }
        self = .date(modified)
    }

    /// Whether a text is a strong entity tag that can be sent back.
    static func isStrong(_ tag: String) -> Bool {
        guard (2...1_024).contains(tag.utf8.count), tag.hasPrefix("\""), tag.hasSuffix("\"") else { return false }
        return tag.utf8.dropFirst().dropLast().allSatisfy { $0 == 0x21 || (0x23...0x7E).contains($0) }
    }

    /// The value of `If-Range`.
    var text: String {
        switch self {
        case .tag(let text), .date(let text): text
        }
    }

    /// Whether a response with these fields can be of the same representation: it has the same validator, or none of that kind.
    func fits(_ headers: HTTPFields) -> Bool {
        switch self {
        case .tag(let tag): headers["ETag"].map { $0 == tag } ?? true
        case .date(let date): headers["Last-Modified"].map { $0 == date } ?? true
        }
    }

    /// Whether a validator read from a file can be sent.
    var isValid: Bool {
        switch self {
        case .tag(let tag): Self.isStrong(tag)
        case .date(let date): HTTPDate.strictDate(from: date) != nil
        }
    }
}

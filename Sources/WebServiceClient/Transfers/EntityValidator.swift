import Foundation

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

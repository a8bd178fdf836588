import Foundation

/// The directives of `Cache-Control` (RFC 9111 §5.2): names without regard to case, arguments as tokens or quoted texts.
///
/// Reading never fails: text that isn't a directive is ignored. An invalid number differs from a missing one, because it makes a response
/// stale (§4.2.1).
struct CacheControl: Sendable, Hashable {
    /// One directive.
    struct Directive: Sendable, Hashable {
        /// The name in lower case.
        let name: String
        /// The argument without quotes; `nil` if there is none.
        let argument: String?
    }

    /// The argument of a directive that takes a number of seconds (RFC 9111 §1.2.2).
    enum Seconds: Sendable, Hashable {
        /// The directive has no argument, or one that isn't a nonnegative integer.
        case unreadable
        /// A number, at most 2^31.
        case count(Double)
    }

    /// The largest number of seconds (RFC 9111 §1.2.2): 68 years.
    static let maximumSeconds = 2_147_483_648.0

    private(set) var directives: [Directive] = []

    /// Reads the values of all fields of that name.
    init(_ values: [String]) {
        for value in values { read(Array(value.utf8)) }
    }

    /// Reads the `Cache-Control` of a message.
    init(in fields: HTTPFields) {
        self.init(fields[values: .cacheControl])
    }

    /// Whether a directive is there, with or without an argument.
    func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

    /// Whether a directive is there without an argument: `no-cache`, but not `no-cache="Set-Cookie"`.
    func hasPlain(_ name: String) -> Bool { directives.contains { $0.name == name && $0.argument == nil } }

    /// The number of a directive; `nil` if it is missing. Of several, the first counts (RFC 9111 §4.2.1).
    func seconds(_ name: String) -> Seconds? {
        guard let directive = directives.first(where: { $0.name == name }) else { return nil }
        return Self.seconds(directive.argument)
    }

    /// The number of a directive if it can be read.
    func count(_ name: String) -> Double? {
        if case .count(let count)? = seconds(name) { count } else { nil }
    }

    /// The field names in the argument of a directive, such as `no-cache="Set-Cookie, X-Token"`.
    func fieldNames(_ name: String) -> [HTTPFields.Name] {
        directives.filter { $0.name == name }.flatMap { directive in
            (directive.argument ?? "").split(separator: ",").map { HTTPFields.Name($0.drop(while: \.isWhitespace).trimmedEnd) }
        }
        .filter(\.isValid)
    }

    /// Reads a number of seconds. Larger ones than ``maximumSeconds`` count as that.
    static func seconds(_ text: String?) -> Seconds {
        guard let text, !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return .unreadable }
        return .count(min(Double(text) ?? maximumSeconds, maximumSeconds))
    }

    // MARK: Reading

    private mutating func read(_ bytes: [UInt8]) {
        var index = 0
        while index < bytes.count {
            let comma = Self.end(of: bytes, from: index)
            if let directive = Self.directive(bytes[index..<comma]) { directives.append(directive) }
            index = comma + 1
        }
    }

    /// The index of the next comma outside quotes.
    private static func end(of bytes: [UInt8], from start: Int) -> Int {
        var (index, isQuoted) = (start, false)
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "\\") where isQuoted: index += 1
            case UInt8(ascii: ",") where !isQuoted: return index
            default: break
            }
            index += 1
        }
        return bytes.count
    }

    private static func directive(_ part: ArraySlice<UInt8>) -> Directive? {
        let part = trimmed(part)
        let equals = part.firstIndex(of: UInt8(ascii: "="))
        let name = String(decoding: part[..<(equals ?? part.endIndex)], as: UTF8.self)
        guard HTTPFields.Name(name).isValid else { return nil }
        guard let equals else { return Directive(name: name.lowercased(), argument: nil) }
        return Directive(name: name.lowercased(), argument: argument(part[(equals + 1)...]))
    }

    private static func argument(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else {
            return String(decoding: bytes, as: UTF8.self)
        }
        var text: [UInt8] = []
        var isEscaped = false
        for byte in bytes.dropFirst().dropLast() {
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
            } else {
                text.append(byte)
                isEscaped = false
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return bytes
    }
}

extension Substring {
    /// The text without whitespace at its end.
    fileprivate var trimmedEnd: String {
        var text = self
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}

extension HTTPFields.Name {
    /// `Age` (RFC 9111 §5.1).
    static let age = Self("Age")
    /// `Cache-Control` (RFC 9111 §5.2).
    static let cacheControl = Self("Cache-Control")
    /// `Content-Location` (RFC 9110 §8.7).
    static let contentLocation = Self("Content-Location")
    /// `Content-Range` (RFC 9110 §14.4).
    static let contentRange = Self("Content-Range")
    /// `ETag` (RFC 9110 §8.8.3).
    static let entityTag = Self("ETag")
    /// `Expires` (RFC 9111 §5.3).
    static let expires = Self("Expires")
    /// `If-Modified-Since` (RFC 9110 §13.1.3).
    static let ifModifiedSince = Self("If-Modified-Since")
    /// `If-None-Match` (RFC 9110 §13.1.2).
    static let ifNoneMatch = Self("If-None-Match")
    /// `Last-Modified` (RFC 9110 §8.8.2).
    static let lastModified = Self("Last-Modified")
    /// `Pragma` (RFC 9111 §5.4).
    static let pragma = Self("Pragma")
    /// `Vary` (RFC 9110 §12.5.5).
    static let vary = Self("Vary")
}

/// The caching wishes of a request (RFC 9111 §5.2.1), from its `Cache-Control`; without one, from its `Pragma` (§5.4).
struct RequestDirectives: Sendable, Hashable {
    var noStore = false
    var noCache = false
    var onlyIfCached = false
    /// The greatest age to accept.
    var maxAge: Double?
    /// The shortest remaining freshness to accept.
    var minFresh: Double?
    /// The longest staleness to accept; infinite for `max-stale` without an argument.
    var maxStale: Double?
    /// The longest staleness to accept after a failure (RFC 5861 §4).
    var staleIfError: Double?

    static let none = RequestDirectives()

    private init() {}

    init(in fields: HTTPFields) {
        guard fields.contains(.cacheControl) else {
            noCache = fields.contains(.pragma) && CacheControl(fields[values: .pragma]).has("no-cache")
            return
        }
        let control = CacheControl(in: fields)
        noStore = control.has("no-store")
        noCache = control.has("no-cache")
        onlyIfCached = control.has("only-if-cached")
        // What can't be read asks for the most cautious answer.
        if let age = control.seconds("max-age") { maxAge = if case .count(let count) = age { count } else { 0 } }
        if let rest = control.seconds("min-fresh") {
            minFresh = if case .count(let count) = rest { count } else { CacheControl.maximumSeconds }
        }
        if control.has("max-stale") { maxStale = control.hasPlain("max-stale") ? .infinity : control.count("max-stale") ?? 0 }
        staleIfError = control.count("stale-if-error")
    }
}

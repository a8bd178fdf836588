/// The trace that a record or a request belongs to (W3C Trace Context), which correlates records and requests across services.
public struct TraceContext: Sendable, Hashable, CustomStringConvertible {
    /// The first 64 bits of the trace's id.
    public let traceHigh: UInt64
    /// The last 64 bits of the trace's id.
    public let traceLow: UInt64
    /// The span's id; `nil` without a span.
    public let span: UInt64?
    /// The flags: bit 0 is set if the trace is sampled.
    public let flags: UInt8

    /// Creates a trace from numeric ids; `nil` if the trace's id is zero, which is invalid. A span of zero means no span.
    public init?(traceHigh: UInt64, traceLow: UInt64, span: UInt64? = nil, flags: UInt8 = 0) {
        guard traceHigh != 0 || traceLow != 0 else { return nil }
        self.init(high: traceHigh, low: traceLow, span: span == 0 ? nil : span, flags: flags)
    }

    private init(high: UInt64, low: UInt64, span: UInt64?, flags: UInt8) {
        traceHigh = high
        traceLow = low
        self.span = span
        self.flags = flags
    }

    /// Creates a trace from hexadecimal ids.
    ///
    /// - Parameters:
    ///   - traceID: 32 hexadecimal digits, not all zero.
    ///   - spanID: 16 hexadecimal digits, not all zero; `nil` without a span.
    /// - Returns: `nil` if an id is invalid.
    public init?(traceID: String, spanID: String? = nil, flags: UInt8 = 0) {
        guard traceID.utf8.count == 32, let high = Self.number(traceID.prefix(16)), let low = Self.number(traceID.suffix(16)) else {
            return nil
        }
        var span: UInt64?
        if let spanID {
            guard spanID.utf8.count == 16, let number = Self.number(spanID[...]), number != 0 else { return nil }
            span = number
        }
        self.init(traceHigh: high, traceLow: low, span: span, flags: flags)
    }

    /// Creates a trace from the value of a `traceparent` header (W3C Trace Context §3.2); `nil` if it isn't valid.
    ///
    /// The digits must be in lower case. A version after `00` may have further parts, which are ignored; the version `ff` is invalid.
    public init?(traceparent: String) {
        let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0].utf8.count == 2, let version = Self.number(parts[0]), version != 0xFF,
            version != 0 || parts.count == 4, parts[3].utf8.count == 2, let flags = Self.number(parts[3]),
            !parts[..<4].joined().utf8.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) })
        else { return nil }
        self.init(traceID: String(parts[1]), spanID: String(parts[2]), flags: UInt8(truncatingIfNeeded: flags))
    }

    /// Begins a trace, with a random id and a random span.
    ///
    /// - Parameter isSampled: Whether services record the trace.
    public static func random(isSampled: Bool = true) -> TraceContext {
        TraceContext(
            high: .random(in: 1 ... .max), low: .random(in: 0 ... .max), span: .random(in: 1 ... .max), flags: isSampled ? 1 : 0)
    }

    /// Returns the same trace with a new random span, for a request to another service.
    public func child() -> TraceContext {
        TraceContext(high: traceHigh, low: traceLow, span: .random(in: 1 ... .max), flags: flags)
    }

    /// Whether the trace is sampled, so that services record it.
    public var isSampled: Bool { flags & 1 != 0 }

    /// The value of a `traceparent` header of version `00` (W3C Trace Context §3.2); `nil` without a span. Flags without a meaning in that
    /// version are zero (§3.2.2.5): only *sampled* and *random* are kept.
    public var traceparent: String? {
        spanID.map { "00-\(traceID)-\($0)-0\(flags & 0b11)" }
    }

    /// The trace's id: 32 hexadecimal digits.
    public var traceID: String { Self.digits(traceHigh) + Self.digits(traceLow) }

    /// The span's id: 16 hexadecimal digits; `nil` without a span.
    public var spanID: String? { span.map(Self.digits) }

    /// Trace and span for human readers.
    public var description: String {
        spanID.map { "\(traceID)/\($0)" } ?? traceID
    }

    private static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// The value of hexadecimal digits; signs, which `UInt64(_:radix:)` accepts, are invalid.
    private static func number(_ digits: Substring) -> UInt64? {
        guard digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }) else { return nil }
        return UInt64(digits, radix: 16)
    }
}

/// Data that tracing systems attach to a trace: the value of a `tracestate` header (W3C Trace Context §3.3).
///
/// It is passed on unchanged, in its order.
public struct TraceState: Sendable, Hashable, CustomStringConvertible {
    /// The entries in their order, such as `rojo=00f067aa0ba902b7`.
    public let entries: [String]

    /// The maximum number of entries of a state (§3.3.1.1).
    public static let maximumEntries = 32

    /// Creates an empty state.
    public init() { entries = [] }

    /// Creates a state from the value of a `tracestate` header; several fields are joined with commas first.
    ///
    /// - Returns: `nil` if an entry isn't a key and a value, a key occurs twice, or there are more than ``maximumEntries`` entries. Such a
    ///   state is dropped as a whole (§3.3.1).
    public init?(_ text: String) {
        var entries: [String] = []
        var keys: Set<Substring> = []
        for part in text.utf8.split(separator: UInt8(ascii: ",")).map(Substring.init) {
            let entry = part.trimmingBlanks
            guard !entry.isEmpty else { continue }
            guard let equals = entry.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let key = entry[..<equals]
            guard Self.isKey(key.utf8), Self.isValue(entry[equals...].utf8.dropFirst()), keys.insert(key).inserted else { return nil }
            entries.append(String(entry))
        }
        guard entries.count <= Self.maximumEntries else { return nil }
        self.entries = entries
    }

    /// Whether the state is empty.
    public var isEmpty: Bool { entries.isEmpty }

    /// The value of a `tracestate` header.
    public var description: String { entries.joined(separator: ",") }

    /// A key is a simple name of up to 256 characters, or `tenant@system` with up to 241 and 14 (§3.3.1.3.1).
    private static func isKey(_ key: Substring.UTF8View) -> Bool {
        func isName(_ name: Substring.UTF8View, upTo limit: Int, mayBeginWithDigit: Bool) -> Bool {
            guard let first = name.first, name.count <= limit, first.isLowercase || mayBeginWithDigit && first.isDigit else {
                return false
            }
            return name.allSatisfy { $0.isLowercase || $0.isDigit || "_-*/".utf8.contains($0) }
        }
        guard let at = key.firstIndex(of: UInt8(ascii: "@")) else { return isName(key, upTo: 256, mayBeginWithDigit: false) }
        return isName(key[..<at], upTo: 241, mayBeginWithDigit: true)
            && isName(key[key.index(after: at)...], upTo: 14, mayBeginWithDigit: false)
    }

    /// A value has 1 to 256 printable characters except `,` and `=`, and doesn't end with a blank (§3.3.1.3.2).
    private static func isValue(_ value: Substring.UTF8View) -> Bool {
        guard let last = value.last, last != UInt8(ascii: " "), value.count <= 256 else { return false }
        return value.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
    }
}

extension Substring {
    /// The text without spaces and tabs at its ends: the optional whitespace of RFC 9110 §5.6.3.
    var trimmingBlanks: Substring {
        var rest = self.utf8
        while let first = rest.first, first.isBlank { rest.removeFirst() }
        while let last = rest.last, last.isBlank { rest.removeLast() }
        return Substring(rest)
    }
}

/// The trace that a record belongs to (W3C Trace Context), which correlates records and requests across services.
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
        self.traceHigh = traceHigh
        self.traceLow = traceLow
        self.span = span == 0 ? nil : span
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
    public init?(traceparent: String) {
        let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0].utf8.count == 2, let version = Self.number(parts[0]), version != 0xFF,
            version != 0 || parts.count == 4, parts[3].utf8.count == 2, let flags = Self.number(parts[3])
        else { return nil }
        self.init(traceID: String(parts[1]), spanID: String(parts[2]), flags: UInt8(truncatingIfNeeded: flags))
    }

    /// The trace's id: 32 hexadecimal digits.
    public var traceID: String {
        LogRecordID(high: traceHigh, low: traceLow).description
    }

    /// The span's id: 16 hexadecimal digits; `nil` without a span.
    public var spanID: String? {
        span.map { span in
            var text = JSONText()
            text.hexadecimal(span)
            return text.string
        }
    }

    /// Trace and span for human readers.
    public var description: String {
        spanID.map { "\(traceID)/\($0)" } ?? traceID
    }

    /// The value of hexadecimal digits; signs, which `UInt64(_:radix:)` accepts, are invalid.
    private static func number(_ digits: Substring) -> UInt64? {
        guard digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }) else { return nil }
        return UInt64(digits, radix: 16)
    }
}

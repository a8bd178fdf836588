/// Strings from bytes that the scanner has checked.
enum JSONText {
    /// - Parameter isASCII: whether that is known.
    @inline(__always) static func string(_ bytes: UnsafePointer<UInt8>, _ count: Int, isASCII: Bool) -> String {
        let buffer = UnsafeBufferPointer(start: bytes, count: count)
        #if compiler(>=6.2)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            // Checked by the scanner: checking them again would take most of the time.
            return String(copying: unsafe UTF8Span(unchecked: buffer.span, isKnownASCII: isASCII))
        }
        #endif
        return String(decoding: buffer, as: UTF8.self)
    }

    /// A string with escapes.
    @inline(never) static func string(escaped bytes: UnsafePointer<UInt8>, _ count: Int) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count + JSONBytes.padding) { buffer in
            guard let target = buffer.baseAddress else { return "" }
            return string(target, JSONEscapes.unescape(bytes, count, into: target), isASCII: false)
        }
    }
}

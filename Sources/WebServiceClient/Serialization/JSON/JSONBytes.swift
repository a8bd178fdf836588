import Foundation

/// Byte operations of the scanner and the readers, in memory with ``padding`` readable bytes after its end.
enum JSONBytes {
    /// The number of readable bytes after the end of every buffer: a step of sixteen may begin at the last byte.
    static let padding = 64

    @inline(__always) static func load8(_ bytes: UnsafePointer<UInt8>) -> UInt64 {
        UInt64(littleEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self))
    }

    @inline(__always) static func load4(_ bytes: UnsafePointer<UInt8>) -> UInt32 {
        UInt32(littleEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt32.self))
    }

    /// Whether the first bytes are equal. Reads up to eight bytes of each.
    @inline(__always) static func areEqual(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        if count <= 8 {
            let difference = load8(one) ^ load8(other)
            return count == 0 || difference &<< UInt64(truncatingIfNeeded: 64 &- 8 &* count) == 0
        }
        if load8(one) != load8(other) { return false }
        if count <= 16 { return load8(one + (count &- 8)) == load8(other + (count &- 8)) }
        return memcmp(one, other, count) == 0
    }

    /// Whether bytes in a padded buffer equal those in memory without padding.
    @inline(__always) static func areEqual(
        _ padded: UnsafePointer<UInt8>, exactly other: UnsafePointer<UInt8>, _ count: Int
    ) -> Bool {
        if count >= 8 {
            if load8(padded) != load8(other) { return false }
            if count <= 16 { return load8(padded + (count &- 8)) == load8(other + (count &- 8)) }
            return memcmp(padded, other, count) == 0
        }
        if count >= 4 {
            return load4(padded) == load4(other) && load4(padded + (count &- 4)) == load4(other + (count &- 4))
        }
        for index in 0..<count where padded[index] != other[index] { return false }
        return true
    }

    /// Four bits for each of sixteen bytes, since a SIMD mask's bits can't be extracted singly.
    @inline(__always) static func nibbles(_ mask: SIMDMask<SIMD16<Int8>>) -> UInt64 {
        let pairs = unsafeBitCast(mask, to: SIMD8<UInt16>.self)
        return unsafeBitCast(SIMD8<UInt8>(truncatingIfNeeded: pairs &>> SIMD8<UInt16>(repeating: 4)), to: UInt64.self).littleEndian
    }

    /// The number of bytes before the next backslash; sixteen if the next sixteen bytes contain none.
    @inline(__always) static func indexOfBackslash(_ bytes: UnsafePointer<UInt8>) -> Int {
        let vector = UnsafeRawPointer(bytes).loadUnaligned(as: SIMD16<UInt8>.self)
        let mask: SIMDMask<SIMD16<Int8>> = vector .== SIMD16<UInt8>(repeating: 0x5C)
        return nibbles(mask).trailingZeroBitCount &>> 2
    }

    /// A hash of a name, unpredictable outside this process.
    static func hash(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> UInt64 {
        var state = seed ^ UInt64(truncatingIfNeeded: count)
        var index = 0
        while index < count {
            var word = load8(bytes + index)
            let rest = count &- index
            if rest < 8 { word &= ~0 &>> UInt64(truncatingIfNeeded: 64 &- 8 &* rest) }
            let product = (state ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15 ^ seed)
            state = product.high ^ product.low &+ word
            index += 8
        }
        return state ^ state &>> 29
    }

    private static let seed = UInt64.random(in: 1 ... .max) | 1

    /// The length of a sequence of two to four bytes; zero if it isn't well-formed (Unicode 3.9, table 3-7). Reads four bytes.
    @inline(__always) static func sequenceLength(_ bytes: UnsafePointer<UInt8>, _ first: UInt8) -> Int {
        let second = bytes[1]
        if first < 0xE0 { return first >= 0xC2 && second & 0xC0 == 0x80 ? 2 : 0 }
        guard bytes[2] & 0xC0 == 0x80 else { return 0 }
        if first < 0xF0 {
            let low: UInt8 = first == 0xE0 ? 0xA0 : 0x80
            let high: UInt8 = first == 0xED ? 0x9F : 0xBF
            return second >= low && second <= high ? 3 : 0
        }
        let low: UInt8 = first == 0xF0 ? 0x90 : 0x80
        let high: UInt8 = first == 0xF4 ? 0x8F : 0xBF
        return first <= 0xF4 && second >= low && second <= high && bytes[3] & 0xC0 == 0x80 ? 4 : 0
    }
}

/// Creates strings from bytes that the scanner has checked.
enum JSONStrings {
    /// - Parameter isASCII: Whether the bytes are known to be ASCII.
    @inline(__always) static func string(_ bytes: UnsafePointer<UInt8>, _ count: Int, isASCII: Bool) -> String {
        let buffer = UnsafeBufferPointer(start: bytes, count: count)
        #if compiler(>=6.2)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            // The scanner has checked the bytes; a second check would take most of the time.
            return String(copying: unsafe UTF8Span(unchecked: buffer.span, isKnownASCII: isASCII))
        }
        #endif
        return String(decoding: buffer, as: UTF8.self)
    }

    /// Creates a string from bytes with escapes.
    @inline(never) static func string(escaped bytes: UnsafePointer<UInt8>, _ count: Int) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count + JSONBytes.padding) { buffer in
            guard let target = buffer.baseAddress else { return "" }
            return string(target, JSONEscapes.unescape(bytes, count, into: target), isASCII: false)
        }
    }
}

extension JSONScanner {
    /// Skips white space.
    @inline(__always) static func skipSpace(_ p: inout UnsafePointer<UInt8>) {
        if p.pointee <= 0x20 { p = spaceEnd(p) }
    }

    @inline(never) private static func spaceEnd(_ start: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var p = start
        while true {
            // Indentation comes in runs.
            while JSONBytes.load8(p) == 0x2020_2020_2020_2020 { p += 8 }
            switch p.pointee {
            case 0x20, 0x0A, 0x0D, 0x09: p += 1
            default: return p
            }
        }
    }

    /// A string or number: its end, or the place and reason of a fault.
    struct Token {
        var kind: JSONKind
        var end: UnsafePointer<UInt8>
        var reason: JSONFault.Reason?
    }

    /// Reads a string from the byte after its quotation mark. If it ends at the stretch's limit or later, it must be read again from the
    /// copy.
    @inline(__always) static func string(_ start: UnsafePointer<UInt8>, in text: JSONStretch) -> Token {
        let end = plainEnd(start)
        return end.pointee == UInt8(ascii: "\"") ? Token(kind: .ascii, end: end) : restOfString(from: end, in: text)
    }

    /// The first special byte of a string: a quotation mark, a backslash, a control character, or a byte beyond ASCII.
    @inline(__always) static func plainEnd(_ start: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var p = start
        while true {
            let bytes = UnsafeRawPointer(p).loadUnaligned(as: SIMD16<UInt8>.self)
            // As signed numbers, bytes beyond ASCII are less than the space, too.
            let low: SIMDMask<SIMD16<Int8>> =
                SIMD16<Int8>(truncatingIfNeeded: bytes) .< SIMD16<Int8>(repeating: 0x20)
            let quote: SIMDMask<SIMD16<Int8>> = bytes .== SIMD16<UInt8>(repeating: 0x22)
            let backslash: SIMDMask<SIMD16<Int8>> = bytes .== SIMD16<UInt8>(repeating: 0x5C)
            let marks = JSONBytes.nibbles(low .| quote .| backslash)
            if marks != 0 { return p + (marks.trailingZeroBitCount &>> 2) }
            p += 16
        }
    }

    /// Reads the rest of a string that has escapes or isn't ASCII, from the first such byte.
    @inline(never) private static func restOfString(from first: UnsafePointer<UInt8>, in text: JSONStretch) -> Token {
        let end = text.end
        var p = first
        var kind = JSONKind.ascii
        while p < text.limit {
            let byte = p.pointee
            if byte >= 0x80 {
                while p.pointee >= 0x80 {
                    let length = JSONBytes.sequenceLength(p, p.pointee)
                    if length == 0 { return noSequence(p, kind, text) }
                    p += length
                }
                if kind == .ascii { kind = .text }
                p = plainEnd(p)
            } else if byte == UInt8(ascii: "\"") {
                return Token(kind: kind, end: p)
            } else if byte == UInt8(ascii: "\\") {
                switch JSONEscapes.check(p, upTo: end) {
                case .success(let length): p += length
                case .failure(let reason): return Token(kind: kind, end: reason == .truncated ? end : p, reason: reason)
                }
                kind = .escaped
                // Escapes come in runs.
                if p < text.limit, p.pointee != UInt8(ascii: "\\") { p = plainEnd(p) }
            } else if p < end, byte >= 0x20 {
                p = plainEnd(p)
            } else {
                return Token(kind: kind, end: p, reason: .controlCharacter)
            }
        }
        return Token(kind: kind, end: p)
    }

    /// The fault of an invalid UTF-8 sequence at a place.
    @inline(never) private static func noSequence(_ place: UnsafePointer<UInt8>, _ kind: JSONKind, _ text: JSONStretch) -> Token {
        var rest = place
        while rest.pointee >= 0x80 { rest += 1 }
        // A sequence that is cut by the end of the text isn't invalid yet.
        let isCut = rest >= text.end && text.end - place < 4
        return Token(kind: kind, end: isCut ? text.end : place, reason: .encoding)
    }

    /// Reads a number.
    @inline(__always) static func number(_ start: UnsafePointer<UInt8>) -> Token {
        var p = start
        if p.pointee == UInt8(ascii: "-") { p += 1 }
        if p.pointee == UInt8(ascii: "0") {
            p += 1
        } else {
            let digits = p
            while p.pointee &- 48 < 10 { p += 1 }
            if p == digits { return Token(kind: .integer, end: p, reason: .number) }
        }
        guard p.pointee == UInt8(ascii: ".") || p.pointee | 0x20 == UInt8(ascii: "e") else { return Token(kind: .integer, end: p) }
        return fractionAndExponent(p)
    }

    /// Reads the fraction and exponent of a number.
    @inline(never) private static func fractionAndExponent(_ start: UnsafePointer<UInt8>) -> Token {
        var p = start
        if p.pointee == UInt8(ascii: ".") {
            p += 1
            let digits = p
            while p.pointee &- 48 < 10 { p += 1 }
            if p == digits { return Token(kind: .number, end: p, reason: .fraction) }
        }
        if p.pointee | 0x20 == UInt8(ascii: "e") {
            p += 1
            if p.pointee == UInt8(ascii: "+") || p.pointee == UInt8(ascii: "-") { p += 1 }
            let digits = p
            while p.pointee &- 48 < 10 { p += 1 }
            if p == digits { return Token(kind: .number, end: p, reason: .exponent) }
        }
        return Token(kind: .number, end: p)
    }

    /// Reads `true`, `false` or `null`, chosen by the first letter.
    @inline(__always) static func literal(_ start: UnsafePointer<UInt8>) -> Token {
        switch start.pointee {
        case UInt8(ascii: "t"): Token(kind: .true, end: start + 4, reason: JSONBytes.load4(start) == 0x6575_7274 ? nil : .literal)
        case UInt8(ascii: "f"): Token(kind: .false, end: start + 5, reason: JSONBytes.load4(start + 1) == 0x6573_6C61 ? nil : .literal)
        default: Token(kind: .null, end: start + 4, reason: JSONBytes.load4(start) == 0x6C6C_756E ? nil : .literal)
        }
    }

    /// The fault of a word that begins like one of these literals.
    @inline(never) static func literalFault(_ p: UnsafePointer<UInt8>, _ text: JSONStretch) -> JSONFault {
        let literal: StaticString = p.pointee == UInt8(ascii: "t") ? "true" : p.pointee == UInt8(ascii: "f") ? "false" : "null"
        var index = 0
        while index < literal.utf8CodeUnitCount, p + index < text.end, p[index] == literal.utf8Start[index] { index += 1 }
        let isCut = p + index >= text.end
        return JSONFault(reason: isCut ? .truncated : .literal, offset: text.offset(of: isCut ? text.end : p))
    }
}

/// A contiguous part of a text, which the scanner reads without checking each byte for the end.
///
/// The storage's own memory is padded with zeros, which end every token. A large text is read in its owner's memory, since copying takes
/// a third of the scanning time, but has no padding there. No string passes a quotation mark unnoticed, nor does any other token. The
/// stretch therefore has a ``limit`` at a quotation mark, at which the rest is copied and the scanner continues in the copy.
struct JSONStretch {
    let base: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    /// The limit: names and strings that end here or later are read from the copy. Without padding, it is a quotation mark that is
    /// followed by another one with enough bytes after it, so the scanner never passes it. With padding, it is after the end.
    let limit: UnsafePointer<UInt8>
    /// The number of text bytes before the stretch.
    let origin: Int

    init(_ storage: UnsafeMutablePointer<JSONStorage>) {
        if let lent = storage.pointee.lent, storage.pointee.count == 0 {
            base = lent
            end = base + storage.pointee.origin
            limit = base + storage.pointee.lentLimit
            origin = 0
        } else {
            base = UnsafePointer(storage.pointee.bytes)
            end = base + storage.pointee.count
            limit = end + 1
            origin = storage.pointee.origin
        }
    }

    @inline(__always) func offset(of p: UnsafePointer<UInt8>) -> Int { p - base &+ origin }

    @inline(__always) func fault(_ reason: JSONFault.Reason, _ place: UnsafePointer<UInt8>) -> JSONFault {
        JSONFault(reason: place >= end ? .truncated : reason, offset: offset(of: min(place, end)))
    }

    /// The first byte of a name on the tape, if it is in this stretch and had no escapes.
    @inline(__always) func name(_ word: JSONWord) -> UnsafePointer<UInt8>? {
        word.kind != .unescapedName && word.offset >= origin ? base + (word.offset &- origin) : nil
    }

    /// The limit within a text without padding: the last quotation mark but one with enough bytes after it. `nil` if there is none near
    /// the end, or the text is too short to benefit.
    static func limit(of text: UnsafeBufferPointer<UInt8>) -> Int? {
        guard text.count >= shortest else { return nil }
        var isSecond = false
        var index = text.count - JSONBytes.padding
        let last = max(index - farthest, 0)
        while index > last {
            index -= 1
            guard text[index] == UInt8(ascii: "\"") else { continue }
            if isSecond { return index }
            isSecond = true
        }
        return nil
    }

    private static let shortest = 256
    private static let farthest = 4096
}

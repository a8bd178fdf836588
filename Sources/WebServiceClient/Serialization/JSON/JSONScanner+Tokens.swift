extension JSONScanner {
    /// Goes to the next byte that is no white space.
    @inline(__always) static func skipSpace(_ p: inout UnsafePointer<UInt8>) {
        guard p.pointee <= 0x20 else { return }
        skipSpaces(&p)
    }

    private static func skipSpaces(_ p: inout UnsafePointer<UInt8>) {
        while true {
            // Indentation comes in runs.
            while JSONBytes.load8(p) == 0x2020_2020_2020_2020 { p += 8 }
            switch p.pointee {
            case 0x20, 0x0A, 0x0D, 0x09: p += 1
            default: return
            }
        }
    }

    /// The first byte that isn't plain in a string: a quotation mark, a backslash, a control character, or one beyond ASCII.
    @inline(__always) static func plainEnd(_ start: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var p = start
        while true {
            let bytes = UnsafeRawPointer(p).loadUnaligned(as: SIMD16<UInt8>.self)
            // As signed numbers, those beyond ASCII are below the space, too.
            let low: SIMDMask<SIMD16<Int8>> =
                SIMD16<Int8>(truncatingIfNeeded: bytes) .< SIMD16<Int8>(repeating: 0x20)
            let quote: SIMDMask<SIMD16<Int8>> = bytes .== SIMD16<UInt8>(repeating: 0x22)
            let backslash: SIMDMask<SIMD16<Int8>> = bytes .== SIMD16<UInt8>(repeating: 0x5C)
            let marks = JSONBytes.nibbles(low .| quote .| backslash)
            if marks != 0 { return p + (marks.trailingZeroBitCount &>> 2) }
            p += 16
        }
    }

    /// The rest of a string that has escapes or isn't ASCII, from its first such byte.
    @inline(never) static func slowString(
        _ start: UnsafePointer<UInt8>, from first: UnsafePointer<UInt8>, upTo end: UnsafePointer<UInt8>
    ) -> (kind: JSONKind, end: UnsafePointer<UInt8>, reason: JSONFault.Reason?) {
        var p = first
        var kind = JSONKind.ascii
        while true {
            let byte = p.pointee
            if byte >= 0x80 {
                // Up to the next byte of ASCII, all at once.
                var q = p + 1
                while q.pointee >= 0x80 { q += 1 }
                let valid = JSONBytes.endOfUTF8(p, q - p)
                if p + valid < q {
                    // Cut within a sequence, by the end of the text, it isn't wrong yet.
                    return (kind, q >= end && end - (p + valid) < 4 ? end : p + valid, .encoding)
                }
                if kind == .ascii { kind = .text }
                p = plainEnd(q)
            } else if byte == UInt8(ascii: "\"") {
                return (kind, p, nil)
            } else if byte == UInt8(ascii: "\\") {
                switch JSONEscapes.check(p, upTo: end) {
                case .success(let length): p = plainEnd(p + length)
                case .failure(let reason): return (kind, reason == .truncated ? end : p, reason)
                }
                kind = .escaped
            } else if p < end, byte >= 0x20 {
                p = plainEnd(p)
            } else {
                return (kind, p, .controlCharacter)
            }
        }
    }

    /// What follows the integer part of a number.
    @inline(never) static func fractionAndExponent(_ q: inout UnsafePointer<UInt8>) -> JSONFault.Reason? {
        if q.pointee == UInt8(ascii: ".") {
            q += 1
            let digits = q
            while q.pointee &- 48 < 10 { q += 1 }
            if q == digits { return .fraction }
        }
        if q.pointee | 0x20 == UInt8(ascii: "e") {
            q += 1
            if q.pointee == UInt8(ascii: "+") || q.pointee == UInt8(ascii: "-") { q += 1 }
            let digits = q
            while q.pointee &- 48 < 10 { q += 1 }
            if q == digits { return .exponent }
        }
        return nil
    }

    /// Why there is no `true`, `false` or `null` though it begins like one.
    @inline(never) static func literalFault(
        _ literal: StaticString, _ p: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ base: UnsafePointer<UInt8>
    ) -> JSONFault {
        var index = 0
        while index < literal.utf8CodeUnitCount, p + index < end, p[index] == literal.utf8Start[index] { index += 1 }
        return p + index >= end
            ? JSONFault(reason: .truncated, offset: end - base) : JSONFault(reason: .literal, offset: p - base)
    }

    /// The name of a member, and the colon after it.
    @inline(__always) func readName(
        _ p: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ base: UnsafePointer<UInt8>,
        _ tape: UnsafeMutablePointer<UInt64>, _ t: inout Int, _ frame: inout JSONFrame, _ atBracket: JSONFault.Reason
    ) -> JSONFault? {
        guard p.pointee == UInt8(ascii: "\"") else {
            let reason = p.pointee == UInt8(ascii: "}") ? atBracket : .name
            return JSONFault(reason: p >= end ? .truncated : reason, offset: min(p, end) - base)
        }
        let start = p + 1
        // The name which an earlier object has at this place, and its closing quotation mark.
        var isPredicted = false
        if frame.predicted < frame.predictedEnd {
            let word = JSONWord(bits: tape[frame.predicted])
            if word.kind != .unescapedName, word.length < end - start, JSONBytes.areEqual(start, base + word.offset, word.length &+ 1) {
                tape[t] = JSONWord(word.kind, offset: start - base, length: word.length).bits
                p = start + (word.length &+ 1)
                frame.follow(tape)
                isPredicted = true
            }
        }
        if !isPredicted, let fault = readOtherName(&p, start, end, base, tape, t, &frame) { return fault }
        t &+= 1
        Self.skipSpace(&p)
        guard p.pointee == UInt8(ascii: ":") else { return JSONFault(reason: p >= end ? .truncated : .colon, offset: min(p, end) - base) }
        p += 1
        return nil
    }

    /// A name that isn't the one foretold. Where it stands later in the earlier object, that one is followed from there.
    @inline(never) private func readOtherName(
        _ p: inout UnsafePointer<UInt8>, _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ base: UnsafePointer<UInt8>,
        _ tape: UnsafeMutablePointer<UInt64>, _ t: Int, _ frame: inout JSONFrame
    ) -> JSONFault? {
        var kind = JSONKind.ascii
        var q = Self.plainEnd(start)
        if q.pointee != UInt8(ascii: "\"") {
            let slow = Self.slowString(start, from: q, upTo: end)
            if let reason = slow.reason {
                return JSONFault(reason: slow.end >= end ? .truncated : reason, offset: min(slow.end, end) - base)
            }
            kind = slow.kind
            q = slow.end
        }
        let length = q - start
        guard length <= JSONWord.longestLength else { return JSONFault(reason: .length, offset: start - base) }
        p = q + 1
        if kind == .escaped {
            let stored = storage.pointee.storeName(start, length)
            tape[t] = JSONWord(.unescapedName, offset: stored.offset, length: stored.length).bits
            frame.diverge()
            return nil
        }
        tape[t] = JSONWord(kind, offset: start - base, length: length).bits
        while frame.predicted < frame.predictedEnd {
            let word = JSONWord(bits: tape[frame.predicted])
            let isSame = word.length == length && word.kind != .unescapedName && JSONBytes.areEqual(start, base + word.offset, length)
            frame.follow(tape)
            if isSame { return nil }
        }
        frame.diverge()
        return nil
    }
}

extension JSONFrame {
    /// Goes on to the next name of the earlier object; the value of this one is the counterpart of the value to come.
    @inline(__always) fileprivate mutating func follow(_ tape: UnsafeMutablePointer<UInt64>) {
        counterpart = predicted &+ 1
        predicted = JSONWord.end(ofValueAt: counterpart, tape)
    }

    fileprivate mutating func diverge() {
        predicted = predictedEnd
        counterpart = -1
        hasDiverged = true
    }
}

extension JSONWord {
    /// The index of the word after a value.
    @inline(__always) static func end(ofValueAt index: Int, _ tape: UnsafeMutablePointer<UInt64>) -> Int {
        JSONWord(bits: tape[index]).isContainer ? JSONWord(bits: tape[index &+ 1]).low : index &+ 1
    }
}

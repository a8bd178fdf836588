// The names of members.
extension JSONScanner {
    /// The name of a member, and the colon after it.
    ///
    /// - Parameter reason: what is wrong where there is a bracket instead.
    @inline(__always) static func readName(
        _ storage: UnsafeMutablePointer<JSONStorage>, _ p: inout UnsafePointer<UInt8>, _ text: inout JSONStretch,
        _ tape: UnsafeMutablePointer<UInt64>, _ t: inout Int, _ frame: UnsafeMutablePointer<JSONFrame>, atBracket reason: JSONFault.Reason
    ) -> JSONFault? {
        guard p.pointee == UInt8(ascii: "\"") else { return text.fault(p.pointee == UInt8(ascii: "}") ? reason : .name, p) }
        if let word = foretold(at: p + 1, in: text, tape, frame) {
            tape[t] = JSONWord(word.kind, offset: text.offset(of: p) &+ 1, length: word.length).bits
            p += word.length &+ 2
            JSONFrame.follow(frame, tape)
        } else {
            let name = readOtherName(storage, p, text, tape, t, frame)
            if let fault = name.fault { return fault }
            (p, text) = (name.end, name.text)
        }
        t &+= 1
        skipSpace(&p)
        guard p.pointee == UInt8(ascii: ":") else { return text.fault(.colon, p) }
        p += 1
        return nil
    }

    /// The name which an earlier object has at this place, if it and its closing quotation mark stand here again.
    @inline(__always) private static func foretold(
        at start: UnsafePointer<UInt8>, in text: JSONStretch, _ tape: UnsafeMutablePointer<UInt64>, _ frame: UnsafeMutablePointer<JSONFrame>
    ) -> JSONWord? {
        guard frame.pointee.predicted < frame.pointee.predictedEnd else { return nil }
        let word = JSONWord(bits: tape[frame.pointee.predicted])
        guard let name = text.name(word), word.length < text.limit - start, JSONBytes.areEqual(start, name, word.length &+ 1) else {
            return nil
        }
        return word
    }

    /// A name that isn't the one foretold. Where it stands later in the earlier object, that one is followed from there.
    @inline(never) private static func readOtherName(
        _ storage: UnsafeMutablePointer<JSONStorage>, _ start: UnsafePointer<UInt8>, _ stretch: JSONStretch,
        _ tape: UnsafeMutablePointer<UInt64>, _ t: Int, _ frame: UnsafeMutablePointer<JSONFrame>
    ) -> (end: UnsafePointer<UInt8>, text: JSONStretch, fault: JSONFault?) {
        var (p, text) = (start, stretch)
        var name = string(p + 1, in: text)
        if name.reason == nil, name.end >= text.limit {
            (text, p) = moved(storage, from: p, in: text)
            name = string(p + 1, in: text)
        }
        if let reason = name.reason { return (p, text, text.fault(reason, name.end)) }
        let length = name.end - p &- 1
        let end = name.end + 1
        guard length <= JSONWord.longestLength else {
            return (p, text, JSONFault(reason: .length, offset: text.offset(of: p) &+ 1))
        }
        if name.kind == .escaped {
            let stored = storage.pointee.names.store(p + 1, length)
            tape[t] = JSONWord(.unescapedName, offset: stored.offset, length: stored.length).bits
            JSONFrame.diverge(frame)
            return (end, text, nil)
        }
        tape[t] = JSONWord(name.kind, offset: text.offset(of: p) &+ 1, length: length).bits
        while frame.pointee.predicted < frame.pointee.predictedEnd {
            let word = JSONWord(bits: tape[frame.pointee.predicted])
            JSONFrame.follow(frame, tape)
            if word.length == length, let other = text.name(word), JSONBytes.areEqual(p + 1, other, length) { return (end, text, nil) }
        }
        JSONFrame.diverge(frame)
        return (end, text, nil)
    }
}

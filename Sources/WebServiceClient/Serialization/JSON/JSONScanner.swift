/// Reads a JSON text (RFC 8259) once, from its first byte to its last, and writes the tape.
///
/// It recurses nowhere, and knows no depth but the limit. All of the text is checked, also what nobody will decode: duplicate names,
/// control characters, escapes, surrogates and UTF-8 included.
///
/// Objects in a list mostly have the same names in the same order. So each object follows an earlier one, its counterpart: a name
/// that stands where it is foretold is read by one comparison, and an object whose names are all found so has no name twice.
struct JSONScanner {
    /// What is to be read.
    enum Extent {
        /// One value and nothing after it.
        case document
        /// Elements of an array, the beginning of which lies before the text, as far as they are whole.
        case elements
    }

    /// What may come next among the elements of an array.
    enum Expectation {
        case elementOrEnd, element, commaOrEnd, nothing
    }

    let storage: UnsafeMutablePointer<JSONStorage>
    private let depthLimit: Int
    private let extent: Extent

    /// For elements: what has been read whole, and what may come next.
    private(set) var position: Int
    private(set) var expectation: Expectation
    private(set) var count = 0

    init(_ storage: UnsafeMutablePointer<JSONStorage>, depthLimit: Int) {
        self.storage = storage
        self.depthLimit = depthLimit
        extent = .document
        position = 0
        expectation = .element
    }

    /// A scanner of elements from some byte on.
    init(elementsIn storage: UnsafeMutablePointer<JSONStorage>, from position: Int, expecting expectation: Expectation, depthLimit: Int) {
        self.storage = storage
        self.depthLimit = depthLimit
        extent = .elements
        self.position = position
        self.expectation = expectation
    }

    /// Reads all there is.
    ///
    /// - Returns: what stopped it before the end: for elements, at the first byte that isn't part of a whole one.
    mutating func run() -> JSONFault? {
        let base = UnsafePointer(storage.pointee.bytes)
        let end = base + storage.pointee.count
        var p = base + position
        var tape = storage.pointee.tape
        var capacity = storage.pointee.tapeCapacity
        var t = 0
        let frames = storage.pointee.frames
        var depth = 0
        var frame = JSONFrame(head: -1)
        var isObject = false
        let streams = extent == .elements

        if streams {
            tape[0] = JSONWord(.array, offset: 0, length: 0).bits
            tape[2] = JSONWord(-1, 0).bits
            t = JSONWord.arrayHead
            frame.head = 0
            frames[0] = JSONFrame(head: -1)
            depth = 1
        }
        defer {
            if streams {
                // What was begun and isn't whole is left out.
                tape[1] = JSONWord(count, storage.pointee.tapeCount).bits
            }
        }
        if streams { storage.pointee.tapeCount = t }

        func fault(_ reason: JSONFault.Reason, _ place: UnsafePointer<UInt8>) -> JSONFault {
            JSONFault(reason: place >= end ? .truncated : reason, offset: min(place, end) - base)
        }

        var goesOn = !streams || expectation == .element || expectation == .elementOrEnd
        if streams, expectation == .elementOrEnd {
            Self.skipSpace(&p)
            if p.pointee == UInt8(ascii: "]"), p < end {
                position = p + 1 - base
                expectation = .nothing
                return nil
            }
        }

        while true {
            if goesOn {
                // A value.
                Self.skipSpace(&p)
                if t &+ 16 > capacity {
                    storage.pointee.growTape(keeping: t)
                    tape = storage.pointee.tape
                    capacity = storage.pointee.tapeCapacity
                }
                let byte = p.pointee
                switch byte {
                case UInt8(ascii: "\""):
                    let start = p + 1
                    var kind = JSONKind.ascii
                    var q = Self.plainEnd(start)
                    if q.pointee != UInt8(ascii: "\"") {
                        let slow = Self.slowString(start, from: q, upTo: end)
                        if let reason = slow.reason { return fault(reason, slow.end) }
                        kind = slow.kind
                        q = slow.end
                    }
                    let length = q - start
                    if length > JSONWord.longestLength { return fault(.length, p) }
                    tape[t] = JSONWord(kind, offset: start - base, length: length).bits
                    t &+= 1
                    p = q + 1
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    if depth >= depthLimit { return fault(.depth, p) }
                    let opensObject = byte == UInt8(ascii: "{")
                    let kind: JSONKind = opensObject ? .object : .array
                    frames[depth] = frame
                    depth &+= 1
                    tape[t] = JSONWord(kind, offset: p - base, length: 0).bits
                    tape[t &+ 2] = JSONWord(frame.head, isObject ? 0 : frame.count).bits
                    let counterpart = frame.counterpart
                    frame = JSONFrame(head: t)
                    if counterpart >= 0, JSONWord(bits: tape[counterpart]).kind == kind {
                        let inside = JSONWord(bits: tape[counterpart &+ 1])
                        if opensObject {
                            frame.predicted = counterpart &+ JSONWord.objectHead
                            frame.predictedEnd = inside.low
                        } else if inside.high > 0 {
                            frame.counterpart = counterpart &+ JSONWord.arrayHead
                        }
                    }
                    isObject = opensObject
                    t &+= opensObject ? JSONWord.objectHead : JSONWord.arrayHead
                    p += 1
                    Self.skipSpace(&p)
                    if p.pointee == byte &+ 2 {
                        // Closed below, as one that has members.
                        goesOn = false
                        continue
                    }
                    if !opensObject { continue }
                    if let problem = readName(&p, end, base, tape, &t, &frame, .name) { return problem }
                    continue
                case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                    var q = p
                    if byte == UInt8(ascii: "-") { q += 1 }
                    if q.pointee == UInt8(ascii: "0") {
                        q += 1
                    } else {
                        let digits = q
                        while q.pointee &- 48 < 10 { q += 1 }
                        if q == digits { return fault(.number, q) }
                    }
                    var kind = JSONKind.integer
                    if q.pointee == UInt8(ascii: ".") || q.pointee | 0x20 == UInt8(ascii: "e") {
                        kind = .number
                        if let reason = Self.fractionAndExponent(&q) { return fault(reason, q) }
                    }
                    let length = q - p
                    if length > JSONWord.longestLength { return fault(.length, p) }
                    tape[t] = JSONWord(kind, offset: p - base, length: length).bits
                    t &+= 1
                    p = q
                    // Its next digit may be in the next piece.
                    if streams, depth == 1, p >= end { return fault(.truncated, p) }
                case UInt8(ascii: "t"):
                    guard JSONBytes.load4(p) == 0x6575_7274 else { return Self.literalFault("true", p, end, base) }
                    tape[t] = JSONWord(.true, offset: p - base, length: 4).bits
                    t &+= 1
                    p += 4
                case UInt8(ascii: "f"):
                    guard JSONBytes.load4(p + 1) == 0x6573_6C61 else { return Self.literalFault("false", p, end, base) }
                    tape[t] = JSONWord(.false, offset: p - base, length: 5).bits
                    t &+= 1
                    p += 5
                case UInt8(ascii: "n"):
                    guard JSONBytes.load4(p) == 0x6C6C_756E else { return Self.literalFault("null", p, end, base) }
                    tape[t] = JSONWord(.null, offset: p - base, length: 4).bits
                    t &+= 1
                    p += 4
                default:
                    if p >= end, end == base || depth == 0 { return JSONFault(reason: .empty, offset: end - base) }
                    return fault(byte == UInt8(ascii: "]") && !isObject && frame.count > 0 ? .trailingComma : .value, p)
                }
                if depth == 0 { break }
                frame.count &+= 1
            }

            // After a value, or at the end of an empty container, or among elements after one of an earlier text.
            if streams, depth == 1, goesOn {
                count = frame.count
                storage.pointee.tapeCount = t
                position = p - base
                expectation = .commaOrEnd
            }
            goesOn = true
            Self.skipSpace(&p)
            let mark = p.pointee
            if mark == UInt8(ascii: ",") {
                p += 1
                if isObject {
                    Self.skipSpace(&p)
                    if t &+ 16 > capacity {
                        storage.pointee.growTape(keeping: t)
                        tape = storage.pointee.tape
                        capacity = storage.pointee.tapeCapacity
                    }
                    if let problem = readName(&p, end, base, tape, &t, &frame, .trailingComma) { return problem }
                } else if streams, depth == 1 {
                    position = p - base
                    expectation = .element
                }
                continue
            }
            guard mark == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                return fault(isObject ? .afterMember : .afterElement, p)
            }
            p += 1
            if streams, depth == 1 {
                position = p - base
                expectation = .nothing
                return nil
            }
            // Closes the container, which is a value of the one around it.
            if isObject {
                tape[frame.head &+ 3] = UInt64(truncatingIfNeeded: frame.head &+ JSONWord.objectHead)
                if frame.hasDiverged, frame.count > 1,
                    let duplicate = JSONNames(storage).duplicate(from: frame.head &+ JSONWord.objectHead, count: frame.count, end: t)
                {
                    return JSONFault(reason: .duplicate, offset: duplicate)
                }
            }
            tape[frame.head &+ 1] = JSONWord(frame.count, t).bits
            let closed = frame.head
            depth &-= 1
            frame = frames[depth]
            if depth == 0 { break }
            isObject = JSONWord(bits: tape[frame.head]).kind == .object
            frame.count &+= 1
            if !isObject { frame.counterpart = closed }
            if streams, depth == 1 {
                count = frame.count
                storage.pointee.tapeCount = t
                position = p - base
                expectation = .commaOrEnd
            }
            goesOn = false
        }

        storage.pointee.tapeCount = t
        Self.skipSpace(&p)
        position = p - base
        return p < end ? JSONFault(reason: .trailing, offset: p - base) : nil
    }
}

/// Reads a JSON text (RFC 8259) once, from the first byte to the last, and writes the tape.
///
/// It isn't recursive; only the limit bounds the depth. The whole text is checked, including parts that aren't decoded: duplicate names,
/// control characters, escapes, surrogates and UTF-8.
///
/// Objects in a list mostly have the same names in the same order. Each object therefore follows an earlier one, its counterpart: a
/// predicted name is read by one comparison, and an object in which all predictions hold has no duplicate names.
struct JSONScanner {
    /// The part of a text to read.
    enum Extent {
        /// One value and nothing after it.
        case document
        /// The complete elements of an array that begins before the text.
        case elements
    }

    /// The possible next tokens among the elements of an array.
    enum Expectation {
        case elementOrEnd, element, commaOrEnd, nothing
    }

    let storage: UnsafeMutablePointer<JSONStorage>
    private let depthLimit: Int
    private let extent: Extent

    /// For elements: the end of the last complete one, and the possible next tokens.
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

    /// Creates a scanner of elements from a position on.
    init(elementsIn storage: UnsafeMutablePointer<JSONStorage>, from position: Int, expecting expectation: Expectation, depthLimit: Int) {
        self.storage = storage
        self.depthLimit = depthLimit
        extent = .elements
        self.position = position
        self.expectation = expectation
    }

    /// Scans the text.
    ///
    /// - Returns: The fault that stopped the scan before the end; for elements, at the first byte that isn't part of a complete one.
    mutating func run() -> JSONFault? {
        // State that a non-inlined call could change would stay in memory and be reloaded at each byte, and a method would get a copy of
        // all of it. Such calls are therefore static functions that take and return values.
        let storage = storage
        var text = JSONStretch(storage)
        var p = text.base + position
        var tape = storage.pointee.tape
        var capacity = storage.pointee.tapeCapacity
        var t = 0
        let outermost = storage.pointee.frames
        let deepest = outermost + depthLimit
        // The current container. It is updated in place, since copying it at each bracket would take much of the time.
        var frame = outermost
        frame.initialize(to: JSONFrame(head: -1, isObject: false))
        var isObject = false
        // For elements, the array that contains them.
        let list = extent == .elements ? outermost + 1 : nil

        if list != nil {
            tape[0] = JSONWord(.array, offset: 0, length: 0).bits
            tape[2] = JSONWord(-1, 0).bits
            t = JSONWord.arrayHead
            frame += 1
            frame.initialize(to: JSONFrame(head: 0, isObject: false))
            storage.pointee.tapeCount = t
        }
        defer {
            // Incomplete values are omitted.
            if list != nil { tape[1] = JSONWord(count, storage.pointee.tapeCount).bits }
        }

        var goesOn = list == nil || expectation == .element || expectation == .elementOrEnd
        if list != nil, expectation == .elementOrEnd {
            Self.skipSpace(&p)
            if p.pointee == UInt8(ascii: "]"), p < text.end {
                pass(p + 1, in: text, expecting: .nothing)
                return nil
            }
        }

        while true {
            if goesOn {
                Self.skipSpace(&p)
                if t &+ Self.room > capacity { (tape, capacity) = Self.grownTape(storage, keeping: t) }
                let byte = p.pointee
                switch byte {
                case UInt8(ascii: "\""):
                    let string = Self.string(p + 1, in: text)
                    if let reason = string.reason { return text.fault(reason, string.end) }
                    if string.end >= text.limit {
                        (text, p) = Self.moved(storage, from: p, in: text)
                        continue
                    }
                    let length = string.end - p &- 1
                    if length > JSONWord.longestLength { return text.fault(.length, p) }
                    tape[t] = JSONWord(string.kind, offset: text.offset(of: p) &+ 1, length: length).bits
                    t &+= 1
                    p = string.end + 1
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    if frame >= deepest { return text.fault(.depth, p) }
                    let opensObject = byte == UInt8(ascii: "{")
                    tape[t] = JSONWord(opensObject ? .object : .array, offset: text.offset(of: p), length: 0).bits
                    tape[t &+ 2] = JSONWord(frame.pointee.head, isObject ? 0 : frame.pointee.count).bits
                    frame = JSONFrame.open(in: frame, head: t, isObject: opensObject, tape)
                    isObject = opensObject
                    t &+= opensObject ? JSONWord.objectHead : JSONWord.arrayHead
                    p += 1
                    Self.skipSpace(&p)
                    if p.pointee == byte &+ 2 {
                        // Closed below, like a container with members.
                        goesOn = false
                    } else if opensObject, let fault = Self.readName(storage, &p, &text, tape, &t, frame, atBracket: .name) {
                        return fault
                    }
                    continue
                case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                    let number = Self.number(p)
                    if let reason = number.reason { return text.fault(reason, number.end) }
                    let length = number.end - p
                    if length > JSONWord.longestLength { return text.fault(.length, p) }
                    tape[t] = JSONWord(number.kind, offset: text.offset(of: p), length: length).bits
                    t &+= 1
                    p = number.end
                    // The next piece may continue the number.
                    if frame == list, p >= text.end { return text.fault(.truncated, p) }
                case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
                    let literal = Self.literal(p)
                    if literal.reason != nil { return Self.literalFault(p, text) }
                    tape[t] = JSONWord(literal.kind, offset: text.offset(of: p), length: literal.end - p).bits
                    t &+= 1
                    p = literal.end
                default:
                    if p >= text.end, text.end == text.base || frame == outermost {
                        return JSONFault(reason: .empty, offset: text.offset(of: text.end))
                    }
                    return text.fault(byte == UInt8(ascii: "]") && !isObject && frame.pointee.count > 0 ? .trailingComma : .value, p)
                }
                if frame == outermost { break }
                frame.pointee.count &+= 1
                if frame == list { pass(p, in: text, elements: frame.pointee.count, tape: t) }
            }

            // After a value, at the end of an empty container, or among elements after one of an earlier text.
            goesOn = true
            Self.skipSpace(&p)
            let mark = p.pointee
            if mark == UInt8(ascii: ",") {
                p += 1
                if isObject {
                    Self.skipSpace(&p)
                    if t &+ Self.room > capacity { (tape, capacity) = Self.grownTape(storage, keeping: t) }
                    if let fault = Self.readName(storage, &p, &text, tape, &t, frame, atBracket: .trailingComma) { return fault }
                } else if frame == list {
                    pass(p, in: text, expecting: .element)
                }
                continue
            }
            guard mark == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                return text.fault(isObject ? .afterMember : .afterElement, p)
            }
            p += 1
            if frame == list {
                pass(p, in: text, expecting: .nothing)
                return nil
            }
            // Closes the container, which is a value of its parent.
            if let duplicate = Self.close(storage, frame, end: t, tape) { return JSONFault(reason: .duplicate, offset: duplicate) }
            let closed = frame.pointee.head
            frame -= 1
            if frame == outermost { break }
            isObject = frame.pointee.isObject
            frame.pointee.count &+= 1
            if !isObject { frame.pointee.counterpart = closed }
            if frame == list { pass(p, in: text, elements: frame.pointee.count, tape: t) }
            goesOn = false
        }

        storage.pointee.tapeCount = t
        Self.skipSpace(&p)
        position = text.offset(of: p)
        return p < text.end ? JSONFault(reason: .trailing, offset: position) : nil
    }

    /// Records that elements have been read up to a position.
    @inline(__always) private mutating func pass(_ p: UnsafePointer<UInt8>, in text: JSONStretch, expecting next: Expectation) {
        position = text.offset(of: p)
        expectation = next
    }

    /// Records the number of elements that have been read and of words that have been written.
    @inline(__always) private mutating func pass(_ p: UnsafePointer<UInt8>, in text: JSONStretch, elements: Int, tape: Int) {
        count = elements
        storage.pointee.tapeCount = tape
        pass(p, in: text, expecting: .commaOrEnd)
    }
}

/// A container that encloses the scanner's position.
struct JSONFrame {
    var head: Int
    let isObject: Bool
    /// Whether a name differed from the earlier object's.
    var hasDiverged = false
    var count = 0
    /// For objects: the likely next name, in an earlier object, and the end of that object.
    var predicted = 0
    var predictedEnd = 0
    /// The value in an earlier container that is likely to resemble the next one here; -1 for none.
    var counterpart = -1

    @inline(__always) init(head: Int, isObject: Bool) {
        self.head = head
        self.isObject = isObject
    }
}

// Functions on pointers, since a mutating method may copy the whole structure.
extension JSONFrame {
    /// Enters a container that begins at an index of the tape.
    @inline(__always) static func open(
        in outer: UnsafeMutablePointer<JSONFrame>, head: Int, isObject: Bool, _ tape: UnsafeMutablePointer<UInt64>
    ) -> UnsafeMutablePointer<JSONFrame> {
        let counterpart = outer.pointee.counterpart
        let frame = outer + 1
        frame.initialize(to: JSONFrame(head: head, isObject: isObject))
        guard counterpart >= 0, JSONWord(bits: tape[counterpart]).kind == (isObject ? .object : .array) else { return frame }
        let inside = JSONWord(bits: tape[counterpart &+ 1])
        if isObject {
            frame.pointee.predicted = counterpart &+ JSONWord.objectHead
            frame.pointee.predictedEnd = inside.low
        } else if inside.high > 0 {
            frame.pointee.counterpart = counterpart &+ JSONWord.arrayHead
        }
        return frame
    }

    /// Moves to the next name of the earlier object; the current name's value becomes the counterpart of the next value.
    @inline(__always) static func follow(_ frame: UnsafeMutablePointer<JSONFrame>, _ tape: UnsafeMutablePointer<UInt64>) {
        let value = frame.pointee.predicted &+ 1
        frame.pointee.counterpart = value
        frame.pointee.predicted = JSONWord.end(ofValueAt: value, tape)
    }

    static func diverge(_ frame: UnsafeMutablePointer<JSONFrame>) {
        frame.pointee.predicted = frame.pointee.predictedEnd
        frame.pointee.counterpart = -1
        frame.pointee.hasDiverged = true
    }
}

// Memory operations of the scanner.
extension JSONScanner {
    /// The number of free words before each value, and before each name with its value; no more are written without another check.
    static let room = 16

    @inline(never) static func grownTape(
        _ storage: UnsafeMutablePointer<JSONStorage>, keeping count: Int
    ) -> (tape: UnsafeMutablePointer<UInt64>, capacity: Int) {
        storage.pointee.growTape(keeping: count)
        return (storage.pointee.tape, storage.pointee.tapeCapacity)
    }

    /// Writes the rest of a container's head.
    ///
    /// - Returns: The text offset of a duplicate name.
    @inline(__always) static func close(
        _ storage: UnsafeMutablePointer<JSONStorage>, _ frame: UnsafeMutablePointer<JSONFrame>, end: Int,
        _ tape: UnsafeMutablePointer<UInt64>
    ) -> Int? {
        let head = frame.pointee.head
        if frame.pointee.isObject {
            tape[head &+ 3] = UInt64(truncatingIfNeeded: head &+ JSONWord.objectHead)
            if frame.pointee.hasDiverged, frame.pointee.count > 1,
                let duplicate = JSONNames(storage).duplicate(from: head &+ JSONWord.objectHead, count: frame.pointee.count, end: end)
            {
                return duplicate
            }
        }
        tape[head &+ 1] = JSONWord(frame.pointee.count, end).bits
        return nil
    }

    /// Continues in the storage's own copy of the rest of a text, from the beginning of a name or a string.
    @inline(never) static func moved(
        _ storage: UnsafeMutablePointer<JSONStorage>, from p: UnsafePointer<UInt8>, in text: JSONStretch
    ) -> (text: JSONStretch, place: UnsafePointer<UInt8>) {
        let offset = text.offset(of: p)
        storage.pointee.copyRest(from: offset)
        let rest = JSONStretch(storage)
        return (rest, rest.base + (offset &- rest.origin))
    }
}

// The names of members.
extension JSONScanner {
    /// Reads the name of a member and the colon after it.
    ///
    /// - Parameter reason: The fault for a bracket in place of the name.
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

    /// Returns the earlier object's name for this place, if the text repeats it with its closing quotation mark.
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

    /// Reads a name that differs from the prediction. If the earlier object has it further on, the prediction continues from there.
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

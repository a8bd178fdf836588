/// A container that the scanner is inside of.
struct JSONFrame {
    var head: Int
    let isObject: Bool
    /// Whether a name has come that the earlier object didn't have.
    var hasDiverged = false
    var count = 0
    /// For objects: the name in an earlier object which the next name is likely to be, and the end of that object.
    var predicted = 0
    var predictedEnd = 0
    /// The value in an earlier container that is likely to be like the next one here; -1 for none.
    var counterpart = -1

    @inline(__always) init(head: Int, isObject: Bool) {
        self.head = head
        self.isObject = isObject
    }
}

// By pointers: a mutating method may copy all of it.
extension JSONFrame {
    /// Goes into a container that begins at an index of the tape.
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

    /// Goes on to the next name of the earlier object; the value of this one is the counterpart of the value to come.
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

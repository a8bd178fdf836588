// What the scanner does to the memory in which it reads.
extension JSONScanner {
    /// So many words are free before each value, and before each name with its value: no more are written without looking again.
    static let room = 16

    @inline(never) static func grownTape(
        _ storage: UnsafeMutablePointer<JSONStorage>, keeping count: Int
    ) -> (tape: UnsafeMutablePointer<UInt64>, capacity: Int) {
        storage.pointee.growTape(keeping: count)
        return (storage.pointee.tape, storage.pointee.tapeCapacity)
    }

    /// Writes the rest of a container's head.
    ///
    /// - Returns: where in the text a name stands that the object has had before.
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

    /// Goes on in the storage's own copy of the rest of a text, from the beginning of a name or a string.
    @inline(never) static func moved(
        _ storage: UnsafeMutablePointer<JSONStorage>, from p: UnsafePointer<UInt8>, in text: JSONStretch
    ) -> (text: JSONStretch, place: UnsafePointer<UInt8>) {
        let offset = text.offset(of: p)
        storage.pointee.copyRest(from: offset)
        let rest = JSONStretch(storage)
        return (rest, rest.base + (offset &- rest.origin))
    }
}

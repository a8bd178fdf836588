import Foundation

/// The elements of an array in a payload's text that have arrived and haven't been read.
struct JSONElementText {
    private let document: JSONDocument
    /// The maximum size of an element in bytes, and the maximum nesting of its containers.
    private let limit: Int
    private let depthLimit: Int
    /// The number of payload bytes before the document's text.
    private var dropped: Int
    /// The position of the next element in the document's text, and the scanner's state there.
    private var position = 0
    private var expectation = JSONScanner.Expectation.elementOrEnd
    /// The number of blanks since the last element.
    private var blanks = 0
    /// The search for the end of a cut element, and the position that it has reached.
    private var pending: (end: JSONValueEnd, place: Int)?

    /// - Parameter begin: The offset in the payload after the array's bracket.
    init(_ document: JSONDocument, from begin: Int, upTo limit: Int, depthLimit: Int) {
        self.document = document
        self.limit = limit
        self.depthLimit = depthLimit
        dropped = begin
    }

    /// Whether the array has ended, and its end in the payload.
    var isAtEnd: Bool { expectation == .nothing }
    var end: Int { dropped + position - 1 }
    /// The bytes received from the array's end on.
    var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: document.text[(position - 1)...])) }

    mutating func append(_ piece: UnsafeRawBufferPointer) { document.storage.pointee.append(piece) }

    /// Drops the text that has been read, which invalidates everything read from it.
    mutating func drop() {
        guard position > 0 else { return }
        document.storage.pointee.removeFirst(position)
        dropped += position
        if let cut = pending { pending = (cut.end, cut.place - position) }
        position = 0
    }

    /// Reads all complete elements.
    ///
    /// - Returns: The number of elements on the tape.
    mutating func read() throws -> Int {
        guard try hasWholeElement() else { return 0 }
        let (count, fault) = scan()
        if count > 0 || isAtEnd { return count }
        // Nothing could be read: the element is either incomplete or invalid.
        guard let fault else { return 0 }
        guard let first = firstByte() else {
            try skipBlanks()
            return 0
        }
        if expectation == .commaOrEnd { throw error(fault) }
        var end = JSONValueEnd()
        let rest = UnsafeBufferPointer(rebasing: document.text[first...])
        if end.feed(rest) != nil { throw error(fault) }
        // The blanks before the element don't count towards its size.
        position = first
        pending = (end, document.text.count)
        try checkSize(rest.count)
        return 0
    }

    /// The reason why the array is incomplete or invalid.
    mutating func errorAtEnd() -> DecodingError {
        error(scan().fault ?? JSONFault(reason: .truncated, offset: document.storage.pointee.count))
    }

    /// Whether the cut element is complete now.
    private mutating func hasWholeElement() throws -> Bool {
        guard var cut = pending else { return true }
        let rest = UnsafeBufferPointer(rebasing: document.text[cut.place...])
        if cut.end.feed(rest) != nil {
            pending = nil
            return true
        }
        pending = (cut.end, document.text.count)
        try checkSize(document.text.count - position)
        return false
    }

    /// Scans from the position on and writes complete elements to the tape.
    private mutating func scan() -> (count: Int, fault: JSONFault?) {
        document.storage.pointee.clearTape()
        var scanner = JSONScanner(elementsIn: document.storage, from: position, expecting: expectation, depthLimit: depthLimit)
        let fault = scanner.run()
        position = scanner.position
        expectation = scanner.expectation
        if scanner.count > 0 { blanks = 0 }
        return (scanner.count, fault)
    }

    /// Drops blanks, since a run of them may be endless.
    private mutating func skipBlanks() throws {
        blanks += document.text.count - position
        position = document.text.count
        if blanks > limit { throw tooLarge("The space between two elements") }
    }

    private func firstByte() -> Int? {
        document.text[position...].firstIndex { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
    }

    // MARK: Errors

    private func checkSize(_ size: Int) throws {
        if size > limit { throw tooLarge("An element of the array") }
    }

    private func tooLarge(_ what: String) -> DecodingError {
        let offset = dropped + document.text.count
        return JSONDocument.corrupted(JSONSyntaxError(size: what, limit: limit, offset: offset), at: document.storage.pointee.rootPath)
    }

    private func error(_ fault: JSONFault) -> DecodingError {
        let limit = fault.reason == .depth ? document.reader.boundedDepth : limit
        return JSONDocument.corrupted(
            JSONSyntaxError(fault, in: document.text, after: dropped, limit: limit), at: document.storage.pointee.rootPath)
    }
}

import Foundation

/// The elements of an array in a payload's text: what of them has come and hasn't been read.
struct JSONElementText {
    private let document: JSONDocument
    /// The most bytes that an element may have, and how many containers may stand in it inside each other.
    private let limit: Int
    private let depthLimit: Int
    /// How much of the payload lies before the document's text.
    private var dropped: Int
    /// Where in the document's text the next element is, and how much of it has been read.
    private var position = 0
    private var expectation = JSONScanner.Expectation.elementOrEnd
    /// How many blanks have come since the last element.
    private var blanks = 0
    /// The end of an element that was cut, and up to where it has been sought.
    private var pending: (end: JSONValueEnd, place: Int)?

    /// - Parameter begin: where in the payload the array's bracket ends.
    init(_ document: JSONDocument, from begin: Int, upTo limit: Int, depthLimit: Int) {
        self.document = document
        self.limit = limit
        self.depthLimit = depthLimit
        dropped = begin
    }

    /// Whether the array has ended, and where in the payload that was.
    var isAtEnd: Bool { expectation == .nothing }
    var end: Int { dropped + position - 1 }
    /// What has come from the array's end on.
    var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: document.text[(position - 1)...])) }

    mutating func append(_ piece: UnsafeRawBufferPointer) { document.storage.pointee.append(piece) }

    /// Drops what has been read from the document's text: nothing that was read from it is good any more.
    mutating func drop() {
        guard position > 0 else { return }
        document.storage.pointee.removeFirst(position)
        dropped += position
        if let cut = pending { pending = (cut.end, cut.place - position) }
        position = 0
    }

    /// Reads as many elements as are whole.
    ///
    /// - Returns: how many of them are on the tape.
    mutating func read() throws -> Int {
        guard try hasWholeElement() else { return 0 }
        let (count, fault) = scan()
        if count > 0 || isAtEnd { return count }
        // Nothing of it could be read: either it isn't whole, or it is wrong.
        guard let fault else { return 0 }
        guard let first = firstByte() else {
            try skipBlanks()
            return 0
        }
        if expectation == .commaOrEnd { throw error(fault) }
        var end = JSONValueEnd()
        let rest = UnsafeBufferPointer(rebasing: document.text[first...])
        if end.feed(rest) != nil { throw error(fault) }
        // The blanks before it aren't part of what it may measure.
        position = first
        pending = (end, document.text.count)
        try checkSize(rest.count)
        return 0
    }

    /// Why what has come is no whole array.
    mutating func errorAtEnd() -> DecodingError {
        error(scan().fault ?? JSONFault(reason: .truncated, offset: document.storage.pointee.count))
    }

    /// Whether the element that was cut is whole by now.
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

    /// Reads from the position on; what is whole gets on the tape.
    private mutating func scan() -> (count: Int, fault: JSONFault?) {
        document.storage.pointee.clearTape()
        var scanner = JSONScanner(elementsIn: document.storage, from: position, expecting: expectation, depthLimit: depthLimit)
        let fault = scanner.run()
        position = scanner.position
        expectation = scanner.expectation
        if scanner.count > 0 { blanks = 0 }
        return (scanner.count, fault)
    }

    /// Drops what is nothing but blanks: of them there may be no end either.
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

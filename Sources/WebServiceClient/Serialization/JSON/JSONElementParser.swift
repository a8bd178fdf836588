package import Foundation

/// Reads the elements of an array that lies inside a payload, from pieces of the payload.
///
/// Whole elements of a piece are read at once. One that is cut is followed to its end by ``JSONValueEnd`` as the pieces come, and
/// read then: so each byte is looked at no more than three times, whatever the pieces are, and each element is there as soon as its
/// last byte is. What lies around the array is kept, and checked at the end as the JSON text that it is with no elements.
package final class JSONElementParser {
    private enum Stage { case mark, head, elements, tail, ended }

    private let reader: JSONReader
    /// Where the array may be, and whether it is an error when there is none.
    private let paths: [[String]]
    private let needsArray: Bool
    private let bounds: JSONStreamBounds
    /// What the places of elements are places in.
    let document: JSONDocument
    private var stage = Stage.mark
    private var finder: JSONPathFinder
    /// The payload without the elements, as far as it has come.
    private(set) var surroundings = Data()
    /// How many bytes of the payload have come, and where in it the array's first element and its end are.
    private var total = 0
    private var begin = 0
    private var end = 0

    /// Where in the document's text the next element is, and how much of it has been read.
    private var position = 0
    private var expectation = JSONScanner.Expectation.elementOrEnd
    /// How much of the payload lies before the document's text.
    private var dropped = 0
    /// How many blanks have come since the last element.
    private var blanks = 0
    /// The end of an element that was cut, and up to where it has been sought.
    private var pending: (end: JSONValueEnd, place: Int)?
    /// The elements on the tape: how many are left, and the next one's number and index.
    private var left = 0
    private var number = 0
    private var node = 0

    /// A parser of the array at a path.
    convenience init(_ reader: JSONReader, path: [String], bounds: JSONStreamBounds) {
        self.init(reader, paths: [path], needsArray: true, bounds: bounds)
    }

    /// A parser of the first array at one of some paths; with none, all of the payload is what lies around.
    package convenience init(_ reader: JSONReader, anyOf paths: [[String]], bounds: JSONStreamBounds) {
        self.init(reader, paths: paths, needsArray: false, bounds: bounds)
    }

    private init(_ reader: JSONReader, paths: [[String]], needsArray: Bool, bounds: JSONStreamBounds) {
        self.reader = reader
        self.paths = paths
        self.needsArray = needsArray
        self.bounds = bounds
        finder = JSONPathFinder(paths: paths)
        document = JSONPool.take(reader)
    }

    deinit { JSONPool.giveBack(document) }

    /// The largest piece that should be given at once.
    package static let pieceSize = 1 << 16

    /// Whether everything has been read.
    package var isAtEnd: Bool { stage == .ended }
    /// Where the array is, once it has begun.
    package private(set) var path: [String]?
    /// The bytes of the payload so far.
    package var count: Int { total }

    // MARK: Input

    /// Takes a piece of the payload, after ``next()`` has had no more elements.
    package func feed(_ piece: UnsafeRawBufferPointer) throws {
        let (sum, overflows) = total.addingReportingOverflow(piece.count)
        if overflows || sum > bounds.total { throw tooLarge("The payload", bounds.total) }
        total = sum
        try take(piece)
    }

    private func take(_ piece: UnsafeRawBufferPointer) throws {
        guard !piece.isEmpty else { return }
        switch stage {
        case .mark:
            surroundings.append(contentsOf: piece)
            if surroundings.count >= 4 { try readMark() }
        case .head:
            guard let length = finder.feed(piece.bindMemory(to: UInt8.self)) else { return try surround(piece) }
            try surround(UnsafeRawBufferPointer(rebasing: piece[..<length]))
            begin = surroundings.count
            path = finder.trail
            document.storage.pointee.rootPath = origin
            dropped = begin
            stage = .elements
            try take(UnsafeRawBufferPointer(rebasing: piece[length...]))
        case .elements:
            drop()
            document.storage.pointee.append(piece)
        case .tail, .ended:
            try surround(piece)
        }
    }

    private func surround(_ piece: UnsafeRawBufferPointer) throws {
        guard surroundings.count + piece.count <= bounds.surroundings else {
            throw tooLarge("What lies around the array", bounds.surroundings)
        }
        surroundings.append(contentsOf: piece)
    }

    /// Skips the byte order mark of UTF-8, and refuses other encodings, once there are bytes enough to tell.
    private func readMark() throws {
        let lead = surroundings
        let isOther = lead.prefix(2).contains(0) || lead.starts(with: [0xFE, 0xFF]) || lead.starts(with: [0xFF, 0xFE])
        if isOther {
            throw SerializationError(.charset, "The payload is UTF-16 or UTF-32, which can't be read in pieces: decode it as a whole.")
        }
        stage = .head
        surroundings = Data()
        let mark = lead.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        total -= mark
        try lead.dropFirst(mark).withUnsafeBytes { try take($0) }
    }

    /// Says that the payload has ended, after ``next()`` has had no more elements; again, while there are more.
    ///
    /// - Throws: when it wasn't whole: no end of the payload is the end of a list that it cut short.
    package func finish() throws {
        switch stage {
        case .mark:
            // So short that it hasn't been looked at yet.
            try readMark()

        case .elements:
            drop()
            throw syntaxError(try scan() ?? JSONFault(reason: .truncated, offset: document.storage.pointee.count))
        case .head, .tail:
            try checkSurroundings()
            stage = .ended
        case .ended:
            break
        }
    }

    private func checkSurroundings() throws {
        let hasArray = stage == .tail
        let whole = JSONPool.take(reader)
        defer { JSONPool.giveBack(whole) }
        surroundings.withUnsafeBytes { whole.storage.pointee.append($0) }
        if let fault = whole.scan() {
            // Behind the array, its elements count.
            let isBehind = hasArray && fault.offset >= begin
            let limit = reader.boundedDepth
            throw JSONDocument.corrupted(JSONSyntaxError(fault, in: whole.text, after: isBehind ? end - begin : 0, limit: limit))
        }
        guard needsArray, let path = paths.first else { return }
        let place = try whole.place(at: path)
        if !hasArray { throw whole.mismatch([Any].self, at: place) }
    }

    // MARK: Output

    /// The next element; `nil` when more of the payload is needed, or no element is left. It is good until the next is asked for.
    package func nextNode() throws -> JSONNode? { try next().map { JSONNode(document, $0) } }

    /// The place of the next element, on the tape of ``document``; `nil` when more of the payload is needed, or no element is left.
    func next() throws -> JSONPlace? {
        guard stage == .elements || left > 0 else { return nil }
        if left == 0 {
            guard try readElements() else { return nil }
        }
        let place = JSONPlace(node: node, container: 0, number: number)
        node = document.end(ofValueAt: node)
        number += 1
        left -= 1
        return place
    }

    /// Reads as many elements as are whole.
    private func readElements() throws -> Bool {
        drop()
        guard try hasWholeElement() else { return false }
        document.storage.pointee.firstIndex += number
        let fault = try scan()
        if left > 0 || stage != .elements { return left > 0 }
        // Nothing of it could be read: either it isn't whole, or it is wrong.
        guard let fault else { return false }
        guard let first = firstByte() else {
            try skipBlanks()
            return false
        }
        if expectation == .commaOrEnd { throw syntaxError(fault) }
        var end = JSONValueEnd()
        let rest = UnsafeBufferPointer(rebasing: document.text[first...])
        if end.feed(rest) != nil { throw syntaxError(fault) }
        // The blanks before it aren't part of what it may measure.
        position = first
        pending = (end, document.text.count)
        try checkSize(rest.count)
        return false
    }

    /// Whether the element that was cut is whole by now.
    private func hasWholeElement() throws -> Bool {
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
    private func scan() throws -> JSONFault? {
        document.storage.pointee.clearTape()
        var scanner = JSONScanner(
            elementsIn: document.storage, from: position, expecting: expectation, depthLimit: reader.boundedDepth - finder.trail.count)
        let fault = scanner.run()
        position = scanner.position
        expectation = scanner.expectation
        left = scanner.count
        number = 0
        if left > 0 { blanks = 0 }
        node = JSONWord.arrayHead
        if expectation == .nothing { try endArray() }
        return fault
    }

    /// Takes what comes after the array.
    private func endArray() throws {
        stage = .tail
        end = dropped + position - 1
        try surround(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: document.text[(position - 1)...])))
    }

    /// Drops what has been read from the document's text.
    private func drop() {
        guard left == 0, stage == .elements, position > 0 else { return }
        document.storage.pointee.removeFirst(position)
        dropped += position
        if let cut = pending { pending = (cut.end, cut.place - position) }
        position = 0
    }

    /// Drops what is nothing but blanks: of them there may be no end either.
    private func skipBlanks() throws {
        blanks += document.text.count - position
        position = document.text.count
        if blanks > bounds.element { throw tooLarge("The space between two elements", bounds.element) }
    }

    private func firstByte() -> Int? {
        document.text[position...].firstIndex { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
    }

    // MARK: What lies around

    /// The payload with no elements, as far as it is known: until the array has ended, what comes before it.
    package func knownSurroundings() -> Data {
        switch stage {
        case .mark, .head: Data("null".utf8)
        case .elements: surroundings + Data([UInt8(ascii: "]")] + finder.closers)
        case .tail: surroundings.prefix(begin) + Data([UInt8(ascii: "]")] + finder.closers)
        case .ended: surroundings
        }
    }

    // MARK: Errors

    /// The coding path of the array, or of where it ought to be.
    private var origin: [any CodingKey] { (path ?? (needsArray ? paths.first : nil) ?? []).map { JSONKey($0) } }

    private func checkSize(_ size: Int) throws {
        if size > bounds.element { throw tooLarge("An element of the array", bounds.element) }
    }

    private func tooLarge(_ what: String, _ limit: Int) -> DecodingError {
        JSONDocument.corrupted(JSONSyntaxError(size: what, limit: limit, offset: total), at: origin)
    }

    private func syntaxError(_ fault: JSONFault) -> DecodingError {
        let limit = fault.reason == .depth ? reader.boundedDepth : bounds.element
        return JSONDocument.corrupted(JSONSyntaxError(fault, in: document.text, after: dropped, limit: limit), at: origin)
    }
}

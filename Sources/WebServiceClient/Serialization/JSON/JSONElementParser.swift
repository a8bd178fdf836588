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
    private var surroundings: JSONSurroundings
    /// The payload's text from its first element on, once that has begun.
    private var text: JSONElementText?
    /// The first bytes of the payload, until there are enough to tell what it is written in.
    private var lead = Data()
    /// How many bytes of the payload have come.
    private var total = 0

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
        surroundings = JSONSurroundings(upTo: bounds.surroundings)
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
            lead.append(contentsOf: piece)
            if lead.count >= 4 { try readMark() }
        case .head:
            guard let length = finder.feed(piece.bindMemory(to: UInt8.self)) else { return try surround(piece) }
            try surround(UnsafeRawBufferPointer(rebasing: piece[..<length]))
            surroundings.beginElements()
            path = finder.trail
            document.storage.pointee.rootPath = origin
            text = JSONElementText(
                document, from: surroundings.begin, upTo: bounds.element, depthLimit: reader.boundedDepth - finder.trail.count)
            stage = .elements
            try take(UnsafeRawBufferPointer(rebasing: piece[length...]))
        case .elements:
            if left == 0 { text?.drop() }
            text?.append(piece)
        case .tail, .ended:
            try surround(piece)
        }
    }

    private func surround(_ piece: UnsafeRawBufferPointer) throws {
        guard surroundings.append(piece) else { throw tooLarge("What lies around the array", bounds.surroundings) }
    }

    /// Skips the byte order mark of UTF-8, and refuses other encodings, once there are bytes enough to tell.
    private func readMark() throws {
        let isOther = lead.prefix(2).contains(0) || lead.starts(with: [0xFE, 0xFF]) || lead.starts(with: [0xFF, 0xFE])
        if isOther {
            throw SerializationError(.charset, "The payload is UTF-16 or UTF-32, which can't be read in pieces: decode it as a whole.")
        }
        stage = .head
        let mark = lead.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        total -= mark
        let rest = lead.dropFirst(mark)
        lead = Data()
        try rest.withUnsafeBytes { try take($0) }
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
            if left == 0 { text?.drop() }
            if let error = text?.errorAtEnd() { throw error }
        case .head, .tail:
            try surroundings.check(reader, arrayAt: needsArray ? paths.first : nil)
            stage = .ended
        case .ended:
            break
        }
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

    /// Reads as many elements as are whole; false where there is none.
    private func readElements() throws -> Bool {
        text?.drop()
        document.storage.pointee.firstIndex += number
        number = 0
        node = JSONWord.arrayHead
        left = try text?.read() ?? 0
        if let text, text.isAtEnd {
            stage = .tail
            surroundings.endElements(at: text.end)
            try surround(text.rest)
        }
        return left > 0
    }

    // MARK: What lies around

    /// The payload with no elements, as far as it is known: until the array has ended, what comes before it.
    package func knownSurroundings() -> Data {
        switch stage {
        case .mark, .head: Data("null".utf8)
        case .elements, .tail: surroundings.closed(by: finder.closers)
        case .ended: surroundings.text
        }
    }

    // MARK: Errors

    /// The coding path of the array, or of where it ought to be.
    private var origin: [any CodingKey] { (path ?? (needsArray ? paths.first : nil) ?? []).map { JSONKey($0) } }

    private func tooLarge(_ what: String, _ limit: Int) -> DecodingError {
        JSONDocument.corrupted(JSONSyntaxError(size: what, limit: limit, offset: total), at: origin)
    }
}

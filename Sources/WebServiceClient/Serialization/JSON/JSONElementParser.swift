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

/// What lies around the elements of an array inside a payload: the payload without them, as far as it has come.
struct JSONSurroundings {
    /// The text with no elements.
    private(set) var text = Data()
    /// Where in the payload the first element is.
    private(set) var begin = 0
    /// How many bytes the elements take there, once they have ended.
    private var gap: Int?
    /// The most bytes that are kept.
    private let limit: Int

    init(upTo limit: Int) { self.limit = limit }

    /// Adds what comes next; false where that is too much.
    mutating func append(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard text.count + piece.count <= limit else { return false }
        text.append(contentsOf: piece)
        return true
    }

    /// The elements come next.
    mutating func beginElements() { begin = text.count }

    /// The elements end at a place in the payload.
    mutating func endElements(at place: Int) { gap = place - begin }

    /// The text as it would be if the payload ended with the elements that have come.
    func closed(by closers: [UInt8]) -> Data { text.prefix(begin) + Data([UInt8(ascii: "]")] + closers) }

    /// Checks the whole of it.
    ///
    /// - Parameter path: where the array must be; `nil` where there needn't be any.
    /// - Throws: `DecodingError` where it is no JSON, with the place in the payload, or has no array there, and ``SerializationError`` where
    ///   it has nothing there.
    func check(_ reader: JSONReader, arrayAt path: [String]?) throws {
        let whole = JSONPool.take(reader)
        defer { JSONPool.giveBack(whole) }
        text.withUnsafeBytes { whole.storage.pointee.append($0) }
        if let fault = whole.scan() {
            // Behind the array, its elements count.
            let skipped = fault.offset >= begin ? gap ?? 0 : 0
            throw JSONDocument.corrupted(JSONSyntaxError(fault, in: whole.text, after: skipped, limit: reader.boundedDepth))
        }
        guard let path else { return }
        let place = try whole.place(at: path)
        if gap == nil { throw whole.mismatch([Any].self, at: place) }
    }
}

/// Finds where a value ends, in pieces of a text, without checking it: each byte is looked at once.
struct JSONValueEnd {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var hasBegun = false

    /// Looks at more bytes, from the value's first one on.
    ///
    /// - Returns: how many of them belong to the value, once its end has been found. A number or a word ends before what follows it.
    mutating func feed(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                    if depth == 0 { return index }
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""):
                if depth == 0, hasBegun { return index - 1 }
                isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if depth == 0, hasBegun { return index - 1 }
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // The container around a number or a word ends.
                if depth == 0 { return index - 1 }
                depth -= 1
                if depth == 0 { return index }
            case UInt8(ascii: ","), 0x20, 0x0A, 0x0D, 0x09:
                if depth == 0 { return index - 1 }
            default:
                break
            }
            hasBegun = true
        }
        return nil
    }
}

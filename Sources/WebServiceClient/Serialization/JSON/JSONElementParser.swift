package import Foundation

/// Reads the elements of an array inside a payload, from pieces of the payload.
///
/// Whole elements in a piece are read together. If an element is cut, ``JSONValueEnd`` finds its end as further pieces arrive, and it is
/// read then. Each byte is therefore read at most three times, whatever the sizes of the pieces, and each element is available as soon as
/// its last byte is. The text around the array is kept and checked at the end, as a JSON text with an empty array.
package final class JSONElementParser {
    private enum Stage { case mark, head, elements, tail, ended }

    private let reader: JSONReader
    /// The possible paths of the array, and whether its absence is an error.
    private let paths: [[String]]
    private let needsArray: Bool
    private let bounds: JSONStreamBounds
    /// The document that contains the elements' places.
    let document: JSONDocument
    private var stage = Stage.mark
    private var finder: JSONPathFinder
    private var surroundings: JSONSurroundings
    /// The payload's text from its first element on, once that has begun.
    private var text: JSONElementText?
    /// The first bytes of the payload, until there are enough to detect its encoding.
    private var lead = Data()
    /// The number of bytes received.
    private var total = 0

    /// The elements on the tape: the number left, and the next one's number and index.
    private var left = 0
    private var number = 0
    private var node = 0

    /// Creates a parser of the array at a path.
    convenience init(_ reader: JSONReader, path: [String], bounds: JSONStreamBounds) {
        self.init(reader, paths: [path], needsArray: true, bounds: bounds)
    }

    /// Creates a parser of the first array at one of several paths; with no paths, the whole payload counts as surroundings.
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

    /// The recommended maximum size of a piece.
    package static let pieceSize = 1 << 16

    /// Whether everything has been read.
    package var isAtEnd: Bool { stage == .ended }
    /// The path of the array, once it has begun.
    package private(set) var path: [String]?
    /// The number of payload bytes received.
    package var count: Int { total }

    // MARK: Input

    /// Takes a piece of the payload, after ``next()`` has returned `nil`.
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
        guard surroundings.append(piece) else { throw tooLarge("The payload around the array", bounds.surroundings) }
    }

    /// Skips the UTF-8 byte order mark and rejects other encodings, once enough bytes have arrived.
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

    /// Ends the payload, after ``next()`` has returned `nil`. Call it again while ``next()`` returns elements.
    ///
    /// - Throws: An error if the payload was incomplete: a truncated list never counts as a complete one.
    package func finish() throws {
        switch stage {
        case .mark:
            // The payload was too short for its encoding to be detected before.
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

    /// Returns the next element; `nil` if more of the payload is needed, or no element is left. It is valid until the next call.
    package func nextNode() throws -> JSONNode? { try next().map { JSONNode(document, $0) } }

    /// Returns the place of the next element on the tape of ``document``; `nil` if more of the payload is needed, or no element is left.
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

    /// Reads all complete elements; returns false if there is none.
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

    // MARK: Surroundings

    /// The part of the payload around the elements that is known: until the array has ended, the part before it.
    package func knownSurroundings() -> Data {
        switch stage {
        case .mark, .head: Data("null".utf8)
        case .elements, .tail: surroundings.closed(by: finder.closers)
        case .ended: surroundings.text
        }
    }

    // MARK: Errors

    /// The coding path of the array, or its expected path.
    private var origin: [any CodingKey] { (path ?? (needsArray ? paths.first : nil) ?? []).map { JSONKey($0) } }

    private func tooLarge(_ what: String, _ limit: Int) -> DecodingError {
        JSONDocument.corrupted(JSONSyntaxError(size: what, limit: limit, offset: total), at: origin)
    }
}

/// The text around the elements of an array inside a payload, as far as it has arrived.
struct JSONSurroundings {
    /// The text without the elements.
    private(set) var text = Data()
    /// The offset of the first element in the payload.
    private(set) var begin = 0
    /// The number of bytes of the elements, once they have ended.
    private var gap: Int?
    /// The maximum number of bytes that are kept.
    private let limit: Int

    init(upTo limit: Int) { self.limit = limit }

    /// Appends a piece; returns false if the limit is exceeded.
    mutating func append(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard text.count + piece.count <= limit else { return false }
        text.append(contentsOf: piece)
        return true
    }

    /// Marks the beginning of the elements.
    mutating func beginElements() { begin = text.count }

    /// Marks the end of the elements, at an offset in the payload.
    mutating func endElements(at place: Int) { gap = place - begin }

    /// The text as if the payload ended after the elements received so far.
    func closed(by closers: [UInt8]) -> Data { text.prefix(begin) + Data([UInt8(ascii: "]")] + closers) }

    /// Checks the whole text.
    ///
    /// - Parameter path: The required path of the array; `nil` if the array is optional.
    /// - Throws: `DecodingError` if the text isn't JSON, with the place in the payload, or has another value than an array at the path;
    ///   ``SerializationError`` if it has no value there.
    func check(_ reader: JSONReader, arrayAt path: [String]?) throws {
        let whole = JSONPool.take(reader)
        defer { JSONPool.giveBack(whole) }
        text.withUnsafeBytes { whole.storage.pointee.append($0) }
        if let fault = whole.scan() {
            // Offsets after the array include its elements.
            let skipped = fault.offset >= begin ? gap ?? 0 : 0
            throw JSONDocument.corrupted(JSONSyntaxError(fault, in: whole.text, after: skipped, limit: reader.boundedDepth))
        }
        guard let path else { return }
        let place = try whole.place(at: path)
        if gap == nil { throw whole.mismatch([Any].self, at: place) }
    }
}

/// Finds the end of a value, in pieces of a text, without checking it. Each byte is read once.
struct JSONValueEnd {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var hasBegun = false

    /// Scans more bytes, starting at the value's first one.
    ///
    /// - Returns: The number of these bytes that belong to the value, once its end is found. A number or word ends before the byte that
    ///   follows it.
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
                // The container around a number or word ends.
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

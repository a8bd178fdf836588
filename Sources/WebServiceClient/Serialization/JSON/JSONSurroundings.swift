import Foundation

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

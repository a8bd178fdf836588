import Foundation

/// A value that the first reader takes over, such as the body of a stream. From then on only the reader retains it, so that releasing the
/// reader ends the transfer.
final class ReadOnce<Value: Sendable>: Sendable {
    private let value: Locked<Value?>

    init(_ value: Value) { self.value = Locked(value) }

    /// Returns the value to the first caller.
    ///
    /// - Throws: ``StreamError`` for later callers.
    func take() throws -> Value {
        let taken = value.withLock { value in
            defer { value = nil }
            return value
        }
        guard let taken else { throw StreamError.readTwice }
        return taken
    }
}

/// The pieces of a body for a parser. Their size is limited, which bounds the parser's buffer.
struct BodyFeed: Sendable {
    /// The maximum size of a piece in bytes.
    static let pieceSize = 1 << 16

    private var pieces: ResponseBody.Iterator
    private var piece = Data()

    init(_ body: ResponseBody) { pieces = body.makeAsyncIterator() }

    /// Returns the next piece, which isn't empty; `nil` at the end.
    mutating func next() async throws -> Data? {
        while piece.isEmpty {
            guard let next = try await pieces.next() else { return nil }
            piece = next
        }
        let part = piece.prefix(Self.pieceSize)
        piece = piece.dropFirst(part.count)
        return part
    }
}

/// A complete element of a stream, before it is decoded.
struct StreamRecord: Sendable {
    let bytes: Data
    let place: StreamPlace
    /// The element's own media type, in formats whose elements have one.
    var contentType: String?
}

/// Splits a body that arrives in pieces into records.
///
/// Errors that it throws end the stream. A faulty record is a failure in the result, and the next record can be read.
protocol RecordParser: Sendable {
    /// Adds a piece, after ``next()`` has returned `nil`.
    mutating func feed(_ piece: UnsafeRawBufferPointer) throws

    /// Returns the next complete record; `nil` if more input is needed.
    mutating func next() throws -> Result<StreamRecord, StreamError>?

    /// Ends the input. Afterwards ``next()`` returns the records that the end completes.
    mutating func finish() throws
}

/// The records of lines: NDJSON and JSON Lines. Blank lines are skipped, and the last line needs no line end.
struct LineRecords: RecordParser {
    private var lines: LineParser
    private var count = 0
    private var isAtEnd = false

    init(limit: Int) { lines = LineParser(ends: .lineFeed, limit: limit) }

    mutating func feed(_ piece: UnsafeRawBufferPointer) { lines.feed(piece) }

    mutating func finish() { isAtEnd = true }

    mutating func next() throws -> Result<StreamRecord, StreamError>? {
        while let line = try lines.next() ?? (isAtEnd ? lines.last() : nil) {
            let bytes = lines.buffer[line]
            // Blank lines aren't values.
            if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            count += 1
            return .success(
                StreamRecord(
                    bytes: Data(bytes), place: StreamPlace(element: count, line: lines.number, byte: lines.offset(of: line))))
        }
        return nil
    }
}

/// The records of a JSON text sequence (RFC 7464): each begins with RS and ends with LF.
///
/// Empty records are skipped. A number, `true`, `false` or `null` without white space after it may be truncated and is a failure (§2.4), as
/// is text before the first RS; the records after them are read (§2.3).
struct SequenceRecords: RecordParser {
    private static let separator: UInt8 = 0x1E

    private let limit: Int
    private var buffer: [UInt8] = []
    /// The beginning of the current record in the buffer, and of the bytes that haven't been searched.
    private var start = 0
    private var searched = 0
    /// The offset of the buffer in the stream.
    private var offset = 0
    private var count = 0
    private var hasBegun = false
    private var isAtEnd = false

    init(limit: Int) { self.limit = max(0, limit) }

    mutating func feed(_ piece: UnsafeRawBufferPointer) {
        buffer.removeFirst(start)
        offset += start
        searched -= start
        start = 0
        buffer.append(contentsOf: piece)
    }

    mutating func finish() { isAtEnd = true }

    mutating func next() throws -> Result<StreamRecord, StreamError>? {
        while let end = endOfRecord() {
            let text = buffer[start..<end]
            let place = StreamPlace(element: count + 1, byte: offset + start)
            let isInSequence = hasBegun
            hasBegun = true
            start = min(end + 1, buffer.count)
            searched = start
            guard text.count <= limit else { throw StreamError.tooLarge("the element", limit, at: place) }
            guard let first = text.firstIndex(where: { !Self.isBlank($0) }) else { continue }
            if !isInSequence, text[first...].elementsEqual([0xEF, 0xBB, 0xBF]) { continue }
            count += 1
            guard isInSequence else {
                return .failure(
                    StreamError(.format, "text precedes the first record separator (RFC 7464): is the body of another format?", at: place))
            }
            if !"\"{[".utf8.contains(text[first]), let last = text.last, !Self.isBlank(last) {
                return .failure(
                    StreamError(.truncated, "the value may be cut, since no white space follows it (RFC 7464 §2.4)", at: place))
            }
            return .success(StreamRecord(bytes: Data(text), place: place))
        }
        if buffer.count - start > limit {
            throw StreamError.tooLarge("the element", limit, at: StreamPlace(element: count + 1, byte: offset + start))
        }
        return nil
    }

    private mutating func endOfRecord() -> Int? {
        if let found = buffer[searched...].firstIndex(of: Self.separator) { return found }
        searched = buffer.count
        return isAtEnd && start < buffer.count ? buffer.count : nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
}

import Foundation

/// Splits bytes that arrive in pieces into lines.
///
/// It works on bytes: characters and CRLF may be split anywhere. Only LF, CRLF and, with ``Ends/all``, CR end a line; U+2028, U+0085 and
/// form feeds, which JSON strings may contain, don't. A line is available as soon as its end arrives: after a CR the parser doesn't wait
/// for a LF, but skips it later. Each byte is searched once. A byte order mark before the first line is dropped.
struct LineParser: Sendable {
    /// The bytes that end a line.
    enum Ends: Sendable {
        /// LF, CR or CRLF.
        case all
        /// LF; a CR before it is dropped.
        case lineFeed
    }

    private let ends: Ends
    private let limit: Int
    /// The received bytes from the current line onwards, and some before it.
    private(set) var buffer: [UInt8] = []
    /// The beginning of the current line, and of the bytes that haven't been searched.
    private var start = 0
    private var searched = 0
    /// Whether a LF as the next byte belongs to the last line's CR.
    private var skipsLineFeed = false
    /// The offset of the buffer in the stream.
    private var offset = 0
    /// The number of the last line, counted from 1.
    private(set) var number = 0

    /// - Parameter limit: The maximum number of bytes of a line.
    init(ends: Ends, limit: Int) {
        self.ends = ends
        self.limit = max(0, limit)
    }

    /// The offset of a line in the stream, by its position in the buffer.
    func offset(of line: Range<Int>) -> Int { offset + line.lowerBound }

    /// Adds a piece, which invalidates the positions of earlier lines.
    mutating func feed(_ piece: UnsafeRawBufferPointer) {
        if start > 0 {
            buffer.removeFirst(start)
            offset += start
            searched -= start
            start = 0
        }
        buffer.append(contentsOf: piece)
    }

    /// Returns the position of the next line in the buffer, without its end; `nil` if it hasn't arrived.
    ///
    /// - Throws: ``StreamError`` if the line is too long.
    mutating func next() throws -> Range<Int>? {
        if skipsLineFeed, searched < buffer.count {
            skipsLineFeed = false
            if buffer[searched] == 0x0A {
                searched += 1
                start = searched
            }
        }
        guard let end = endOfLine() else {
            searched = buffer.count
            // A CR and a byte order mark may not belong to the line.
            if buffer.count - start - (ends == .lineFeed ? 1 : 0) - (number == 0 ? 3 : 0) > limit { throw tooLong }
            return nil
        }
        var line = start..<end
        skipsLineFeed = buffer[end] == 0x0D
        start = end + 1
        searched = start
        if ends == .lineFeed, let last = line.last, buffer[last] == 0x0D { line = line.lowerBound..<last }
        return try counted(line)
    }

    /// Returns the position of the last line, if the stream ended without its end.
    mutating func last() throws -> Range<Int>? {
        guard start < buffer.count else { return nil }
        let line = start..<buffer.count
        start = buffer.count
        searched = start
        return try counted(line)
    }

    private func endOfLine() -> Int? {
        buffer.withUnsafeBufferPointer { bytes in
            var index = searched
            switch ends {
            case .all:
                while index < bytes.count {
                    if bytes[index] <= 0x0D, bytes[index] == 0x0A || bytes[index] == 0x0D { return index }
                    index += 1
                }
                return nil
            case .lineFeed:
                guard index < bytes.count, let base = bytes.baseAddress else { return nil }
                return memchr(base + index, 0x0A, bytes.count - index).map { UnsafeRawPointer($0) - UnsafeRawPointer(base) }
            }
        }
    }

    private mutating func counted(_ line: Range<Int>) throws -> Range<Int> {
        number += 1
        var line = line
        if number == 1, buffer[line].starts(with: [0xEF, 0xBB, 0xBF]) { line = (line.lowerBound + 3)..<line.upperBound }
        if line.count > limit {
            number -= 1
            throw tooLong
        }
        return line
    }

    private var tooLong: StreamError {
        .tooLarge("the line", limit, at: StreamPlace(element: number + 1, line: number + 1, byte: offset + start))
    }
}

/// The lines of a body as texts: ``HTTPTransport/ResponseBody/lines``.
///
/// LF, CR and CRLF end lines. The last line needs no line end. Bytes that aren't UTF-8 become U+FFFD. A body has one reader.
public struct BodyLines: AsyncSequence, Sendable {
    private let source: ReadOnce<BodyFeed>
    private let limit: Int

    init(_ body: ResponseBody, limit: Int) {
        source = ReadOnce(BodyFeed(body))
        self.limit = limit
    }

    /// Returns an iterator. Releasing it before the end cancels the transfer.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source, parser: LineParser(ends: .all, limit: limit)) }

    /// Reads the lines.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let source: ReadOnce<BodyFeed>
        fileprivate var parser: LineParser
        private var feed: BodyFeed?
        private var isOver = false

        fileprivate init(source: ReadOnce<BodyFeed>, parser: LineParser) {
            self.source = source
            self.parser = parser
        }

        /// Returns the next line without its end; `nil` at the end.
        ///
        /// - Throws: ``StreamError`` for a line over the limit, and the errors of the body. Afterwards the lines have ended.
        public mutating func next() async throws -> String? {
            if isOver { return nil }
            if feed == nil { feed = try source.take() }
            do {
                while true {
                    if let line = try parser.next() { return text(line) }
                    guard let piece = try await feed?.next() else { break }
                    piece.withUnsafeBytes { parser.feed($0) }
                }
                end()
                return try parser.last().map(text)
            } catch {
                end()
                throw error
            }
        }

        private func text(_ line: Range<Int>) -> String { String(decoding: parser.buffer[line], as: UTF8.self) }

        private mutating func end() {
            isOver = true
            feed = nil
        }
    }
}

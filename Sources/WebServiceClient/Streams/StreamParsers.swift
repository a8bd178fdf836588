public import Foundation

/// The parsers of streams in a synchronous form, for fuzzing: each takes a stream in pieces of one size.
@_spi(Fuzzing) public enum StreamParsers {
    /// The lines of a stream; `nil` if one exceeds the limit.
    public static func lines(of stream: Data, inPiecesOf size: Int, limit: Int) -> [String]? {
        var parser = LineParser(ends: .all, limit: limit)
        var lines: [String] = []
        func text(_ line: Range<Int>) -> String { String(decoding: parser.buffer[line], as: UTF8.self) }
        do {
            try forEachPiece(of: stream, size) { piece in
                parser.feed(piece)
                while let line = try parser.next() { lines.append(text(line)) }
            }
            if let line = try parser.last() { lines.append(text(line)) }
            return lines
        } catch {
            return nil
        }
    }

    /// The events of a stream, with the last event ID; `nil` if one exceeds the limit.
    public static func events(of stream: Data, inPiecesOf size: Int, limit: Int) -> (events: [ServerEvent], lastID: String)? {
        var parser = EventParser(limit: limit)
        var events: [ServerEvent] = []
        do {
            try forEachPiece(of: stream, size) { piece in
                parser.feed(piece)
                while let event = try parser.next() { events.append(event) }
            }
            return (events, parser.lastID)
        } catch {
            return nil
        }
    }

    /// The records of a stream in a framing of JSON records, `nil` for each faulty one; `nil` if one exceeds the limit.
    public static func records(of stream: Data, as framing: StreamFraming, inPiecesOf size: Int, limit: Int) -> [Data?]? {
        framing == .jsonSequence
            ? records(of: stream, SequenceRecords(limit: limit), size) : records(of: stream, LineRecords(limit: limit), size)
    }

    private static func records(of stream: Data, _ parser: some RecordParser, _ size: Int) -> [Data?]? {
        var parser = parser
        var records: [Data?] = []
        do {
            try forEachPiece(of: stream, size) { piece in
                try parser.feed(piece)
                while let record = try parser.next() { records.append(try? record.get().bytes) }
            }
            try parser.finish()
            while let record = try parser.next() { records.append(try? record.get().bytes) }
            return records
        } catch {
            return nil
        }
    }

    /// The parts of a multipart stream, each with its fields and its body; `nil` if the stream is truncated or fields exceed the limit.
    public static func parts(
        of stream: Data, boundary: String, inPiecesOf size: Int, fieldLimit: Int
    ) -> [(fields: [String], body: Data)]? {
        var parser = PartParser(boundary: boundary, fieldLimit: fieldLimit)
        var parts: [(fields: [String], body: Data)] = []
        func take() throws {
            while let piece = try parser.next() {
                switch piece {
                case .begin(let fields): parts.append((fields.map { "\($0.name): \($0.value)" }, Data()))
                case .data(let data): parts[parts.count - 1].body.append(data)
                case .end: break
                }
            }
        }
        do {
            try forEachPiece(of: stream, size) { piece in
                parser.feed(piece)
                try take()
            }
            parser.finish()
            try take()
            return parts
        } catch {
            return nil
        }
    }

    private static func forEachPiece(of stream: Data, _ size: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        var rest = stream
        while !rest.isEmpty {
            let piece = rest.prefix(max(1, size))
            rest = rest.dropFirst(piece.count)
            try piece.withUnsafeBytes { try body($0) }
        }
    }
}

import Foundation
public import HTTPTransport

/// A part of a multipart body.
public struct BodyPart: Sendable {
    /// The part's fields, such as `Content-Type` and `Content-Disposition`.
    public let headers: HTTPFields
    /// The part's body, which is read from the whole body on demand. Reading it after the next part was requested throws an error.
    public let body: ResponseBody

    /// Returns the parts of the part's body, if the part is multipart itself.
    ///
    /// - Throws: ``StreamError`` if it isn't, or its boundary is invalid.
    public func parts() throws -> BodyParts { try body.parts(contentType: headers[.contentType] ?? "text/plain") }
}

/// The parts of a multipart body, in order (RFC 2046 §5.1): ``HTTPTransport/ResponseBody/parts(contentType:fieldLimit:)``.
///
///     for try await part in try response.parts() {
///         let data = try await part.body.collect(upTo: 1 << 20)
///     }
///
/// Memory use is constant: parts are read while they arrive. The rest of a part's body is skipped when the next part is read. The body has
/// one reader; the transfer ends when the iterator and the bodies of the parts have been released.
public struct BodyParts: AsyncSequence, Sendable {
    private let source: ReadOnce<PartSource>

    init(_ body: ResponseBody, boundary: String, fieldLimit: Int) {
        source = ReadOnce(PartSource(body, PartParser(boundary: boundary, fieldLimit: fieldLimit)))
    }

    /// Returns an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    /// Reads the parts.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let source: ReadOnce<PartSource>
        private var parts: PartSource?
        private var isOver = false

        fileprivate init(source: ReadOnce<PartSource>) { self.source = source }

        /// Returns the next part; `nil` after the last delimiter.
        ///
        /// - Throws: ``StreamError`` if the body is truncated or a part's fields exceed the limit, and the errors of the body. Afterwards
        ///   the parts have ended.
        public mutating func next() async throws -> BodyPart? {
            if isOver { return nil }
            do {
                let parts = try self.parts ?? source.take()
                self.parts = parts
                if let part = try await parts.nextPart() { return part }
                isOver = true
                self.parts = nil
                return nil
            } catch {
                isOver = true
                parts = nil
                throw error
            }
        }
    }
}

/// A multipart body, read by a sequence of parts and by the bodies of its parts.
private final class PartSource: Sendable {
    private struct State: Sendable {
        var feed: BodyFeed
        var parser: PartParser
        /// The number of the part whose body is being read; 0 for none.
        var part = 0
        var isAtEnd = false
    }

    /// `nil` while a piece is being read, because only one reader at a time may read.
    private let state: Locked<State?>

    init(_ body: ResponseBody, _ parser: PartParser) {
        state = Locked(State(feed: BodyFeed(body), parser: parser))
    }

    /// Skips the rest of the current part, and returns the next one.
    func nextPart() async throws -> BodyPart? {
        try await read { state in
            while let piece = try await Self.next(&state) {
                guard case .begin(let fields) = piece else { continue }
                state.part += 1
                let number = state.part
                return BodyPart(
                    headers: fields,
                    body: ResponseBody(expectedLength: nil, next: { try await self.piece(of: number) }, cancel: {}))
            }
            state.part = 0
            return nil
        }
    }

    private func piece(of number: Int) async throws -> Data? {
        try await read { state in
            guard state.part == number else {
                throw StreamError(
                    .misuse, "The part's body has been skipped, because the next part was read: read the body before the next part.",
                    at: StreamPlace(element: number))
            }
            guard !state.isAtEnd, case .data(let data) = try await Self.next(&state) else {
                state.isAtEnd = true
                return nil
            }
            return data
        }
    }

    private static func next(_ state: inout State) async throws -> PartParser.Piece? {
        state.isAtEnd = false
        while true {
            if let piece = try state.parser.next() { return piece }
            guard let bytes = try await state.feed.next() else {
                state.parser.finish()
                return try state.parser.next()
            }
            bytes.withUnsafeBytes { state.parser.feed($0) }
        }
    }

    private func read<Result>(_ body: (inout State) async throws -> Result) async throws -> Result {
        let taken = state.withLock { state in
            defer { state = nil }
            return state
        }
        guard var present = taken else { throw StreamError.readTwice }
        defer { state.withLock { [present] in $0 = present } }
        return try await body(&present)
    }
}

/// The records of a multipart body: the bodies of its parts.
struct PartRecords: RecordParser {
    private let limit: Int
    private var parser: PartParser
    private var body = Data()
    private var contentType: String?

    init(boundary: String, limit: Int) {
        self.limit = max(0, limit)
        parser = PartParser(boundary: boundary, fieldLimit: StreamLimits.partFields)
    }

    mutating func feed(_ piece: UnsafeRawBufferPointer) { parser.feed(piece) }

    mutating func finish() { parser.finish() }

    mutating func next() throws -> Result<StreamRecord, StreamError>? {
        while let piece = try parser.next() {
            switch piece {
            case .begin(let fields):
                contentType = fields[.contentType]
                body = Data()
            case .data(let data):
                guard body.count + data.count <= limit else {
                    throw StreamError.tooLarge("the part", limit, at: StreamPlace(element: parser.count))
                }
                body.append(data)
            case .end:
                defer { body = Data() }
                return .success(StreamRecord(bytes: body, place: StreamPlace(element: parser.count), contentType: contentType))
            }
        }
        return nil
    }
}

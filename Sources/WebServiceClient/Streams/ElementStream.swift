import Foundation

/// The elements of a body, decoded one by one while it arrives: NDJSON and JSON Lines, JSON text sequences (RFC 7464), a JSON array, or the
/// parts of a multipart body.
///
///     func changes(since: Int) async throws -> ElementStream<Change> { try await call(since) }
///
///     for try await change in try await client.changes(since: 7) { … }
///
/// The response's `Content-Type` selects the framing, unless the endpoint declares ``EndpointDescriptor/framing(_:)``. The stream reads
/// from the server at the pace of the loop. Leaving the loop, cancelling the task or releasing the stream ends the exchange. A stream has
/// one reader, and is read once.
///
/// An element that can't be decoded ends the stream with an error that names its place; ``results`` continues after it.
public struct ElementStream<Element: Decodable & Sendable>: AsyncSequence, Sendable {
    /// The input of the iterator.
    struct Content: Sendable {
        let body: ResponseBody
        let parser: @Sendable () -> any ElementParser<Element>
        /// Makes the error that the reader gets.
        var failure: @Sendable (any Error) -> any Error = { $0 }
    }

    private let content: ReadOnce<Content>

    init(_ content: Content) { self.content = ReadOnce(content) }

    /// Returns an iterator. Releasing it before the end ends the exchange.
    public func makeAsyncIterator() -> Iterator { Iterator(base: ElementResults<Element>.Iterator(content: content)) }

    /// The elements as results: an element that can't be decoded is a failure, and the elements after it follow. Faults of the framing
    /// still end the stream with an error.
    public var results: ElementResults<Element> { ElementResults(content: content) }

    /// Reads the elements.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: ElementResults<Element>.Iterator

        /// Returns the next element; `nil` at the end.
        ///
        /// - Throws: For a declared call, ``ServiceError``, whose cause is ``StreamError`` for a fault of the stream; `CancellationError`.
        ///   Afterwards the elements have ended.
        public mutating func next() async throws -> Element? {
            guard let result = try await base.next() else { return nil }
            switch result {
            case .success(let element): return element
            case .failure(let error):
                base.end()
                throw error
            }
        }
    }
}

/// The elements of a stream as results: ``ElementStream/results``.
public struct ElementResults<Element: Decodable & Sendable>: AsyncSequence, Sendable {
    fileprivate let content: ReadOnce<ElementStream<Element>.Content>

    /// Returns an iterator. Releasing it before the end ends the exchange.
    public func makeAsyncIterator() -> Iterator { Iterator(content: content) }

    /// Reads the results.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let content: ReadOnce<ElementStream<Element>.Content>
        private var feed: BodyFeed?
        private var parser: (any ElementParser<Element>)?
        private var failure: @Sendable (any Error) -> any Error = { $0 }
        private var isOver = false
        private var isAtEnd = false

        fileprivate init(content: ReadOnce<ElementStream<Element>.Content>) { self.content = content }

        /// Returns the next result; `nil` at the end.
        ///
        /// - Throws: The errors of the body and of the framing. Afterwards the results have ended.
        public mutating func next() async throws -> Result<Element, any Error>? {
            if isOver { return nil }
            do {
                if parser == nil {
                    let content = try content.take()
                    feed = BodyFeed(content.body)
                    parser = content.parser()
                    failure = content.failure
                }
                while true {
                    if let result = try parser?.next() { return result.mapError(failure) }
                    if isAtEnd {
                        end()
                        return nil
                    }
                    if let piece = try await feed?.next() {
                        try piece.withUnsafeBytes { try parser?.feed($0) }
                    } else {
                        isAtEnd = true
                        try parser?.finish()
                    }
                }
            } catch {
                end()
                throw failure(error)
            }
        }

        /// Ends the exchange.
        fileprivate mutating func end() {
            isOver = true
            feed = nil
            parser = nil
        }
    }
}

extension ElementStream: Decodable {
    /// Throws an error, because a stream is the whole result of a call and can't be part of a decoded value.
    public init(from decoder: any Decoder) throws {
        throw DecodingError.typeMismatch(Self.self, StreamedType.context(decoder, "ElementStream"))
    }
}

/// The error for a stream as part of a value.
enum StreamedType {
    static func context(_ decoder: any Decoder, _ name: String) -> DecodingError.Context {
        DecodingError.Context(
            codingPath: decoder.codingPath,
            debugDescription: "\(name) isn't decoded from a value: it is the whole result of a call, and isn't optional.")
    }
}

/// Decodes the elements of a body that arrives in pieces.
protocol ElementParser<Element> {
    associatedtype Element

    /// Adds a piece, after ``next()`` has returned `nil`.
    mutating func feed(_ piece: UnsafeRawBufferPointer) throws

    /// Returns the next element, or the error of an element that can't be decoded; `nil` if more input is needed.
    mutating func next() throws -> Result<Element, any Error>?

    /// Ends the input. Afterwards ``next()`` returns the elements that the end completes.
    mutating func finish() throws
}

/// Decodes records one by one.
struct RecordElements<Records: RecordParser, Element>: ElementParser {
    var records: Records
    let decode: @Sendable (StreamRecord) throws -> Element

    mutating func feed(_ piece: UnsafeRawBufferPointer) throws { try records.feed(piece) }

    mutating func next() throws -> Result<Element, any Error>? {
        switch try records.next() {
        case nil: return nil
        case .failure(let error): return .failure(error)
        case .success(let record):
            do {
                return .success(try decode(record))
            } catch {
                return .failure(StreamError.undecodable(Element.self, at: record.place, error))
            }
        }
    }

    mutating func finish() throws { try records.finish() }
}

/// Decodes the elements of an array in a JSON text.
struct ArrayElements<Element: Decodable>: ElementParser {
    private let parser: JSONElementParser
    private var count = 0
    private var isAtEnd = false

    init(_ reader: JSONReader, at path: [String], limit: Int) {
        parser = JSONElementParser(reader, path: path, bounds: JSONStreamBounds(element: limit))
    }

    mutating func feed(_ piece: UnsafeRawBufferPointer) throws { try wrappingErrors { try $0.feed(piece) } }

    mutating func next() throws -> Result<Element, any Error>? {
        guard let place = try wrappingErrors({ try $0.next() }) else {
            // The end of the text may complete further elements.
            guard isAtEnd, !parser.isAtEnd else { return nil }
            try wrappingErrors { try $0.finish() }
            return try next()
        }
        count += 1
        do {
            return .success(try parser.document.decode(Element.self, at: place))
        } catch {
            return .failure(StreamError.undecodable(Element.self, at: StreamPlace(element: count), error))
        }
    }

    mutating func finish() throws { isAtEnd = true }

    private func wrappingErrors<Result>(_ body: (JSONElementParser) throws -> Result) throws -> Result {
        do {
            return try body(parser)
        } catch {
            let kind: StreamError.Kind =
                switch syntaxError(error)?.kind {
                case .truncated: .truncated
                case .size: .tooLarge
                default: .decoding
                }
            throw StreamError(
                kind, "the array can't be read: \(DecodingErrorText.text(of: error))", at: StreamPlace(element: count + 1), cause: error)
        }
    }

    private func syntaxError(_ error: any Error) -> JSONSyntaxError? {
        guard case .dataCorrupted(let context) = error as? DecodingError else { return nil }
        return context.underlyingError as? JSONSyntaxError
    }
}

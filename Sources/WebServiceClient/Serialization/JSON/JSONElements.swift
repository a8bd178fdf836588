public import Foundation

/// The elements of an array inside a payload, decoded one by one while the payload arrives.
///
///     let products = JSONReader().elements(of: Product.self, in: response.body, at: ["value"])
///     for try await product in products { … }
///
/// Memory use is constant: one piece of the payload, or the element that is arriving if that is larger, and the text around the array. A
/// payload that ends before its last bracket is an error, never the end of the elements; so is a payload without the array.
///
/// To read the text around the array, use the iterator directly:
///
///     var iterator = products.makeAsyncIterator()
///     while let product = try await iterator.next() { … }
///     let page = try iterator.surroundings(as: Page.self)     // with no elements: {"@odata.count":7,"value":[],"@odata.nextLink":"…"}
public struct JSONElements<Element, Chunks: AsyncSequence>: AsyncSequence where Chunks.Element == Data {
    private let chunks: Chunks
    private let reader: JSONReader
    private let path: [String]
    private let bounds: JSONStreamBounds
    private let read: @Sendable (JSONDocument, JSONPlace) throws -> Element

    init(
        _ chunks: Chunks, _ reader: JSONReader, at path: [String], bounds: JSONStreamBounds,
        read: @escaping @Sendable (JSONDocument, JSONPlace) throws -> Element
    ) {
        self.chunks = chunks
        self.reader = reader
        self.path = path
        self.bounds = bounds
        self.read = read
    }

    /// Creates an iterator, which reads the pieces of the payload on demand.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            chunks: chunks.makeAsyncIterator(), parser: JSONElementParser(reader, path: path, bounds: bounds), reader: reader, read: read)
    }

    /// Reads the elements.
    public struct Iterator: AsyncIteratorProtocol {
        private var chunks: Chunks.AsyncIterator
        private let parser: JSONElementParser
        private let reader: JSONReader
        private let read: @Sendable (JSONDocument, JSONPlace) throws -> Element
        /// The piece that is being passed to the parser in parts.
        private var chunk = Data()
        private var isLastChunk = false
        private var failure: (any Error)?

        fileprivate init(
            chunks: Chunks.AsyncIterator, parser: JSONElementParser, reader: JSONReader,
            read: @escaping @Sendable (JSONDocument, JSONPlace) throws -> Element
        ) {
            self.chunks = chunks
            self.parser = parser
            self.reader = reader
            self.read = read
        }

        /// Returns the next element; `nil` after the end of the array and the payload.
        ///
        /// - Throws: `DecodingError`, or the error of the element's own coding; with a ``JSONSyntaxError`` if the payload isn't JSON,
        ///   ends too early, or exceeds the bounds; ``SerializationError`` if it has no such root; the errors of the sequence of pieces.
        ///   After an error, every call throws the same error again.
        public mutating func next() async throws -> Element? {
            while true {
                if let element = try ready() { return element }
                if parser.isAtEnd { return nil }
                try await feed()
            }
        }

        /// Returns the next element, without leaving the actor while elements are available.
        ///
        /// - Throws: The errors of ``next()``.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            while true {
                if let element = try ready() { return element }
                if parser.isAtEnd { return nil }
                try await feed(isolation: actor)
            }
        }

        /// Returns an available element.
        private mutating func ready() throws -> Element? {
            if let failure { throw failure }
            return try failing { parser, read in try parser.next().map { try read(parser.document, $0) } }
        }

        /// Stores an error, to throw it again.
        private mutating func failing<Value>(
            _ body: (JSONElementParser, (JSONDocument, JSONPlace) throws -> Element) throws -> Value
        ) throws -> Value {
            do {
                return try body(parser, read)
            } catch {
                failure = error
                throw error
            }
        }

        /// Returns the available elements, at least one; `nil` at the end. It saves the cost of an asynchronous call per element.
        ///
        /// - Throws: The errors of ``next()``. Elements before a failing one are returned first.
        public mutating func nextBatch() async throws -> [Element]? {
            guard let first = try await next() else { return nil }
            var batch = [first]
            do {
                while let place = try parser.next() { batch.append(try read(parser.document, place)) }
            } catch {
                failure = error
            }
            return batch
        }

        /// Decodes the payload, with an empty array, as another type: after the last element the whole payload, before that the part
        /// before the array.
        ///
        /// - Throws: `DecodingError`, or the error of the type's own coding.
        public func surroundings<Value: Decodable>(as type: Value.Type) throws -> Value {
            try reader.decode(type, utf8: parser.knownSurroundings(), at: [])
        }

        private mutating func feed() async throws {
            do {
                if chunk.isEmpty, !isLastChunk { take(try await chunks.next()) }
            } catch {
                failure = error
                throw error
            }
            try feedPiece()
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        private mutating func feed(isolation actor: isolated (any Actor)?) async throws {
            do {
                if chunk.isEmpty, !isLastChunk { take(try await chunks.next(isolation: actor)) }
            } catch {
                failure = error
                throw error
            }
            try feedPiece()
        }

        private mutating func take(_ next: Data?) {
            chunk = next ?? Data()
            isLastChunk = next == nil
        }

        private mutating func feedPiece() throws {
            let piece = chunk.prefix(JSONElementParser.pieceSize)
            chunk = chunk.dropFirst(piece.count)
            let isEnd = isLastChunk
            try failing { parser, _ in
                if isEnd { try parser.finish() } else { try piece.withUnsafeBytes { try parser.feed($0) } }
            }
        }
    }
}

extension JSONElements: Sendable where Chunks: Sendable {}

extension JSONReader {
    /// Returns the elements of an array inside a payload that arrives in pieces.
    ///
    /// - Parameters:
    ///   - type: The type of each element.
    ///   - chunks: The pieces of the payload, in UTF-8, cut anywhere.
    ///   - path: The raw names and indices that lead to the array; empty if the payload is the array.
    ///   - bounds: The maximum sizes.
    public func elements<Element: Decodable & Sendable, Chunks: AsyncSequence>(
        of type: Element.Type, in chunks: Chunks, at path: [String] = [], bounds: JSONStreamBounds = JSONStreamBounds()
    ) -> JSONElements<Element, Chunks> where Chunks.Element == Data {
        JSONElements(chunks, self, at: path, bounds: bounds) { try $0.decode(type, at: $1) }
    }

    /// Returns the elements of an array inside a payload that arrives in pieces, of a type that reads itself.
    public func readElements<Element: JSONReadable & Sendable, Chunks: AsyncSequence>(
        of type: Element.Type, in chunks: Chunks, at path: [String] = [], bounds: JSONStreamBounds = JSONStreamBounds()
    ) -> JSONElements<Element, Chunks> where Chunks.Element == Data {
        JSONElements(chunks, self, at: path, bounds: bounds) { try Element(from: JSONCursor($0, $1)) }
    }
}

/// The maximum sizes of the parts of a payload that is read in pieces, in bytes.
public struct JSONStreamBounds: Sendable, Hashable {
    /// The maximum size of an element; an element within one piece of up to 64 KiB is always accepted. Default: 16 MiB.
    public var element: Int
    /// The maximum size of the text around the array. Default: 1 MiB.
    public var surroundings: Int
    /// The maximum size of the payload. Default: unlimited, since text that has been read isn't kept.
    public var total: Int

    /// Creates bounds.
    public init(element: Int = 16 << 20, surroundings: Int = 1 << 20, total: Int = .max) {
        self.element = element
        self.surroundings = surroundings
        self.total = total
    }
}

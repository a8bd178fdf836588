public import Foundation

/// The elements of an array that lies inside a payload, decoded one by one while the payload arrives.
///
///     let products = JSONReader().elements(of: Product.self, in: response.body, at: ["value"])
///     for try await product in products { … }
///
/// Memory stays flat: it holds a piece of the payload, or the element that is being received if that is larger, and what lies around the
/// array. A payload that ends before its last bracket is an error, never the end of the elements; so is a payload without the array.
///
/// What lies around is there, too, with an iterator by hand:
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

    /// An iterator, which reads the pieces of the payload as it needs them.
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
        /// The piece that is being given to the parser, bit by bit.
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

        /// The next element; `nil` when the array and the payload around it have ended.
        ///
        /// - Throws: `DecodingError`, or what the element's own coding throws; with a ``JSONSyntaxError`` when the payload is no JSON, ends
        ///   too early, or is beyond the bounds; ``SerializationError`` when it has no such root; what the sequence of pieces throws.
        ///   After an error, the same one is thrown again.
        public mutating func next() async throws -> Element? {
            while true {
                if let element = try ready() { return element }
                if parser.isAtEnd { return nil }
                try await feed()
            }
        }

        /// The same without leaving an actor while elements are there.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            while true {
                if let element = try ready() { return element }
                if parser.isAtEnd { return nil }
                try await feed(isolation: actor)
            }
        }

        /// An element that is there.
        private mutating func ready() throws -> Element? {
            if let failure { throw failure }
            return try failing { parser, read in try parser.next().map { try read(parser.document, $0) } }
        }

        /// Keeps an error, to throw it again.
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

        /// The elements that are there, at least one; `nil` at the end. It spares the cost of an asynchronous call for each.
        ///
        /// - Throws: as ``next()`` does. Elements before the one that fails are returned first.
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

        /// The payload as if the array had no elements, as another type: after the last element all of it, before that what comes before
        /// the array.
        ///
        /// - Throws: `DecodingError`, or what the type's own coding throws.
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
    /// The elements of an array inside a payload that comes in pieces.
    ///
    /// - Parameters:
    ///   - type: what to make of each element.
    ///   - chunks: the pieces of the payload, in UTF-8, cut anywhere.
    ///   - path: the names, as they stand in the text, and indices that lead to the array; empty where the payload is the array.
    ///   - bounds: how much of what there may be.
    public func elements<Element: Decodable & Sendable, Chunks: AsyncSequence>(
        of type: Element.Type, in chunks: Chunks, at path: [String] = [], bounds: JSONStreamBounds = JSONStreamBounds()
    ) -> JSONElements<Element, Chunks> where Chunks.Element == Data {
        JSONElements(chunks, self, at: path, bounds: bounds) { try $0.decode(type, at: $1) }
    }

    /// The elements of an array inside a payload that comes in pieces, of a type that reads itself.
    public func readElements<Element: JSONReadable & Sendable, Chunks: AsyncSequence>(
        of type: Element.Type, in chunks: Chunks, at path: [String] = [], bounds: JSONStreamBounds = JSONStreamBounds()
    ) -> JSONElements<Element, Chunks> where Chunks.Element == Data {
        JSONElements(chunks, self, at: path, bounds: bounds) { try Element(from: JSONCursor($0, $1)) }
    }
}

/// How much a payload that is read in pieces may have of what. All in bytes.
public struct JSONStreamBounds: Sendable, Hashable {
    /// The largest element; one that is within one piece, of up to 64 KiB, is never too large. Default: 16 MiB.
    public var element: Int
    /// The most of what lies around the array. Default: 1 MiB.
    public var surroundings: Int
    /// The whole payload. Default: without bound, since what has been read isn't kept.
    public var total: Int

    /// Bounds.
    public init(element: Int = 16 << 20, surroundings: Int = 1 << 20, total: Int = .max) {
        self.element = element
        self.surroundings = surroundings
        self.total = total
    }
}

import Foundation
public import HTTPTransport

/// A request body that is produced from an asynchronous sequence while it is sent: JSON Lines, a JSON text sequence, or events.
///
///     "ingest(readings:)": .post("/readings")
///
///     func ingest(readings: StreamUpload) async throws { try await call(readings) }
///
///     try await client.ingest(readings: StreamUpload(.jsonLines, sensor.readings))
///
/// The sequence is read only as fast as the server accepts the body. The endpoint's serializer encodes the elements. An error of the
/// sequence or of the encoder ends the call with a ``ServiceError`` of the kind ``ServiceError/Kind/encoding``.
public struct StreamUpload: Sendable {
    /// How elements are divided.
    public enum Framing: String, Sendable, Hashable, CaseIterable {
        /// A JSON value per line: `application/x-ndjson`.
        case jsonLines
        /// A JSON text sequence (RFC 7464): `application/json-seq`.
        case jsonSequence

        /// The media type.
        public var contentType: String {
            switch self {
            case .jsonLines: "application/x-ndjson"
            case .jsonSequence: "application/json-seq"
            }
        }
    }

    private let contentType: String
    private let isReplayable: Bool
    /// Returns a function that produces the next piece.
    private let open: @Sendable (any SerializationDelegate) -> @Sendable () async throws -> Data?

    /// Creates a body that can be sent once. A call that must send it again, after a redirect or a failure, fails.
    public init<Elements: AsyncSequence & Sendable>(_ framing: Framing, _ elements: Elements) where Elements.Element: Encodable {
        self.init(framing, isReplayable: false) { elements }
    }

    /// Creates a body that can be sent again.
    ///
    /// - Parameter elements: Returns the same elements each time.
    public init<Elements: AsyncSequence & Sendable>(
        _ framing: Framing, replaying elements: @escaping @Sendable () -> Elements
    ) where Elements.Element: Encodable {
        self.init(framing, isReplayable: true, elements)
    }

    private init<Elements: AsyncSequence & Sendable>(
        _ framing: Framing, isReplayable: Bool, _ elements: @escaping @Sendable () -> Elements
    ) where Elements.Element: Encodable {
        contentType = framing.contentType
        self.isReplayable = isReplayable
        open = { serializer in
            let source = StreamUploadSource(elements()) { try Self.encoded($0, framing, serializer) }
            return { try await source.next() }
        }
    }

    /// Creates a body of events, `text/event-stream`, that can be sent once.
    public init<Events: AsyncSequence & Sendable>(events: Events) where Events.Element == ServerEvent {
        self.init(isReplayable: false) { events }
    }

    /// Creates a body of events, `text/event-stream`, that can be sent again.
    ///
    /// - Parameter events: Returns the same events each time.
    public init<Events: AsyncSequence & Sendable>(
        replayingEvents events: @escaping @Sendable () -> Events
    ) where Events.Element == ServerEvent {
        self.init(isReplayable: true, events)
    }

    private init<Events: AsyncSequence & Sendable>(
        isReplayable: Bool, _ events: @escaping @Sendable () -> Events
    ) where Events.Element == ServerEvent {
        contentType = "text/event-stream"
        self.isReplayable = isReplayable
        open = { _ in
            var encoder = EventEncoder()
            let source = StreamUploadSource(events()) { try encoder.encode($0) }
            return { try await source.next() }
        }
    }

    /// The body of a request.
    ///
    /// - Parameter serializer: Encodes the elements. Events don't need it.
    public func body(with serializer: any SerializationDelegate = JSONSerializer()) -> RequestBody {
        RequestBody(isReplayable: isReplayable, contentType: contentType) { [open] in
            AsyncThrowingStream(unfolding: open(serializer))
        }
    }

    private static func encoded(_ element: any Encodable, _ framing: Framing, _ serializer: any SerializationDelegate) throws -> Data {
        var data = try serializer.encode(element)
        switch framing {
        case .jsonLines:
            guard !data.contains(where: { $0 == 0x0A || $0 == 0x0D }) else {
                throw SerializationError(
                    .encoding, "The serializer writes line ends, which divide the elements: use one without .prettyPrinted.")
            }
        case .jsonSequence:
            guard !data.contains(0x1E) else {
                throw SerializationError(.encoding, "The serializer writes the byte 1E, which divides the elements: use a JSON serializer.")
            }
            data.insert(0x1E, at: data.startIndex)
        }
        data.append(0x0A)
        return data
    }
}

/// Encodes the elements of a sequence on demand.
///
/// `@unchecked Sendable`: only one task at a time uses it, because a body has one reader that waits for each piece.
private final class StreamUploadSource<Elements: AsyncSequence>: @unchecked Sendable {
    private var iterator: Elements.AsyncIterator
    private let encode: (Elements.Element) throws -> Data

    init(_ elements: Elements, _ encode: @escaping (Elements.Element) throws -> Data) {
        iterator = elements.makeAsyncIterator()
        self.encode = encode
    }

    func next() async throws -> Data? {
        try await iterator.next().map(encode)
    }
}

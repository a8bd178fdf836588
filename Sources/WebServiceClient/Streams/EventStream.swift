import Foundation

/// The events of a response, read while they arrive (Server-Sent Events, WHATWG HTML §9.2).
///
///     func answer(to question: Question) async throws -> EventStream<Answer.Delta> { try await call(question) }
///
///     for try await delta in try await client.answer(to: question) { print(delta.text, terminator: "") }
///
/// An `EventStream<ServerEvent>` has the events themselves, an `EventStream<String>` their data; any other type is decoded from the data by
/// the endpoint's serializer. The stream reads from the server at the pace of the loop. Leaving the loop, cancelling the task or releasing
/// the stream ends the exchange. A stream has one reader, and is read once.
///
/// Modifiers of the endpoint declare when the stream ends, fails and reconnects: ``EndpointDescriptor/endsStream(at:)``,
/// ``EndpointDescriptor/failsStream(atEvent:)`` and ``EndpointDescriptor/reconnecting(_:)``.
public struct EventStream<Element: Decodable & Sendable>: AsyncSequence, Sendable {
    /// The input of the iterator.
    struct Content: Sendable {
        /// The body of the first connection; `nil` if there are no events.
        let body: ResponseBody?
        let rules: EventRules
        let decode: @Sendable (ServerEvent) throws -> Element
        /// Makes the error that the reader gets.
        var failure: @Sendable (any Error) -> any Error = { $0 }
        var reconnection: EventReconnection?
    }

    private let content: ReadOnce<Content>
    private let lastID = Locked("")

    init(_ content: Content) { self.content = ReadOnce(content) }

    /// The ID of the last event that was read. To resume the stream later, send it as the field `Last-Event-ID`, if the service supports
    /// that. Empty if no event had an ID.
    public var lastEventID: String { lastID.withLock { $0 } }

    /// Returns an iterator. Releasing it before the end ends the exchange.
    public func makeAsyncIterator() -> Iterator { Iterator(content: content, known: lastID) }

    /// Reads the events.
    public struct Iterator: AsyncIteratorProtocol {
        private let content: ReadOnce<Content>
        private let known: Locked<String>
        private var reader: EventReader<Element>?
        private var isOver = false

        fileprivate init(content: ReadOnce<Content>, known: Locked<String>) {
            self.content = content
            self.known = known
        }

        /// Returns the next event; `nil` at the end.
        ///
        /// - Throws: For a declared call, ``ServiceError``, whose cause is ``StreamError`` for a fault of the stream; `CancellationError`.
        ///   Afterwards the events have ended.
        public mutating func next() async throws -> Element? {
            if isOver { return nil }
            do {
                if reader == nil { reader = EventReader(try content.take(), known) }
                let element = try await reader?.next()
                if element == nil || reader?.isOver == true { end() }
                return element
            } catch {
                let thrown = reader?.failure(error) ?? error
                end()
                throw thrown
            }
        }

        private mutating func end() {
            isOver = true
            reader = nil
        }
    }
}

extension EventStream: Decodable {
    /// Throws an error, because a stream is the whole result of a call and can't be part of a decoded value.
    public init(from decoder: any Decoder) throws {
        throw DecodingError.typeMismatch(Self.self, StreamedType.context(decoder, "EventStream"))
    }
}

/// The rules of an event stream that its endpoint declares.
struct EventRules: Sendable {
    /// The maximum number of bytes of an event's data.
    var limit: Int
    /// The event that ends the stream; `nil` for the end of the connection.
    var end: StreamEnd?
    /// The types of events that report an error of the service.
    var failing: Set<String> = []

    /// The error of a stream that ended before its end mark.
    func truncated(after place: StreamPlace) -> StreamError? {
        let mark: String
        switch end {
        case nil: return nil
        case .data(let data): mark = "data “\(VisibleText.of(data))”"
        case .event(let type): mark = "an event of the type \(VisibleText.of(type))"
        }
        return StreamError(
            .truncated,
            "The stream ended after \(place.element) events without its end mark, \(mark): it was cut off, or it has another end mark.")
    }
}

/// Reads an event stream over one or more connections.
private struct EventReader<Element: Decodable & Sendable> {
    private let rules: EventRules
    private let decode: @Sendable (ServerEvent) throws -> Element
    private let reconnection: EventReconnection?
    private let known: Locked<String>
    private(set) var failure: @Sendable (any Error) -> any Error
    private var feed: BodyFeed?
    private var parser: EventParser
    private var lastID = ""
    /// The number of reconnections, including failed ones, since the last event.
    private var failures = 0
    /// Whether the event that ends the stream has been returned.
    private(set) var isOver = false

    init(_ content: EventStream<Element>.Content, _ known: Locked<String>) {
        rules = content.rules
        decode = content.decode
        failure = content.failure
        reconnection = content.reconnection
        self.known = known
        feed = content.body.map { BodyFeed($0) }
        parser = EventParser(limit: content.rules.limit)
    }

    mutating func next() async throws -> Element? {
        while feed != nil {
            if let event = try parser.next() { return try received(event) }
            keepID()
            do {
                if let piece = try await feed?.next() {
                    piece.withUnsafeBytes { parser.feed($0) }
                    continue
                }
            } catch {
                guard let reconnection, reconnection.permits(error) else { throw error }
                try await reconnect(reconnection, after: error)
                continue
            }
            guard let reconnection else {
                if let error = rules.truncated(after: parser.place) { throw error }
                return nil
            }
            try await reconnect(reconnection, after: nil)
        }
        return nil
    }

    /// Returns the element of an event; `nil` if the event ends the stream.
    private mutating func received(_ event: ServerEvent) throws -> Element? {
        keepID()
        failures = 0
        if rules.failing.contains(event.type) {
            let excerpt = SerializationError.excerpt(Data(event.data.utf8), upTo: 200)
            var error = StreamError(.reported, "the service reports an error: \(excerpt)", at: parser.place)
            error.event = event
            throw error
        }
        switch rules.end {
        case .data(event.data):
            isOver = true
            return nil
        case .event(event.type):
            isOver = true
        default:
            break
        }
        do {
            return try decode(event)
        } catch {
            throw StreamError.undecodable(Element.self, at: parser.place, error)
        }
    }

    private mutating func keepID() {
        guard parser.lastID != lastID else { return }
        lastID = parser.lastID
        known.withLock { [lastID] in $0 = lastID }
    }

    /// Ends the connection, and opens another one. If the service has no more events, ``feed`` is `nil` afterwards.
    private mutating func reconnect(_ reconnection: EventReconnection, after error: (any Error)?) async throws {
        feed = nil
        parser.reconnect()
        var last = error
        while true {
            guard failures < reconnection.policy.attempts else {
                throw last
                    ?? StreamError(
                        .reconnection,
                        "The stream has ended \(failures + 1) times in a row, which are all attempts that its policy permits.")
            }
            failures += 1
            let wait = reconnection.policy.wait(
                afterFailures: failures, asked: parser.reconnectionTime, fraction: reconnection.random())
            switch try await reconnection.open(parser.lastID, wait) {
            case .opened(let body, let failure):
                feed = BodyFeed(body)
                self.failure = failure
                return
            case .ended:
                return
            case .failed(let error):
                last = error
            }
        }
    }
}

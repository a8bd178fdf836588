public import Foundation

/// A WebSocket (RFC 6455): a connection over which both sides send messages at any time.
///
///     func chat(room: String) async throws -> WebSocket { try await call(room) }      // "chat(room:)": .get("/rooms/%%room%%")
///
///     let socket = try await client.chat(room: "lobby")
///     try await socket.send("Hello")
///     for try await message in socket.messages { … }
///     try await socket.close()
///
/// The handshake is a call of the client like any other: with its headers, authentication, cookies, trust, redirects, retries and
/// deadlines. Its slot in the client's queue is released when the WebSocket is open, and its deadlines don't apply to the messages. The
/// open WebSocket still belongs to the call: cancelling the client's calls, or shutting the client down, ends it.
///
/// Pings of the other side are answered, and so is its Close frame. Messages wait for their reader; when too many wait, the connection
/// isn't read, which slows the other side down. Releasing the WebSocket closes it at once.
public final class WebSocket: Sendable {
    /// The parts of a call that its WebSocket needs.
    struct Context: Sendable {
        let settings: WebSocketSettings
        let clock: CallClock
        let encode: @Sendable (any Encodable) throws -> Data
        let decoder: BodyDecoder
        let payloadRoot: [String]
        let url: URL
        /// Makes the error that the caller gets.
        let failure: @Sendable (any Error) -> any Error
    }

    private let channel: any WebSocketChannel
    private let context: Context
    private let keeper: WebSocketKeeper?

    init(_ channel: any WebSocketChannel, _ context: Context) {
        self.channel = channel
        self.context = context
        keeper = context.settings.pingInterval.map { WebSocketKeeper(channel, context.clock, context.settings, interval: $0) }
        keeper?.start()
    }

    deinit {
        channel.end(WebSocketError(.misuse, "The WebSocket was released: keep it for as long as it is needed."))
    }

    /// The subprotocol that the server has chosen from ``WebSocketSettings/subprotocols``; `nil` for none.
    public var subprotocol: String? { channel.subprotocol }

    /// The way in which the WebSocket was closed; `nil` while it is open.
    public var closure: WebSocketClosure? { channel.closure }

    // MARK: Sending

    /// Sends a message. It returns when the system has accepted all of its bytes, so a slow receiver slows the sender down. If the task is
    /// cancelled, the message isn't sent, unless it has begun to be.
    ///
    /// - Throws: ``ServiceError`` with a ``WebSocketError``; `CancellationError`.
    public func send(_ message: WebSocketMessage) async throws {
        try await wrappingErrors { try await channel.send(message) }
    }

    /// Sends text.
    ///
    /// - Throws: The errors of ``send(_:)-(WebSocketMessage)``.
    public func send(_ text: String) async throws { try await send(.text(text)) }

    /// Sends bytes.
    ///
    /// - Throws: The errors of ``send(_:)-(WebSocketMessage)``.
    public func send(_ data: Data) async throws { try await send(.binary(data)) }

    /// Sends a value as text, encoded by the endpoint's serializer, which writes JSON unless the client has another one. What isn't UTF-8
    /// is sent as bytes.
    ///
    /// - Throws: The errors of ``send(_:)-(WebSocketMessage)``; a ``ServiceError`` of the kind ``ServiceError/Kind/encoding``.
    public func send(json value: some Encodable & Sendable) async throws {
        try await wrappingErrors {
            let data: Data
            do {
                data = try context.encode(value)
            } catch {
                throw BodyEncodingError(argument: "the message", cause: error)
            }
            try await channel.send(WebSocketMessage(encoded: data))
        }
    }

    /// Sends a ping, and waits for its pong, for ``WebSocketSettings/pongTimeout`` at most.
    ///
    /// A pong arrives after the messages that were sent before it. If many messages wait for their reader, the pong isn't seen before they
    /// are read, so the task that reads must not wait for it.
    ///
    /// - Returns: The time until the pong.
    /// - Throws: The errors of ``send(_:)-(WebSocketMessage)``; of the kind ``WebSocketError/Kind/unresponsive`` without a pong in time,
    ///   and then the WebSocket stays open.
    @discardableResult
    public func ping() async throws -> Duration {
        let (channel, clock, timeout) = (channel, context.clock, context.settings.pongTimeout)
        let start = clock.now()
        let pinging = Task { try await channel.ping() }
        let isLate = Locked(false)
        let cancelTimer = clock.schedule(timeout) {
            isLate.withLock { $0 = true }
            pinging.cancel()
        }
        defer { cancelTimer() }
        try await wrappingErrors {
            do {
                try await withTaskCancellationHandler {
                    try await pinging.value
                } onCancel: {
                    pinging.cancel()
                }
            } catch is CancellationError where isLate.withLock({ $0 }) && !Task.isCancelled {
                let reason = channel.waitsForReader ? " It waits behind unread messages." : ""
                throw WebSocketError(
                    .unresponsive, "There was no pong within \(timeout.text): connect again, or raise pongTimeout.\(reason)")
            }
        }
        return clock.now() - start
    }

    // MARK: Receiving

    /// The messages, in the order in which they arrive. They have one reader at a time; leaving a loop doesn't close the WebSocket.
    ///
    /// They end when either side closes the WebSocket normally. Otherwise reading throws a ``ServiceError``, whose cause is a
    /// ``WebSocketError`` with the other side's code and reason.
    public var messages: WebSocketMessages<WebSocketMessage> { WebSocketMessages(socket: self) { $0 } }

    /// The messages as values, decoded by the endpoint's parser from text or bytes.
    ///
    /// A message that can't be decoded throws a ``ServiceError`` of the kind ``ServiceError/Kind/decoding``; the next ones can still be
    /// read.
    public func messages<Value: Decodable & Sendable>(of type: Value.Type) -> WebSocketMessages<Value> {
        let context = context
        return WebSocketMessages(socket: self) { message in
            do {
                return try context.decoder.value(
                    type, from: message.data, contentType: nil, at: context.payloadRoot, url: context.url)
            } catch {
                let text = DecodingErrorText.text(of: error)
                throw context.failure(WebSocketError(.decoding, "A message can't be read as \(type): \(text)", cause: error))
            }
        }
    }

    func receive() async throws -> WebSocketMessage? {
        try await wrappingErrors { try await channel.receive() }
    }

    // MARK: Closing

    /// Closes the WebSocket with a closing handshake (RFC 6455 §7.1.2): sends a Close frame after the messages that are being sent, and
    /// waits for the other side's, for ``WebSocketSettings/closeTimeout`` at most. If the task is cancelled, it waits no longer.
    ///
    /// Messages that haven't been read are discarded, and ``messages`` ends.
    ///
    /// - Parameters:
    ///   - code: The reason as a number.
    ///   - reason: The reason as text; 123 bytes of it are sent.
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Kind/misuse`` for a code that can't be sent. Then the WebSocket stays open.
    public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") async throws {
        guard code.isSendable else {
            throw WebSocketError(.misuse, "A WebSocket can't be closed with the code \(code): use 1000, or one from 3000 to 4999.")
        }
        channel.close(code, reason: reason)
        let waiter = CallWaiter()
        channel.onEnd { waiter.end(.success(())) }
        let cancelTimer = context.clock.schedule(context.settings.closeTimeout) { waiter.end(.success(())) }
        defer { cancelTimer() }
        try? await waiter.wait(unless: CallCancellation())
        // Without effect after the other side's Close frame.
        channel.end(WebSocketError(.unresponsive, "The other side didn't answer the Close frame in time."))
    }

    /// Ends the WebSocket at once, without a closing handshake. Everything that waits throws.
    public func cancel() {
        channel.end(CallCancelled(reason: "The WebSocket was cancelled."))
    }

    private func wrappingErrors<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch {
            throw context.failure(error)
        }
    }
}

extension WebSocket: Decodable {
    /// Throws an error: a WebSocket is the whole result of a call, and can't be part of a decoded value.
    public convenience init(from decoder: any Decoder) throws {
        throw DecodingError.typeMismatch(Self.self, StreamedType.context(decoder, "WebSocket"))
    }
}

/// The messages of a ``WebSocket``, as an asynchronous sequence. It keeps the WebSocket open.
public struct WebSocketMessages<Element: Sendable>: AsyncSequence, Sendable {
    fileprivate let socket: WebSocket
    fileprivate let convert: @Sendable (WebSocketMessage) throws -> Element

    fileprivate init(socket: WebSocket, convert: @escaping @Sendable (WebSocketMessage) throws -> Element) {
        self.socket = socket
        self.convert = convert
    }

    /// Returns an iterator. It begins with the first message that no iterator has returned.
    public func makeAsyncIterator() -> Iterator { Iterator(messages: self) }

    /// Reads the messages.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let messages: WebSocketMessages

        /// Returns the next message; `nil` when the WebSocket was closed normally.
        ///
        /// - Throws: ``ServiceError``, whose cause is ``WebSocketError`` for a fault of the WebSocket; `CancellationError`.
        public mutating func next() async throws -> Element? {
            guard let message = try await messages.socket.receive() else { return nil }
            return try messages.convert(message)
        }
    }
}

/// Sends pings at intervals, and ends the WebSocket if one isn't answered in time.
private final class WebSocketKeeper: Sendable {
    private let channel: any WebSocketChannel
    private let clock: CallClock
    private let interval: Duration
    private let timeout: Duration
    /// The current timer; `nil` after the end.
    private let timer = Locked<ClockTimer?>(ClockTimer())

    init(_ channel: any WebSocketChannel, _ clock: CallClock, _ settings: WebSocketSettings, interval: Duration) {
        self.channel = channel
        self.clock = clock
        self.interval = interval
        timeout = settings.pongTimeout
    }

    func start() {
        channel.onEnd { self.stop() }
        schedule(interval) { $0.ping() }
    }

    private func stop() {
        let last = timer.withLock { timer in
            defer { timer = nil }
            return timer
        }
        last?.cancel()
    }

    /// Replaces the timer, unless the WebSocket has ended.
    private func schedule(_ delay: Duration, _ action: @escaping @Sendable (WebSocketKeeper) -> Void) {
        let new = ClockTimer()
        let last = timer.withLock { timer -> ClockTimer? in
            guard let current = timer else { return nil }
            timer = new
            return current
        }
        guard let last else { return }
        last.cancel()
        new.start(clock, until: clock.now().advanced(by: delay)) { action(self) }
    }

    private func ping() {
        awaitPong()
        Task {
            guard (try? await channel.ping()) != nil else { return }
            schedule(interval) { $0.ping() }
        }
    }

    private func awaitPong() {
        schedule(timeout) { keeper in
            // The pong may have arrived behind unread messages.
            if keeper.channel.waitsForReader { return keeper.awaitPong() }
            keeper.channel.end(
                WebSocketError(.unresponsive, "The other side didn't answer a ping within \(keeper.timeout.text): its connection is dead."))
        }
    }
}

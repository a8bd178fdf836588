import Foundation

/// The incoming and outgoing messages of a ``WebSocketConnection``, which accesses them under its lock.
struct WebSocketState: Sendable {
    /// Work to do after unlocking.
    struct Effects {
        /// Whether there are bytes to write.
        var writes = false
        /// Whether to resume reading.
        var reads = false
        /// Whether the wire must finish: it writes as many bytes as the system accepts immediately, and closes.
        var finishes = false
        /// Suspended calls to resume.
        var resumptions: [@Sendable () -> Void] = []

        func perform(_ wire: any WebSocketWire) {
            if finishes {
                wire.finish()
            } else {
                if writes { wire.wantsToWrite() }
                if reads { wire.wantsToRead() }
            }
            for resume in resumptions { resume() }
        }
    }

    /// A message that is being sent.
    private struct Outgoing {
        let number: Int
        let opcode: WebSocketFrame.Opcode
        let payload: [UInt8]
        var sent = 0
        var isBegun = false
        var waiter: CheckedContinuation<Void, any Error>?
    }

    private struct Ping {
        let number: Int
        let payload: [UInt8]
        var isSent = false
        var waiter: CheckedContinuation<Void, any Error>?
    }

    /// The frame that the wire is writing.
    private enum Writing {
        case nothing
        case control
        case close
        /// A fragment of the first message; the number of bytes of the message sent after it.
        case fragment(end: Int)
    }

    /// High and low watermarks of the waiting messages, by number and bytes: reading pauses above the first pair and resumes below the
    /// second.
    static let (fullAt, fullBytes) = (64, 1 << 20)
    static let (roomAt, roomBytes) = (16, 256 << 10)
    /// The maximum number of bytes of a message in one frame. Control frames are sent between the fragments of longer ones.
    static let fragmentSize = 256 << 10

    private var parser: WebSocketParser
    private var inbox: [WebSocketMessage] = []
    private var inboxStart = 0
    private var inboxBytes = 0
    private var reader: (number: Int, waiter: CheckedContinuation<WebSocketMessage?, any Error>)?
    private(set) var isPaused = false
    private var outgoing: [Outgoing] = []
    private var pings: [Ping] = []
    /// The payload of the last ping that hasn't been answered: older ones need no answer (RFC 6455 §5.5.3).
    private var pong: [UInt8]?
    private var closeFrame: WebSocketFrame?
    private var writing = Writing.nothing
    private var count = 0
    /// Whether this side has begun the closing handshake.
    private var isClosing = false
    /// The end; the error is `nil` if the WebSocket was closed normally.
    private(set) var end: (closure: WebSocketClosure, error: (any Error)?)?
    private var endHandlers: [@Sendable () -> Void] = []

    init(messageLimit: Int) {
        parser = WebSocketParser(limit: messageLimit)
    }

    /// Returns a number for a suspended call.
    mutating func nextNumber() -> Int {
        count += 1
        return count
    }
}

// Receiving.
extension WebSocketState {
    /// Receives bytes.
    ///
    /// - Returns: Whether to continue reading.
    mutating func receive(_ bytes: UnsafeRawBufferPointer, _ effects: inout Effects) -> Bool {
        guard end == nil else { return false }
        parser.feed(bytes)
        do {
            while end == nil, let event = try parser.next() { handle(event, &effects) }
        } catch {
            closeFrame = .close(error.code, reason: "")
            finish(WebSocketClosure(.abnormal), error.error, &effects)
        }
        guard end == nil else { return false }
        isPaused = !isClosing && (inbox.count - inboxStart >= Self.fullAt || inboxBytes >= Self.fullBytes)
        return !isPaused
    }

    private mutating func handle(_ event: WebSocketParser.Event, _ effects: inout Effects) {
        switch event {
        case .message(let message):
            if isClosing { return }
            if let reader {
                self.reader = nil
                effects.resumptions.append { reader.waiter.resume(returning: message) }
            } else {
                inbox.append(message)
                inboxBytes += message.count
            }
        case .ping(let payload):
            pong = payload
            effects.writes = true
        case .pong(let payload):
            // A pong also answers the pings before the one that it names.
            guard let index = pings.lastIndex(where: { $0.isSent && $0.payload == payload }) else { return }
            for ping in pings[...index] {
                if let waiter = ping.waiter { effects.resumptions.append { waiter.resume() } }
            }
            pings.removeSubrange(...index)
        case .close(let closure):
            if !isClosing { closeFrame = .close(closure.code) }
            finish(closure, closure.code.isOrderly || isClosing ? nil : WebSocketError.closed(closure), &effects)
        }
    }

    /// Called when the connection has ended.
    mutating func wireEnded(_ error: (any Error)?, _ effects: inout Effects) {
        guard end == nil else { return }
        finish(WebSocketClosure(.abnormal), WebSocketError.lost(error), &effects)
    }

    /// Ends the WebSocket and all suspended calls. Messages that have already arrived can still be read.
    mutating func finish(_ closure: WebSocketClosure, _ error: (any Error)?, _ effects: inout Effects) {
        guard end == nil else { return }
        end = (closure, error)
        effects.finishes = true
        let refusal = error ?? WebSocketError.notOpen(closure)
        if let reader {
            self.reader = nil
            effects.resumptions.append {
                if let error { reader.waiter.resume(throwing: error) } else { reader.waiter.resume(returning: nil) }
            }
        }
        for waiter in outgoing.compactMap(\.waiter) + pings.compactMap(\.waiter) {
            effects.resumptions.append { waiter.resume(throwing: refusal) }
        }
        (outgoing, pings, pong) = ([], [], nil)
        effects.resumptions += endHandlers
        endHandlers = []
    }

    /// Returns whether the WebSocket has ended. If it hasn't, the action is performed when it ends.
    mutating func hasEnded(or action: @escaping @Sendable () -> Void) -> Bool {
        if end == nil { endHandlers.append(action) }
        return end != nil
    }
}

// Reading messages.
extension WebSocketState {
    /// Returns the result that is available immediately; `nil` if the reader must wait.
    mutating func read(
        _ number: Int, _ waiter: CheckedContinuation<WebSocketMessage?, any Error>, _ effects: inout Effects
    ) -> Result<WebSocketMessage?, any Error>? {
        if inboxStart < inbox.count {
            let message = inbox[inboxStart]
            inboxStart += 1
            inboxBytes -= message.count
            if inboxStart > 32, inboxStart * 2 > inbox.count {
                inbox.removeSubrange(..<inboxStart)
                inboxStart = 0
            }
            resumeReading(&effects)
            return .success(message)
        }
        if let end { return end.error.map { .failure($0) } ?? .success(nil) }
        guard !isClosing else { return .success(nil) }
        guard reader == nil else {
            return .failure(WebSocketError(.misuse, "Another task reads the WebSocket: its messages have one reader."))
        }
        reader = (number, waiter)
        return nil
    }

    private mutating func resumeReading(_ effects: inout Effects) {
        guard isPaused, inbox.count - inboxStart <= Self.roomAt, inboxBytes <= Self.roomBytes else { return }
        isPaused = false
        effects.reads = true
    }

    /// Removes a reader whose task is cancelled.
    mutating func cancelReader(_ number: Int, _ effects: inout Effects) {
        guard let reader, reader.number == number else { return }
        self.reader = nil
        effects.resumptions.append { reader.waiter.resume(throwing: CancellationError()) }
    }
}

// Sending.
extension WebSocketState {
    private var refusal: (any Error)? {
        if let end { return end.error ?? WebSocketError.notOpen(end.closure) }
        return isClosing ? WebSocketError(.misuse, "The WebSocket is being closed: send before close().") : nil
    }

    /// Adds a message.
    ///
    /// - Returns: The error if the WebSocket is closed.
    mutating func send(
        _ message: WebSocketMessage, _ number: Int, _ waiter: CheckedContinuation<Void, any Error>, _ effects: inout Effects
    ) -> (any Error)? {
        if let refusal { return refusal }
        let opcode: WebSocketFrame.Opcode
        let payload: [UInt8]
        switch message {
        case .text(let text): (opcode, payload) = (.text, Array(text.utf8))
        case .binary(let data): (opcode, payload) = (.binary, Array(data))
        }
        outgoing.append(Outgoing(number: number, opcode: opcode, payload: payload, waiter: waiter))
        effects.writes = true
        return nil
    }

    /// Adds a ping.
    mutating func ping(_ number: Int, _ waiter: CheckedContinuation<Void, any Error>, _ effects: inout Effects) -> (any Error)? {
        if let refusal { return refusal }
        pings.append(Ping(number: number, payload: Array(String(number).utf8), waiter: waiter))
        effects.writes = true
        return nil
    }

    /// Ends the wait of a call whose task is cancelled. A message is dropped if none of it has been sent.
    mutating func cancelSending(_ number: Int, _ effects: inout Effects) {
        var waiter: CheckedContinuation<Void, any Error>?
        if let index = outgoing.firstIndex(where: { $0.number == number }) {
            waiter = outgoing[index].waiter
            outgoing[index].waiter = nil
            if !outgoing[index].isBegun { outgoing.remove(at: index) }
        } else if let index = pings.firstIndex(where: { $0.number == number }) {
            waiter = pings[index].waiter
            pings[index].waiter = nil
            if !pings[index].isSent { pings.remove(at: index) }
        }
        if let waiter { effects.resumptions.append { waiter.resume(throwing: CancellationError()) } }
    }

    /// Begins the closing handshake.
    mutating func close(_ code: WebSocketCloseCode, reason: String, _ effects: inout Effects) {
        guard end == nil, !isClosing else { return }
        isClosing = true
        closeFrame = .close(code, reason: reason)
        (inbox, inboxStart, inboxBytes) = ([], 0, 0)
        if let reader {
            self.reader = nil
            effects.resumptions.append { reader.waiter.resume(returning: nil) }
        }
        effects.writes = true
        effects.reads = isPaused
        isPaused = false
    }

    /// Ends the WebSocket with a Close frame, without a closing handshake.
    mutating func abort(_ error: any Error, _ code: WebSocketCloseCode, _ effects: inout Effects) {
        guard end == nil else { return }
        if !isClosing { closeFrame = .close(code) }
        (inbox, inboxStart, inboxBytes) = ([], 0, 0)
        finish(WebSocketClosure(.abnormal), error, &effects)
    }

    /// Returns the next bytes to write; `nil` if there are none.
    mutating func nextBytes() -> [UInt8]? {
        if let pong {
            self.pong = nil
            writing = .control
            return WebSocketFrame.clientBytes(.pong, pong[...])
        }
        if let index = pings.firstIndex(where: { !$0.isSent }) {
            pings[index].isSent = true
            writing = .control
            return WebSocketFrame.clientBytes(.ping, pings[index].payload[...])
        }
        if !outgoing.isEmpty {
            let (start, all) = (outgoing[0].sent, outgoing[0].payload.count)
            let end = min(all, start + Self.fragmentSize)
            let opcode = outgoing[0].isBegun ? .continuation : outgoing[0].opcode
            outgoing[0].isBegun = true
            writing = .fragment(end: end)
            return WebSocketFrame.clientBytes(opcode, outgoing[0].payload[start..<end], isFinal: end == all)
        }
        guard let frame = closeFrame else { return nil }
        closeFrame = nil
        writing = .close
        return WebSocketFrame.clientBytes(.close, frame.payload[...])
    }

    /// Called when the previous bytes have been written.
    mutating func wrote(_ effects: inout Effects) {
        defer { writing = .nothing }
        guard case .fragment(let end) = writing, !outgoing.isEmpty, outgoing[0].isBegun else { return }
        outgoing[0].sent = end
        guard end == outgoing[0].payload.count else { return }
        let message = outgoing.removeFirst()
        if let waiter = message.waiter { effects.resumptions.append { waiter.resume() } }
    }
}

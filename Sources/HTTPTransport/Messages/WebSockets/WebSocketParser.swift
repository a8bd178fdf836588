import Foundation

/// Reads frames, and joins the fragments of messages (RFC 6455 §5).
///
/// The caller passes bytes in as they arrive. After an error, nothing more can be read.
package struct WebSocketParser: Sendable {
    /// A complete message or control frame.
    package enum Event: Sendable, Hashable {
        case message(WebSocketMessage)
        case ping([UInt8])
        case pong([UInt8])
        /// A Close frame; its code is `noStatus` if it has none.
        case close(WebSocketClosure)
    }

    /// A violation of the protocol, and the code to close the connection with (RFC 6455 §7.1.7).
    package struct Violation: Error, Hashable {
        package let code: WebSocketCloseCode
        package let message: String

        /// The error for the reader.
        package var error: WebSocketError {
            WebSocketError(code == .messageTooBig ? .tooLarge : .protocolViolation, message)
        }
    }

    /// The head of a frame whose payload is being read.
    private struct Head {
        var opcode: WebSocketFrame.Opcode
        var isFinal: Bool
        var length: Int
        var mask: WebSocketMask?
        /// The number of bytes of the payload that have been read.
        var read = 0
    }

    /// Whether the frames come from a client, and so must be masked; those of a server must not be (§5.1).
    private let readsClient: Bool
    /// The maximum number of bytes of a message.
    private let limit: Int
    private var buffer: [UInt8] = []
    private var start = 0
    private var head: Head?
    /// The payload of the current control frame.
    private var control: [UInt8] = []
    /// The opcode of the message whose fragments are being read; `nil` between messages.
    private var message: WebSocketFrame.Opcode?
    private var payload: [UInt8] = []
    private var text = UTF8Check()
    private var isOver = false

    /// - Parameter limit: The maximum number of bytes of a message, at least 0.
    package init(readsClient: Bool = false, limit: Int) {
        self.readsClient = readsClient
        self.limit = max(0, limit)
    }

    /// Adds bytes that have arrived.
    package mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        guard !isOver else { return }
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.capacity <= 256 << 10)
        } else if start > 0 {
            buffer.removeSubrange(..<start)
        }
        start = 0
        buffer.append(contentsOf: bytes)
    }

    /// Returns the next complete message or control frame; `nil` if more bytes are needed. After a Close frame, the rest is ignored
    /// (§5.5.1).
    package mutating func next() throws(Violation) -> Event? {
        guard !isOver else { return nil }
        do throws(Violation) {
            while true {
                if head == nil { head = try nextHead() }
                guard try readPayload(), let head else { return nil }
                self.head = nil
                if let event = try finished(head) {
                    if case .close = event { isOver = true }
                    return event
                }
            }
        } catch {
            isOver = true
            throw error
        }
    }

    private var available: Int { buffer.count - start }

    /// Reads the head of a frame, and checks all of its parts.
    private func parsedHead() throws(Violation) -> (head: Head, size: Int)? {
        guard available >= 2 else { return nil }
        let (first, second) = (buffer[start], buffer[start + 1])
        guard first & 0x70 == 0 else {
            throw Self.violation("A frame has a reserved bit, and no extension was negotiated (§5.2).")
        }
        guard let opcode = WebSocketFrame.Opcode(rawValue: first & 0x0F) else {
            throw Self.violation("A frame has the reserved opcode \(first & 0x0F) (§5.2).")
        }
        let (isFinal, isMasked) = (first & 0x80 != 0, second & 0x80 != 0)
        guard isMasked == readsClient else {
            throw Self.violation(isMasked ? "A server's frame is masked (§5.1)." : "A client's frame isn't masked (§5.1).")
        }
        let short = Int(second & 0x7F)
        if opcode.isControl {
            guard isFinal else { throw Self.violation("A control frame is fragmented (§5.5).") }
            guard short <= WebSocketFrame.controlLimit else { throw Self.violation("A control frame is longer than 125 bytes (§5.5).") }
            guard opcode != .close || short != 1 else { throw Self.violation("A Close frame has one byte, and its code has two (§5.5.1).") }
        } else if opcode == .continuation {
            guard message != nil else { throw Self.violation("A continuation has no message to continue (§5.4).") }
        } else {
            guard message == nil else { throw Self.violation("A message begins before the end of another (§5.4).") }
        }
        let size = 2 + (short == 126 ? 2 : short == 127 ? 8 : 0) + (isMasked ? 4 : 0)
        guard available >= size else { return nil }
        let length = try length(short)
        if !opcode.isControl {
            guard length <= UInt64(limit - payload.count) else {
                throw Violation(
                    code: .messageTooBig,
                    message: "A message is larger than the limit of \(limit) bytes: raise maximumMessageSize if it is valid.")
            }
        }
        let mask = isMasked ? WebSocketMask(bytes: buffer[(start + size - 4)..<(start + size)]) : nil
        return (Head(opcode: opcode, isFinal: isFinal, length: Int(length), mask: mask), size)
    }

    private mutating func nextHead() throws(Violation) -> Head? {
        guard let (head, size) = try parsedHead() else { return nil }
        start += size
        if head.opcode == .text || head.opcode == .binary { message = head.opcode }
        return head
    }

    /// The length after the first two bytes (§5.2): it has the fewest bytes that suffice, and 63 bits at most.
    private func length(_ short: Int) throws(Violation) -> UInt64 {
        guard short > 125 else { return UInt64(short) }
        let count = short == 126 ? 2 : 8
        var length: UInt64 = 0
        for byte in buffer[(start + 2)..<(start + 2 + count)] { length = length << 8 | UInt64(byte) }
        guard length <= UInt64(Int64.max) else { throw Self.violation("The length of a frame has its highest bit set (§5.2).") }
        guard length > (short == 126 ? 125 : 65_535) else {
            throw Self.violation("The length of a frame isn't written with the fewest bytes (§5.2).")
        }
        return length
    }

    /// Moves bytes of the payload to their message or control frame.
    ///
    /// - Returns: Whether the payload is complete.
    private mutating func readPayload() throws(Violation) -> Bool {
        guard var head else { return false }
        let count = min(available, head.length - head.read)
        if count > 0 {
            if let mask = head.mask {
                let (start, offset) = (start, head.read)
                buffer.withUnsafeMutableBytes {
                    mask.apply(to: UnsafeMutableRawBufferPointer(rebasing: $0[start..<(start + count)]), at: offset)
                }
            }
            let part = buffer[start..<(start + count)]
            start += count
            head.read += count
            self.head = head
            if head.opcode.isControl {
                control += part
            } else {
                if message == .text, !text.accepts(part) { throw Self.badText }
                payload += part
            }
        }
        return head.read == head.length
    }

    /// Returns the event that a complete frame produces; `nil` if its message continues.
    private mutating func finished(_ head: Head) throws(Violation) -> Event? {
        if head.opcode.isControl {
            defer { control = [] }
            switch head.opcode {
            case .ping: return .ping(control)
            case .pong: return .pong(control)
            default: return .close(try closure())
            }
        }
        guard head.isFinal, let opcode = message else { return nil }
        message = nil
        defer { payload = [] }
        guard opcode == .text else { return .message(.binary(Data(payload))) }
        guard text.isComplete else { throw Self.badText }
        text = UTF8Check()
        return .message(.text(String(decoding: payload, as: UTF8.self)))
    }

    /// The code and the reason of a Close frame (§5.5.1, §7.4).
    private func closure() throws(Violation) -> WebSocketClosure {
        guard control.count >= 2 else { return WebSocketClosure(.noStatus) }
        let code = WebSocketCloseCode(rawValue: UInt16(control[0]) << 8 | UInt16(control[1]))
        guard code.isSendable else {
            throw Self.violation("A Close frame has the code \(code.rawValue), which no frame may have (§7.4).")
        }
        var check = UTF8Check()
        guard check.accepts(control[2...]), check.isComplete else {
            throw Violation(code: .invalidData, message: "The reason in a Close frame isn't UTF-8 (RFC 6455 §8.1).")
        }
        return WebSocketClosure(code, reason: String(decoding: control[2...], as: UTF8.self))
    }

    private static let badText = Violation(code: .invalidData, message: "A text message isn't UTF-8 (RFC 6455 §8.1).")

    private static func violation(_ message: String) -> Violation {
        Violation(code: .protocolError, message: "The other side violates RFC 6455. \(message)")
    }
}

@_spi(Fuzzing) extension WebSocketMessage {
    /// Reads frames that arrive in pieces of a size, and describes what they mean. The end is the code of a violation; `nil` for none.
    public static func reading(
        _ bytes: [UInt8], inPiecesOf size: Int, fromClient isClient: Bool, limit: Int
    ) -> (events: [String], end: UInt16?) {
        var parser = WebSocketParser(readsClient: isClient, limit: limit)
        var events: [String] = []
        for start in stride(from: 0, to: bytes.count, by: max(1, size)) {
            Array(bytes[start..<min(bytes.count, start + max(1, size))]).withUnsafeBytes { parser.feed($0) }
            do throws(WebSocketParser.Violation) {
                while let event = try parser.next() { events.append("\(event)") }
            } catch {
                return (events, error.code.rawValue)
            }
        }
        return (events, nil)
    }
}

/// Checks UTF-8 (RFC 3629) in pieces of any size. It fails at the first byte that can't be part of a character.
struct UTF8Check: Sendable {
    /// The number of bytes that are missing from the current character.
    private var missing = 0
    /// The valid range of the next byte.
    private var lower: UInt8 = 0x80
    private var upper: UInt8 = 0xBF

    init() {}

    /// Whether the last character is complete.
    var isComplete: Bool { missing == 0 }

    /// Returns whether the bytes continue valid text.
    mutating func accepts(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBufferPointer { accepts($0) }
    }

    private mutating func accepts(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        for byte in bytes {
            if missing > 0 {
                guard byte >= lower, byte <= upper else { return false }
                (lower, upper) = (0x80, 0xBF)
                missing -= 1
                continue
            }
            switch byte {
            case ..<0x80: continue
            case 0xC2...0xDF: missing = 1
            case 0xE0: (missing, lower) = (2, 0xA0)
            case 0xED: (missing, upper) = (2, 0x9F)
            case 0xE1...0xEF: missing = 2
            case 0xF0: (missing, lower) = (3, 0x90)
            case 0xF4: (missing, upper) = (3, 0x8F)
            case 0xF1...0xF3: missing = 3
            default: return false
            }
        }
        return true
    }
}

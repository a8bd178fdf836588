public import Foundation

/// A message of a WebSocket (RFC 6455 §5.6).
public enum WebSocketMessage: Sendable, Hashable {
    /// Text.
    case text(String)
    /// Bytes.
    case binary(Data)

    /// The bytes of the message; those of a text in UTF-8.
    public var data: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .binary(let data): data
        }
    }

    /// A message with the output of a serializer: text if it is UTF-8.
    package init(encoded data: Data) {
        var check = UTF8Check()
        let isText = check.accepts(Array(data)[...]) && check.isComplete
        self = isText ? .text(String(decoding: data, as: UTF8.self)) : .binary(data)
    }

    /// The number of bytes.
    package var count: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let data): data.count
        }
    }
}

/// The reason for closing a WebSocket: the code of a Close frame (RFC 6455 §7.4). Codes from 3000 to 3999 are registered for libraries and
/// frameworks, those from 4000 to 4999 are for applications.
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt16

    /// Creates a code.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The purpose of the connection is fulfilled.
    public static let normal = Self(rawValue: 1000)
    /// An endpoint goes away: a server shuts down, or a user leaves a page.
    public static let goingAway = Self(rawValue: 1001)
    /// The other side violated the protocol.
    public static let protocolError = Self(rawValue: 1002)
    /// The type of a message isn't accepted, such as bytes where only text is understood.
    public static let unsupportedData = Self(rawValue: 1003)
    /// The Close frame had no code. It is never sent.
    public static let noStatus = Self(rawValue: 1005)
    /// The connection ended without a Close frame. It is never sent.
    public static let abnormal = Self(rawValue: 1006)
    /// The content of a message doesn't match its type, such as text that isn't UTF-8.
    public static let invalidData = Self(rawValue: 1007)
    /// A message violates a policy.
    public static let policyViolation = Self(rawValue: 1008)
    /// A message is too large.
    public static let messageTooBig = Self(rawValue: 1009)
    /// The server didn't negotiate an extension that the client needs.
    public static let missingExtension = Self(rawValue: 1010)
    /// The server met an unexpected condition.
    public static let internalError = Self(rawValue: 1011)
    /// The server restarts.
    public static let serviceRestart = Self(rawValue: 1012)
    /// The server is overloaded: try again later.
    public static let tryAgainLater = Self(rawValue: 1013)
    /// A gateway got an invalid response.
    public static let badGateway = Self(rawValue: 1014)

    /// Whether a Close frame may contain the code (RFC 6455 §7.4.2). The others describe what happened without one, or are reserved.
    public var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// Whether the code denotes a normal closure: 1000, 1001, or no code.
    public var isOrderly: Bool { self == .normal || self == .goingAway || self == .noStatus }

    private static let names: [UInt16: String] = [
        1000: "normal", 1001: "going away", 1002: "protocol error", 1003: "unsupported data", 1005: "no status", 1006: "abnormal",
        1007: "invalid data", 1008: "policy violation", 1009: "message too big", 1010: "missing extension", 1011: "internal error",
        1012: "service restart", 1013: "try again later", 1014: "bad gateway",
    ]

    /// The number and, for a standard code, its name, such as `1001 (going away)`.
    public var description: String { Self.names[rawValue].map { "\(rawValue) (\($0))" } ?? "\(rawValue)" }
}

/// The way in which a WebSocket was closed.
public struct WebSocketClosure: Sendable, Hashable, CustomStringConvertible {
    /// The code of the other side's Close frame; ``WebSocketCloseCode/noStatus`` if the frame had none, and
    /// ``WebSocketCloseCode/abnormal`` without a frame.
    public let code: WebSocketCloseCode
    /// The other side's reason; empty if it gave none.
    public let reason: String

    package init(_ code: WebSocketCloseCode, reason: String = "") {
        self.code = code
        self.reason = VisibleText.of(reason)
    }

    /// The code and the reason.
    public var description: String { reason.isEmpty ? "\(code)" : "\(code): \(reason)" }
}

/// An error of an open WebSocket.
public struct WebSocketError: DescribedError, Sendable {
    /// The kinds of errors.
    public enum Kind: String, Sendable, CaseIterable {
        /// The other side closed the WebSocket with a code other than 1000 and 1001: see ``WebSocketError/closure``.
        case closed
        /// The connection ended without a Close frame.
        case connectionLost
        /// The other side violated the protocol (RFC 6455).
        case protocolViolation
        /// A message is larger than the limit.
        case tooLarge
        /// The other side didn't answer a ping, or a Close frame, in time.
        case unresponsive
        /// A message can't be decoded; the cause is the decoder's error.
        case decoding
        /// The WebSocket is closed, or can't be used in this way.
        case misuse
    }

    /// The kind of error.
    public let kind: Kind
    /// What happened and how to fix it.
    public let message: String
    /// The way in which the WebSocket was closed; `nil` if it wasn't.
    public let closure: WebSocketClosure?
    /// The underlying error, such as a ``TransportError`` or a `DecodingError`.
    public let cause: (any Error)?

    package init(_ kind: Kind, _ message: String, closure: WebSocketClosure? = nil, cause: (any Error)? = nil) {
        self.kind = kind
        self.message = VisibleText.of(message)
        self.closure = closure
        self.cause = cause
    }

    /// The message.
    public var description: String { message }

    /// The error of a WebSocket that the other side closed with a code that means a failure.
    package static func closed(_ closure: WebSocketClosure) -> WebSocketError {
        WebSocketError(.closed, "The other side closed the WebSocket with code \(closure).", closure: closure)
    }

    /// The error of a connection that ended without a Close frame.
    package static func lost(_ cause: (any Error)?) -> WebSocketError {
        let reason = (cause as? TransportError).map { ": \($0.message)" } ?? "."
        return WebSocketError(
            .connectionLost, "The WebSocket's connection ended without a Close frame\(reason)", closure: WebSocketClosure(.abnormal),
            cause: cause)
    }

    /// The error of an action on a WebSocket that is closed.
    static func notOpen(_ closure: WebSocketClosure?) -> WebSocketError {
        let how = closure.map { " (code \($0))" } ?? ""
        return WebSocketError(.misuse, "The WebSocket is closed\(how): connect again.", closure: closure)
    }
}

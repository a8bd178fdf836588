import Foundation

/// The underlying error of a ``TransportError`` that replaces a 417 whose body the engine has discarded: the request can be repeated
/// without its `Expect` (RFC 9110 §15.5.18).
package struct ExpectationFailed: Error {
    package init() {}
}

/// An error below HTTP, the same on every engine.
public struct TransportError: DescribedError, Sendable {
    /// The kind of failure, an open set.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind.
        public let rawValue: String
        /// Creates a kind from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the kind.
        public var description: String { rawValue }

        /// The host's name has no address.
        public static let hostNotFound = Self(rawValue: "hostNotFound")
        /// No server listens, no route exists, or this machine lacks the resources to connect.
        public static let cannotConnect = Self(rawValue: "cannotConnect")
        /// The connection ended before the head of the response was complete.
        public static let connectionLost = Self(rawValue: "connectionLost")
        /// The connection ended before the body was complete.
        public static let truncated = Self(rawValue: "truncated")
        /// No connection was established within the time to connect.
        public static let timedOutConnecting = Self(rawValue: "timedOutConnecting")
        /// No head of a response arrived within the time to the first byte.
        public static let timedOutWaiting = Self(rawValue: "timedOutWaiting")
        /// The body paused for longer than the idle time.
        public static let timedOutIdle = Self(rawValue: "timedOutIdle")
        /// The call's total time has passed.
        public static let timedOutTotal = Self(rawValue: "timedOutTotal")
        /// A proxy refused to connect to the server.
        public static let proxyRefused = Self(rawValue: "proxyRefused")
        /// The secure connection could not be established, for a reason other than the following.
        public static let tls = Self(rawValue: "tls")
        /// The server's certificate has expired.
        public static let certificateExpired = Self(rawValue: "certificateExpired")
        /// The server's certificate isn't valid yet.
        public static let certificateNotYetValid = Self(rawValue: "certificateNotYetValid")
        /// The server's certificate is for other hosts.
        public static let certificateForOtherHost = Self(rawValue: "certificateForOtherHost")
        /// No trusted authority has issued the server's certificate.
        public static let unknownIssuer = Self(rawValue: "unknownIssuer")
        /// None of the pins matches the server's keys and certificates.
        public static let pinMismatch = Self(rawValue: "pinMismatch")
        /// The server requires a client certificate or rejects the one presented, or the one to present can't be read.
        public static let clientCertificate = Self(rawValue: "clientCertificate")
        /// The response isn't valid HTTP.
        public static let unreadableResponse = Self(rawValue: "unreadableResponse")
        /// The request is invalid.
        public static let badRequest = Self(rawValue: "badRequest")
        /// The transport doesn't support the request.
        public static let unsupported = Self(rawValue: "unsupported")
        /// The reader was too slow, and the waiting bytes exceeded the transport's limit.
        public static let readerTooSlow = Self(rawValue: "readerTooSlow")
        /// The queue for the origin is full: the call wasn't sent.
        public static let tooManyWaiting = Self(rawValue: "tooManyWaiting")
        /// Any other failure.
        public static let other = Self(rawValue: "other")
    }

    /// The kind of failure.
    public let code: Code
    /// A sentence that describes the failure and the fix, without secrets.
    public let message: String
    /// The engine's error.
    public let underlying: (any Error)?
    /// Whether the request was sent over a kept connection that ended before any of a response arrived: the server may have just closed it,
    /// or may have read the request. The chain sends an idempotent request once more, at once, if the ``RetryPolicy`` allows repeats (RFC
    /// 9112 §9.3.1). Also `true` if ``isUnprocessed`` is.
    public var isConnectionStale = false
    /// Whether the server states that it hasn't processed any part of the request, as an HTTP/2 server can (RFC 9113 §8.7). The chain sends
    /// the request once more, whatever its method and the ``RetryPolicy``.
    public var isUnprocessed = false

    /// Creates an error of a kind.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = VisibleText.of(message)
        self.underlying = underlying
    }

    /// Whether a deadline passed.
    public var isTimeout: Bool {
        [.timedOutConnecting, .timedOutWaiting, .timedOutIdle, .timedOutTotal].contains(code)
    }

    /// Whether the secure connection failed. A retry doesn't help, and the cause may be an attack.
    public var isTrustFailure: Bool {
        [
            .tls, .certificateExpired, .certificateNotYetValid, .certificateForOtherHost, .unknownIssuer, .pinMismatch, .clientCertificate,
        ].contains(code)
    }

    /// The message and the kind.
    public var description: String { "\(message) (\(code))" }
}

extension TransportError {
    /// A number for each kind: 1 `hostNotFound`, 2 `cannotConnect`, 3 `connectionLost`, 4 `truncated`, 5 `timedOutConnecting`,
    /// 6 `timedOutWaiting`, 7 `timedOutIdle`, 8 `timedOutTotal`, 9 `proxyRefused`, 10 `tls`, 11 `certificateExpired`,
    /// 12 `certificateNotYetValid`, 13 `certificateForOtherHost`, 14 `unknownIssuer`, 15 `pinMismatch`, 16 `clientCertificate`,
    /// 17 `unreadableResponse`, 18 `badRequest`, 19 `unsupported`, 20 `readerTooSlow`; 0 for any other.
    public var errorCode: Int {
        let codes: [Code] = [
            .hostNotFound, .cannotConnect, .connectionLost, .truncated, .timedOutConnecting, .timedOutWaiting, .timedOutIdle,
            .timedOutTotal, .proxyRefused, .tls, .certificateExpired, .certificateNotYetValid, .certificateForOtherHost, .unknownIssuer,
            .pinMismatch, .clientCertificate, .unreadableResponse, .badRequest, .unsupported, .readerTooSlow,
        ]
        return (codes.firstIndex(of: code) ?? -1) + 1
    }

    /// The description and the engine's own error.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: description]
        if let underlying { info[NSUnderlyingErrorKey] = underlying }
        return info
    }
}

// The sentences that the engines share.
extension TransportError {
    /// Returns the sentence for a connection that ended before a response began.
    ///
    /// - Parameter detail: The engine's reason with a blank in front of it, such as ` (broken pipe)`, or an empty text.
    static func noResponse(from host: String, _ detail: String = "") -> String {
        "\(host) closed the connection before it sent a response\(detail): an idempotent request can be repeated."
    }

    /// Returns the sentence for a body that ended too early.
    ///
    /// - Parameter detail: The engine's reason with a blank in front of it, or an empty text.
    static func incomplete(_ host: String, _ detail: String = "") -> String {
        "The response from \(host) ended before its body was complete\(detail): an idempotent request can be repeated."
    }
}

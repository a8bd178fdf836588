import Foundation

/// What went wrong below HTTP, the same on every engine.
public struct TransportError: DescribedError, Sendable {
    /// The kind of failure, an open set.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The kind's name.
        public let rawValue: String
        /// A kind of that name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The kind's name.
        public var description: String { rawValue }

        /// The host's name has no address.
        public static let hostNotFound = Self(rawValue: "hostNotFound")
        /// Nobody listens there, there is no way there, or this machine has nothing left to connect with.
        public static let cannotConnect = Self(rawValue: "cannotConnect")
        /// The connection ended before the head of the response was complete.
        public static let connectionLost = Self(rawValue: "connectionLost")
        /// The connection ended before the body was complete.
        public static let truncated = Self(rawValue: "truncated")
        /// No connection within the time to connect.
        public static let timedOutConnecting = Self(rawValue: "timedOutConnecting")
        /// No head of a response within the time to the first byte.
        public static let timedOutWaiting = Self(rawValue: "timedOutWaiting")
        /// The body paused for longer than the idle time.
        public static let timedOutIdle = Self(rawValue: "timedOutIdle")
        /// The call's whole time is over.
        public static let timedOutTotal = Self(rawValue: "timedOutTotal")
        /// A proxy refused the way to the server.
        public static let proxyRefused = Self(rawValue: "proxyRefused")
        /// The secure connection could not be made, for another reason than the following.
        public static let tls = Self(rawValue: "tls")
        /// The server's certificate isn't valid any more.
        public static let certificateExpired = Self(rawValue: "certificateExpired")
        /// The server's certificate isn't valid yet.
        public static let certificateNotYetValid = Self(rawValue: "certificateNotYetValid")
        /// The server's certificate is for other hosts.
        public static let certificateForOtherHost = Self(rawValue: "certificateForOtherHost")
        /// No trusted authority vouches for the server's certificate.
        public static let unknownIssuer = Self(rawValue: "unknownIssuer")
        /// None of the pins is among the server's keys and certificates.
        public static let pinMismatch = Self(rawValue: "pinMismatch")
        /// The server wants a client certificate, or refuses the one it got, or the one to present can't be read.
        public static let clientCertificate = Self(rawValue: "clientCertificate")
        /// What came back is no HTTP.
        public static let unreadableResponse = Self(rawValue: "unreadableResponse")
        /// The request can't be sent as it is.
        public static let badRequest = Self(rawValue: "badRequest")
        /// The transport can't do what was asked.
        public static let unsupported = Self(rawValue: "unsupported")
        /// The reader was too slow, and what waited for it exceeded the transport's bound.
        public static let readerTooSlow = Self(rawValue: "readerTooSlow")
        /// As many calls as may wait already wait for their turn to the same origin: the call wasn't sent.
        public static let tooManyWaiting = Self(rawValue: "tooManyWaiting")
        /// Anything else.
        public static let other = Self(rawValue: "other")
    }

    /// The kind of failure.
    public let code: Code
    /// What happened and what to look at, as a sentence without secrets.
    public let message: String
    /// The engine's own error.
    public let underlying: (any Error)?
    /// Whether the request went over a connection that was kept from an earlier exchange, and which ended before anything of an answer had
    /// come: the server may have closed it just then, or may have read the request. An idempotent one is sent once more by the chain, at once, where
    /// the ``RetryPolicy`` allows repeats (RFC 9112 §9.3.1). Also true where ``isUnprocessed`` is.
    public var isConnectionStale = false
    /// Whether the server says that it has taken nothing of the request, as an HTTP/2 server can (RFC 9113 §8.7). An idempotent request is sent once
    /// more by the chain, whatever the ``RetryPolicy``.
    public var isUnprocessed = false

    /// An error of that kind.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = VisibleText.of(message)
        self.underlying = underlying
    }

    /// Whether a deadline passed.
    public var isTimeout: Bool {
        [.timedOutConnecting, .timedOutWaiting, .timedOutIdle, .timedOutTotal].contains(code)
    }

    /// Whether the secure connection failed. Trying again doesn't help, and it may be an attack.
    public var isTrustFailure: Bool {
        [
            .tls, .certificateExpired, .certificateNotYetValid, .certificateForOtherHost, .unknownIssuer, .pinMismatch, .clientCertificate,
        ].contains(code)
    }

    /// The message with its kind.
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

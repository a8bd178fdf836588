/// The deadlines of a call. Each is measured by the transport on the monotonic clock; `nil` means no limit.
public struct ServiceTimeouts: Sendable, Hashable {
    /// From the start of an attempt to the head of its response: connecting and waiting. While the request's body goes out, the time counts
    /// from the last of its bytes that did: a large body has all the time that it needs, one that stands still hasn't. Default 60 seconds.
    public var firstByte: Duration?

    /// From the start of an attempt to the connection, name lookup and TLS included. Default none: ``firstByte`` bounds it as well. It needs
    /// a transport that has ``TransportCapabilities/connectDeadlines``: without it a client makes no call, and a transport refuses the request.
    /// Like ``firstByte``, it counts also while the exchange waits for its turn within the transport.
    public var connect: Duration?

    /// The longest silence while a body is received; bytes of the request's body that still go out break it, too. Default 60 seconds.
    public var idle: Duration?

    /// The whole call: every attempt, redirect and wait, up to the last byte of the body. Default none.
    public var total: Duration?

    /// The given deadlines.
    public init(
        firstByte: Duration? = .seconds(60), idle: Duration? = .seconds(60), total: Duration? = nil, connect: Duration? = nil
    ) {
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
        self.connect = connect
    }
}

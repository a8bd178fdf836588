/// A port of 127.0.0.1 that doesn't respond, in one of three ways. The port is reserved while the value exists, so that no other process
/// gets it.
public final class LoopbackPort: Sendable {
    /// The way in which a port doesn't respond.
    public enum Kind: Sendable, Hashable {
        /// The port isn't listening: connections are refused.
        case closed
        /// The system accepts connections, but nothing is ever read or written: neither TLS nor HTTP gets an answer.
        case silent
        /// The queue of connections is full: on Linux, connection attempts are ignored until they time out.
        case full
    }

    /// The port number, chosen by the system.
    public let number: UInt16

    private let sockets: [LoopbackSocket]
    private let stop: StopSignal

    /// Reserves a port.
    ///
    /// - Throws: ``TestingFailure`` if the system provides no socket.
    public init(_ kind: Kind) throws {
        stop = try StopSignal()
        let (socket, number) = try LoopbackSocket.bound(stop: stop, isIPv6: false)
        self.number = number
        var sockets = [socket]
        switch kind {
        case .closed: break
        case .silent: socket.startListening(backlog: 64)
        case .full:
            socket.startListening(backlog: 0)
            // More connections than a queue of this length holds on any system.
            for _ in 0..<8 {
                let (filler, _) = try LoopbackSocket.bound(stop: stop, isIPv6: false)
                filler.beginConnecting(to: number)
                sockets.append(filler)
            }
        }
        self.sockets = sockets
    }

    deinit {
        for socket in sockets { socket.close() }
    }
}

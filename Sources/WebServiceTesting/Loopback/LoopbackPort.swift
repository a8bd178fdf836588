/// A port of 127.0.0.1 where no server answers, in one of the ways in which servers don't. It is taken as long as the value is held,
/// so that nobody else gets it.
public final class LoopbackPort: Sendable {
    /// How a port keeps silent.
    public enum Kind: Sendable, Hashable {
        /// Nobody listens: connections are refused.
        case closed
        /// Connections stand, by the system's doing, and nobody ever reads or writes: neither TLS nor HTTP gets an answer.
        case silent
        /// The queue of connections is full: on Linux, attempts to connect are ignored until they give up.
        case full
    }

    /// The number of the port, chosen by the system.
    public let number: UInt16

    private let sockets: [LoopbackSocket]
    private let stop: StopSignal

    /// Takes a port.
    ///
    /// - Throws: ``TestingFailure`` when the system gives no socket.
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
            // More than a queue of that length takes, on every system.
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

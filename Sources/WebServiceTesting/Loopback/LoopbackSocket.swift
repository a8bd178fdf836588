import WebServiceClient

#if canImport(Darwin)
import Darwin
private let streamKind = SOCK_STREAM
private let sendFlags: Int32 = 0
/// Darwin has no event for a closed peer, so readability and a look at the queue replace it.
private let goneEvent = Int16(POLLIN)
#elseif canImport(Glibc)
import Glibc
private let streamKind = Int32(SOCK_STREAM.rawValue)
private let sendFlags = Int32(MSG_NOSIGNAL)
/// POLLRDHUP, which the C library declares only with GNU extensions.
private let goneEvent: Int16 = 0x2000
#elseif canImport(Musl)
import Musl
private let streamKind = SOCK_STREAM
private let sendFlags = Int32(MSG_NOSIGNAL)
/// POLLRDHUP, as above.
private let goneEvent: Int16 = 0x2000
#endif

/// The reason why a connection's thread stops. It is the regular end, not an error of either side.
enum ConnectionEnd: Error {
    /// The client closed or reset the connection, or the socket failed.
    case clientGone
    /// The server is stopping.
    case stopped
    /// A fault requested by the test has reached its byte.
    case faultReached
}

/// A socket on the loopback interface that never blocks for longer than the server lives.
struct LoopbackSocket: Sendable {
    let descriptor: Int32
    let stop: StopSignal

    // MARK: Opening and closing

    /// Listens on a free port of 127.0.0.1 or `::1`.
    static func listening(stop: StopSignal, isIPv6: Bool) throws(TestingFailure) -> (socket: LoopbackSocket, port: UInt16) {
        let (listener, port) = try bound(stop: stop, isIPv6: isIPv6)
        guard listen(listener.descriptor, 1024) == 0 else {
            let failed = failure("listen on the loopback interface")
            listener.close()
            throw failed
        }
        return (listener, port)
    }

    /// Binds a socket to a free port of 127.0.0.1 or `::1` without listening.
    static func bound(stop: StopSignal, isIPv6: Bool) throws(TestingFailure) -> (socket: LoopbackSocket, port: UInt16) {
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, streamKind, 0)
        guard descriptor >= 0 else { throw failure("open a socket") }
        let bound = LoopbackSocket(descriptor: descriptor, stop: stop)
        bound.prepare()
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard let port = isIPv6 ? bindIPv6(descriptor) : bindIPv4(descriptor) else {
            let failed = failure("take a port of the loopback interface")
            bound.close()
            throw failed
        }
        return (bound, port)
    }

    private static func bindIPv4(_ descriptor: Int32) -> UInt16? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return bind(descriptor, to: &address) ? UInt16(bigEndian: address.sin_port) : nil
    }

    private static func bindIPv6(_ descriptor: Int32) -> UInt16? {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        return bind(descriptor, to: &address) ? UInt16(bigEndian: address.sin6_port) : nil
    }

    /// Binds a socket to an address and stores the assigned port in it.
    private static func bind<Address>(_ descriptor: Int32, to address: inout Address) -> Bool {
        var length = socklen_t(MemoryLayout<Address>.size)
        return withUnsafeMutableBytes(of: &address) { bytes in
            guard let generic = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return systemBind(descriptor, generic, length) == 0 && getsockname(descriptor, generic, &length) == 0
        }
    }

    /// Listens on the bound port.
    func startListening(backlog: Int32) {
        listen(descriptor, backlog)
    }

    /// Starts to connect to a port of 127.0.0.1 without waiting for the connection.
    func beginConnecting(to port: UInt16) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        withUnsafeBytes(of: &address) { bytes in
            guard let generic = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return }
            _ = connect(descriptor, generic, socklen_t(bytes.count))
        }
    }

    /// Accepts the next connection. Returns `nil` if none is waiting.
    func accepted() -> LoopbackSocket? {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return nil }
        let socket = LoopbackSocket(descriptor: connection, stop: stop)
        socket.prepare()
        var yes: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        return socket
    }

    /// Makes the socket non-blocking, closes it in child processes, and disables SIGPIPE.
    private func prepare() {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        #if canImport(Darwin)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    func close() {
        #if canImport(Darwin)
        _ = Darwin.close(descriptor)
        #elseif canImport(Glibc)
        _ = Glibc.close(descriptor)
        #elseif canImport(Musl)
        _ = Musl.close(descriptor)
        #endif
    }

    /// Makes the next `close` send a reset.
    func resetOnClose() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    /// Closes the sending side.
    func finishSending() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    // MARK: Moving bytes

    /// Receives bytes into the buffer. Returns zero at the end of the client's bytes.
    func receive(into buffer: UnsafeMutableRawBufferPointer, until deadline: ContinuousClock.Instant? = nil) throws(ConnectionEnd) -> Int {
        while true {
            guard !stop.isRaised else { throw .stopped }
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count >= 0 { return count }
            try afterFailure(of: Int16(POLLIN), until: deadline)
        }
    }

    /// Sends all bytes.
    func send(_ bytes: UnsafeRawBufferPointer) throws(ConnectionEnd) {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard !stop.isRaised else { throw .stopped }
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = systemSend(descriptor, part.baseAddress, part.count, sendFlags)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else {
                try afterFailure(of: Int16(POLLOUT), until: nil)
            }
        }
    }

    private func afterFailure(of event: Int16, until deadline: ContinuousClock.Instant?) throws(ConnectionEnd) {
        switch errno {
        case EINTR: return
        case EAGAIN, EWOULDBLOCK:
            switch wait(for: event, until: deadline) {
            case .ready: return
            case .stopped: throw .stopped
            case .timedOut: throw .clientGone
            }
        default: throw .clientGone
        }
    }

    // MARK: Waiting

    enum Readiness {
        case ready
        case stopped
        case timedOut
    }

    /// Waits until the socket is ready, the server stops, or the deadline passes.
    func wait(for events: Int16, until deadline: ContinuousClock.Instant?) -> Readiness {
        while true {
            var polled = [
                pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: events, revents: 0),
            ]
            let found = poll(&polled, 2, deadline.map(Self.milliseconds(until:)) ?? -1)
            if polled[0].revents != 0 { return .stopped }
            if found > 0 { return .ready }
            if let deadline, ContinuousClock.now >= deadline { return .timedOut }
        }
    }

    /// Waits for a connection to accept.
    func waitForConnection() -> Readiness {
        wait(for: Int16(POLLIN), until: nil)
    }

    /// Pauses a response until the deadline, or forever if it is `nil`. Throws if the client disconnects or the server stops.
    ///
    /// A client that closes its sending side counts as gone, although it could still read.
    func pause(until deadline: ContinuousClock.Instant?) throws(ConnectionEnd) {
        #if canImport(Darwin)
        let event = isDataQueued ? 0 : goneEvent
        #else
        let event = goneEvent
        #endif
        switch wait(for: event, until: deadline) {
        case .timedOut: return
        case .stopped: throw .stopped
        case .ready:
            #if canImport(Darwin)
            if isDataQueued { return try pause(until: deadline) }
            #endif
            throw .clientGone
        }
    }

    #if canImport(Darwin)
    private var isDataQueued: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, MSG_PEEK) > 0
    }
    #endif

    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let (seconds, attoseconds) = ContinuousClock.now.duration(to: deadline).clampedComponents
        if seconds < 0 { return 0 }
        if seconds >= 1_000_000 { return 1_000_000_000 }
        return Int32(max(0, seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1))
    }

    /// Returns a failure with the system's last error.
    static func failure(_ what: String) -> TestingFailure {
        let code = errno
        return TestingFailure("The loopback server could not \(what): \(String(cString: strerror(code))) (\(code))")
    }
}

/// The system's `send`, which the method of the same name hides.
private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, bytes, count, flags)
}

/// The system's `bind`, for the same reason.
private func systemBind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    bind(descriptor, address, length)
}

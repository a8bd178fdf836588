#if canImport(Darwin)
import Darwin
private let streamKind = SOCK_STREAM
private let sendFlags: Int32 = 0
/// Darwin has no event for a peer that has closed; readability and a look at the queue stand in for it.
private let goneEvent = Int16(POLLIN)
#elseif canImport(Glibc)
import Glibc
private let streamKind = Int32(SOCK_STREAM.rawValue)
private let sendFlags = Int32(MSG_NOSIGNAL)
/// POLLRDHUP, which the C library shows only to programs that ask for GNU extensions.
private let goneEvent: Int16 = 0x2000
#elseif canImport(Musl)
import Musl
private let streamKind = SOCK_STREAM
private let sendFlags = Int32(MSG_NOSIGNAL)
/// POLLRDHUP, as above.
private let goneEvent: Int16 = 0x2000
#endif

/// Why a connection's thread goes no further: no error of anybody's, only the end.
enum ConnectionEnd: Error {
    /// The client closed or reset the connection, or the socket failed.
    case clientGone
    /// The server stops.
    case stopped
    /// A fault that the test asked for has come to its byte.
    case faultReached
}

/// A socket on the loopback interface that never blocks for longer than the server lives.
struct LoopbackSocket: Sendable {
    let descriptor: Int32
    let stop: StopSignal

    // MARK: Opening and closing

    /// Listens on a free port of 127.0.0.1.
    static func listening(stop: StopSignal) throws(TestingFailure) -> (socket: LoopbackSocket, port: UInt16) {
        let descriptor = socket(AF_INET, streamKind, 0)
        guard descriptor >= 0 else { throw failure("open a socket") }
        let listener = LoopbackSocket(descriptor: descriptor, stop: stop)
        listener.prepare()
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isUp = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 && listen(descriptor, 1024) == 0
                    && getsockname(descriptor, generic, &length) == 0
            }
        }
        guard isUp else {
            let failed = failure("listen on 127.0.0.1")
            listener.close()
            throw failed
        }
        return (listener, UInt16(bigEndian: address.sin_port))
    }

    /// The next connection; `nil` when there is none just now.
    func accepted() -> LoopbackSocket? {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return nil }
        let socket = LoopbackSocket(descriptor: connection, stop: stop)
        socket.prepare()
        var yes: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        return socket
    }

    /// No blocking, no inheritance by child processes, no SIGPIPE.
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

    /// Ends the sending side.
    func finishSending() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    // MARK: Moving bytes

    /// Receives some bytes into the buffer; zero at the end of the client's bytes.
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

    /// Waits until the socket is ready, the server stops or the deadline has come.
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

    /// Waits, as part of a response, unless the client goes or the server stops meanwhile; `nil` waits for one of these.
    ///
    /// A client that closes its sending side counts as gone here, though it could still read.
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

    /// Whether the client went, asked without waiting.
    var isClientGone: Bool {
        do {
            try pause(until: .now)
            return false
        } catch {
            return true
        }
    }

    #if canImport(Darwin)
    private var isDataQueued: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, MSG_PEEK) > 0
    }
    #endif

    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let (seconds, attoseconds) = ContinuousClock.now.duration(to: deadline).components
        if seconds < 0 { return 0 }
        if seconds >= 1_000_000 { return 1_000_000_000 }
        return Int32(max(0, seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1))
    }

    /// A failure that tells what the system said last.
    static func failure(_ what: String) -> TestingFailure {
        let code = errno
        return TestingFailure("The loopback server could not \(what): \(String(cString: strerror(code))) (\(code))")
    }
}

/// The system's `send`, under a name that the method of the same name doesn't hide.
private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, bytes, count, flags)
}

import Foundation
import HTTPTransport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A connection over TCP.
final class TCPConnection: SyslogConnection {
    /// Closed only on deinitialization, so that the descriptor can't be reused while the connection is in use.
    private let file: Int32
    private let isClosed = Locked(false)
    let timeout: Duration

    /// Connects to the first of the host's addresses that accepts the connection.
    init(host: String, port: UInt16, timeout: Duration) throws(ConnectionFault) {
        self.timeout = timeout
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        hints.ai_flags = AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &found)
        guard code == 0, let found else {
            throw ConnectionFault(message: "the host \(host) can't be found (\(String(cString: gai_strerror(code))))")
        }
        defer { freeaddrinfo(found) }
        var next: UnsafeMutablePointer<addrinfo>? = found
        var fault = ConnectionFault(message: "the host \(host) has no address")
        while let address = next {
            do throws(ConnectionFault) {
                file = try Self.connect(address.pointee, timeout)
                return
            } catch {
                fault = error
            }
            next = address.pointee.ai_next
        }
        throw fault
    }

    deinit {
        Self.closeFile(file)
    }

    private static func connect(_ address: addrinfo, _ timeout: Duration) throws(ConnectionFault) -> Int32 {
        let file = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
        guard file >= 0 else { throw .last("socket") }
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        _ = fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK)
        #if canImport(Darwin)
        var on: Int32 = 1
        setsockopt(file, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        do throws(ConnectionFault) {
            #if canImport(Darwin)
            let result = Darwin.connect(file, address.ai_addr, address.ai_addrlen)
            #elseif canImport(Glibc)
            let result = Glibc.connect(file, address.ai_addr, address.ai_addrlen)
            #else
            let result = Musl.connect(file, address.ai_addr, address.ai_addrlen)
            #endif
            guard result != 0 else { return file }
            guard errno == EINPROGRESS else { throw .last("connect") }
            try StreamSocket(file: file).waitToWrite(until: .now + timeout)
            var code: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            guard getsockopt(file, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else { throw .last("connect") }
            guard code == 0 else { throw ConnectionFault(message: "connect: \(String(cString: strerror(code)))") }
            return file
        } catch {
            Self.closeFile(file)
            throw error
        }
    }

    private static func closeFile(_ file: Int32) {
        #if canImport(Darwin)
        _ = Darwin.close(file)
        #elseif canImport(Glibc)
        _ = Glibc.close(file)
        #else
        _ = Musl.close(file)
        #endif
    }

    var stream: StreamSocket { StreamSocket(file: file) }

    /// Does nothing, because the initializer has connected.
    func open() throws(ConnectionFault) {}

    func isAlive() -> Bool {
        guard !isClosed.withLock({ $0 }) else { return false }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        for _ in 0..<64 {
            let count = recv(file, &buffer, buffer.count, 0)
            if count > 0 { continue }
            return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        }
        return true
    }

    func write(_ data: Data) throws(ConnectionFault) {
        var end = ContinuousClock.now + timeout
        let bytes = Array(data)
        var done = 0
        while done < bytes.count {
            let count = try write(bytes[done...])
            done += count
            if count == 0 { try stream.waitToWrite(until: end) } else { end = .now + timeout }
        }
    }

    private func write(_ bytes: ArraySlice<UInt8>) throws(ConnectionFault) -> Int {
        guard !isClosed.withLock({ $0 }) else { throw ConnectionFault(message: "the connection is closed") }
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        let count = bytes.withUnsafeBytes { send(file, $0.baseAddress, $0.count, flags) }
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR { return 0 }
        throw .last("send")
    }

    func close() {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        if isFirst { shutdown(file, Int32(SHUT_RDWR)) }
    }
}

/// A non-owning reference to a stream socket.
struct StreamSocket: Sendable {
    /// The events to wait for. The end of the connection, on either side, also counts.
    struct Events: OptionSet, Sendable {
        let rawValue: Int32

        static let reading = Events(rawValue: Int32(POLLIN))
        static let writing = Events(rawValue: Int32(POLLOUT))
    }

    let file: Int32

    /// Waits for an event or until the time is over.
    ///
    /// - Returns: Whether there was an event.
    @discardableResult func wait(for events: Events, upTo duration: Duration) throws(ConnectionFault) -> Bool {
        var query = pollfd(fd: file, events: Int16(events.rawValue), revents: 0)
        let count = poll(&query, 1, Int32(clamping: duration.wholeNanoseconds / 1_000_000 + 1))
        if count < 0, errno != EINTR { throw .last("poll") }
        return count > 0
    }

    /// Waits until the socket accepts more bytes.
    func waitToWrite(or other: Events = [], until end: ContinuousClock.Instant) throws(ConnectionFault) {
        while true {
            let left = end - .now
            guard left > .zero else { throw ConnectionFault(message: "the receiver didn't accept any data in time") }
            if try wait(for: [.writing, other], upTo: left) { return }
        }
    }

    /// The number of bytes that the other side hasn't confirmed; `nil` if the system doesn't report it.
    var unconfirmed: Int32? {
        var count: Int32 = 0
        #if canImport(Darwin)
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(file, SOL_SOCKET, SO_NWRITE, &count, &size) == 0 ? count : nil
        #else
        return ioctl(file, UInt(TIOCOUTQ), &count) == 0 ? count : nil
        #endif
    }
}

/// The reason why a connection can't be used.
struct ConnectionFault: Error, Sendable {
    let message: String

    static func last(_ call: String) -> ConnectionFault {
        ConnectionFault(message: "\(call): \(String(cString: strerror(errno)))")
    }
}

/// A connection for syslog messages, used on a thread that may block. Any thread may close it, which ends such a wait.
protocol SyslogConnection: Sendable {
    /// The socket, for waiting.
    var stream: StreamSocket { get }
    /// The maximum time without any progress. A slow receiver isn't dropped, because all unread bytes would be sent again on the next
    /// connection, over and over.
    var timeout: Duration { get }
    /// Returns whether the other side has kept the connection open. Discards received bytes.
    ///
    /// - Throws: The fault that the other side has reported.
    func isAlive() throws(ConnectionFault) -> Bool

    /// Opens the connection. Must be called once, before the other methods.
    func open() throws(ConnectionFault)
    /// Writes all bytes.
    func write(_ data: Data) throws(ConnectionFault)
    func close()
}

extension SyslogConnection {
    /// Waits until the other side's system has confirmed all written bytes.
    func drain() throws(ConnectionFault) {
        var end = ContinuousClock.now + timeout
        var last = Int32.max
        var pause = Duration.milliseconds(1)
        while true {
            guard try isAlive() else { throw ConnectionFault(message: "the receiver has closed the connection") }
            guard let left = stream.unconfirmed, left > 0 else { return }
            if left < last { end = .now + timeout }
            last = left
            guard .now < end else { throw ConnectionFault(message: "the receiver didn't confirm in time") }
            // No event signals a confirmation, so it is polled. Received bytes, or the end of the connection on either side, wake at once.
            try stream.wait(for: .reading, upTo: pause)
            pause = min(pause * 2, .milliseconds(20))
        }
    }
}

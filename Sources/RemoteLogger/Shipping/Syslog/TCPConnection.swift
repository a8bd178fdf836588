import Foundation
import WebServiceClient

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A connection over TCP that is written to, on a thread that may wait. Any thread may close it, which ends such a wait.
final class TCPConnection: Sendable {
    /// Open until nobody has the connection any more: its number must not name another file meanwhile.
    private let file: Int32
    private let isClosed = Locked(false)
    private let timeout: Duration

    /// Connects to the first of the host's addresses that takes it.
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
            try waitToWrite(file, until: .now + timeout)
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

    /// Waits for an event of a file, or until the time is over.
    ///
    /// - Returns: whether there was one. The other side's end counts, and so does ``close()``.
    @discardableResult private static func poll(_ file: Int32, _ events: Int32, for duration: Duration) throws(ConnectionFault) -> Bool {
        var query = pollfd(fd: file, events: Int16(events), revents: 0)
        #if canImport(Darwin)
        let count = Darwin.poll(&query, 1, Int32(clamping: duration.wholeNanoseconds / 1_000_000 + 1))
        #elseif canImport(Glibc)
        let count = Glibc.poll(&query, 1, Int32(clamping: duration.wholeNanoseconds / 1_000_000 + 1))
        #else
        let count = Musl.poll(&query, 1, Int32(clamping: duration.wholeNanoseconds / 1_000_000 + 1))
        #endif
        if count < 0, errno != EINTR { throw .last("poll") }
        return count > 0
    }

    private static func waitToWrite(_ file: Int32, until end: ContinuousClock.Instant) throws(ConnectionFault) {
        while true {
            let left = end - .now
            guard left > .zero else { throw ConnectionFault(message: "the receiver didn't take anything in time") }
            if try poll(file, POLLOUT, for: left) { return }
        }
    }

    /// Whether the other side hasn't closed the connection, as far as can be told. What it sends is read and forgotten.
    var isAlive: Bool {
        guard !isClosed.withLock({ $0 }) else { return false }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        for _ in 0..<64 {
            let count = recv(file, &buffer, buffer.count, 0)
            if count > 0 { continue }
            return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        }
        return true
    }

    /// Writes all bytes.
    func write(_ data: Data) throws(ConnectionFault) {
        let end = ContinuousClock.now + timeout
        let bytes = Array(data)
        var done = 0
        while done < bytes.count {
            let count = try write(bytes[done...])
            done += count
            if count == 0 { try Self.waitToWrite(file, until: end) }
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

    /// Waits until the other side's system has confirmed everything that was written.
    func drain() throws(ConnectionFault) {
        let end = ContinuousClock.now + timeout
        var pause = Duration.milliseconds(1)
        while true {
            guard isAlive else { throw ConnectionFault(message: "the receiver has closed the connection") }
            guard let left = Self.unconfirmed(file), left > 0 else { return }
            guard .now < end else { throw ConnectionFault(message: "the receiver didn't confirm in time") }
            // No event tells of a confirmation, hence it is looked again and again. What the other side sends, its end, or ours, wakes at once.
            try Self.poll(file, POLLIN, for: pause)
            pause = min(pause * 2, .milliseconds(20))
        }
    }

    /// How many bytes the other side hasn't confirmed; `nil` where the system doesn't tell.
    private static func unconfirmed(_ file: Int32) -> Int32? {
        var count: Int32 = 0
        #if canImport(Darwin)
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(file, SOL_SOCKET, SO_NWRITE, &count, &size) == 0 ? count : nil
        #else
        return ioctl(file, UInt(TIOCOUTQ), &count) == 0 ? count : nil
        #endif
    }

    func close() {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        if isFirst { shutdown(file, Int32(SHUT_RDWR)) }
    }
}

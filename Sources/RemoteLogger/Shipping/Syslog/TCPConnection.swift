import Foundation
import WebServiceClient

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A connection over TCP.
final class TCPConnection: SyslogConnection {
    /// Open until nobody has the connection any more: its number must not name another file meanwhile.
    private let file: Int32
    private let isClosed = Locked(false)
    let timeout: Duration

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

    /// It is open from the beginning.
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

package import Foundation
package import WebServiceClient

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A loopback server whose responses are written byte by byte, with a thread for each connection.
package final class RawServer: Sendable {
    /// The port; 0 if the server listens on a path.
    package let port: Int
    private let listener: Int32

    /// Creates a server on a port that the system chooses. The connection is closed when `handle` returns.
    package convenience init(overIPv6: Bool = false, _ handle: @escaping @Sendable (RawConnection) -> Void) throws {
        try self.init(overIPv6 ? try boundIPv6Socket() : try boundSocket(), handle)
    }

    /// Creates a server on a Unix-domain socket at a path, which the caller removes.
    package convenience init(unixPath: String, _ handle: @escaping @Sendable (RawConnection) -> Void) throws {
        try self.init((try boundUnixSocket(unixPath), 0), handle)
    }

    private init(_ bound: (descriptor: Int32, port: Int), _ handle: @escaping @Sendable (RawConnection) -> Void) throws {
        let (listener, port) = bound
        guard listen(listener, 512) == 0 else { throw RawServerError() }
        self.port = port
        self.listener = listener
        Thread.detachNewThread {
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else {
                    // Only this thread may close it: the number may belong to the next server's socket before this thread runs again.
                    close(listener)
                    return
                }
                Thread.detachNewThread {
                    let connection = RawConnection(descriptor)
                    handle(connection)
                    connection.close()
                }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Returns a server that answers every request with the same bytes and then closes.
    package static func answering(_ text: String) throws -> RawServer {
        try RawServer { connection in
            while connection.readRequest() != nil { connection.write(text) }
        }
    }

    package func request(_ method: ServiceRequest.Method = .get, _ path: String = "/", headers: HTTPFields = [:], body: RequestBody? = nil)
        throws -> ServiceRequest
    {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw RawServerError() }
        // A busy machine may let a test wait for longer than the default deadlines.
        return ServiceRequest(
            method: method, url: url, headers: headers, body: body, timeouts: ServiceTimeouts(firstByte: nil, idle: nil))
    }
}

package struct RawServerError: Error {
    package init() {}
}

#if canImport(Darwin)
private let streamKind = SOCK_STREAM
#else
private let streamKind = Int32(SOCK_STREAM.rawValue)
#endif

/// Returns a loopback socket bound to a port that the system chooses.
private func boundSocket() throws -> (descriptor: Int32, port: Int) {
    let descriptor = socket(AF_INET, streamKind, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            bind(descriptor, pointer, size) == 0 && getsockname(descriptor, pointer, &size) == 0
        }
    }
    guard isBound else { throw RawServerError() }
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
}

/// Returns an IPv6 loopback socket bound to a port that the system chooses.
private func boundIPv6Socket() throws -> (descriptor: Int32, port: Int) {
    let descriptor = socket(AF_INET6, streamKind, 0)
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_addr = in6addr_loopback
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            bind(descriptor, pointer, size) == 0 && getsockname(descriptor, pointer, &size) == 0
        }
    }
    guard isBound else { throw RawServerError() }
    return (descriptor, Int(UInt16(bigEndian: address.sin6_port)))
}

/// Returns a Unix-domain socket bound to a path.
private func boundUnixSocket(_ path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, streamKind, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let isShort = withUnsafeMutableBytes(of: &address.sun_path) { target in
        guard path.utf8.count < target.count else { return false }
        target.copyBytes(from: path.utf8)
        return true
    }
    let isBound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
        }
    }
    guard isShort, isBound else { throw RawServerError() }
    return descriptor
}

/// The port of an IPv4 socket's own or other end; `nil` if the descriptor has none.
private func port(
    of descriptor: Int32, _ name: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
) -> Int? {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(descriptor, $0, &size) == 0 }
    }
    guard isKnown, address.sin_family == sa_family_t(AF_INET) else { return nil }
    return Int(UInt16(bigEndian: address.sin_port))
}

/// A port that is reserved but refuses connections.
package final class DeafPort: Sendable {
    package let number: Int
    private let descriptor: Int32

    package init() throws {
        (descriptor, number) = try boundSocket()
    }

    deinit {
        close(descriptor)
    }
}

/// A request as received.
package struct RawRequest: Sendable {
    package let head: String
    package let body: Data

    package var line: String { head.components(separatedBy: "\r\n")[0] }

    /// Returns the value of a field; `nil` if it is missing.
    package func field(_ name: String) -> String? {
        for line in head.components(separatedBy: "\r\n").dropFirst() {
            guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name.lowercased() else { continue }
            return line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        return nil
    }
}

/// A connection of a ``RawServer``, used only by the thread that handles it.
package final class RawConnection {
    private let descriptor: Int32
    private var pending = Data()
    private var isOpen = true

    package init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var patience = timeval(tv_sec: 300, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    /// The client's port.
    package var clientPort: Int { port(of: descriptor, getpeername) ?? 0 }

    /// Whether the client's socket, in this process, has something to read or has ended: on a busy machine the system delivers bytes some
    /// time after they were written.
    package static func hasArrived(atClientPort clientPort: Int) -> Bool {
        for descriptor in 0..<min(getdtablesize(), 65_536) where port(of: descriptor, getsockname) == clientPort {
            var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&state, 1, 0) > 0
        }
        // The client has closed it already.
        return true
    }

    /// Returns the next request with its body; `nil` if the client has closed.
    package func readRequest() -> RawRequest? {
        while true {
            if let end = pending.range(of: Data("\r\n\r\n".utf8)) {
                let head = String(decoding: pending[pending.startIndex..<end.lowerBound], as: UTF8.self)
                pending = Data(pending[end.upperBound...])
                let length = Int(RawRequest(head: head, body: Data()).field("Content-Length") ?? "0") ?? 0
                while pending.count < length {
                    guard fill() else { return nil }
                }
                let body = Data(pending.prefix(length))
                pending = Data(pending.dropFirst(length))
                return RawRequest(head: head, body: body)
            }
            guard fill() else { return nil }
        }
    }

    /// Reads only the head; the following bytes stay unread.
    package func readHead() -> String? {
        while true {
            if let end = pending.range(of: Data("\r\n\r\n".utf8)) {
                return String(decoding: pending[pending.startIndex..<end.lowerBound], as: UTF8.self)
            }
            guard fill() else { return nil }
        }
    }

    /// Waits until the text has arrived; returns `false` if the client closes first. All bytes stay unread.
    package func wait(for text: String) -> Bool {
        while pending.range(of: Data(text.utf8)) == nil {
            guard fill() else { return false }
        }
        return true
    }

    private func fill() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        pending.append(contentsOf: buffer[..<count])
        return true
    }

    /// Returns the next bytes without consuming them; `nil` if the client closes first.
    package func peek(_ count: Int) -> Data? {
        while pending.count < count {
            guard fill() else { return nil }
        }
        return Data(pending.prefix(count))
    }

    /// Reads the next bytes; `nil` if the client closes first.
    package func read(_ count: Int) -> Data? {
        while pending.count < count {
            guard fill() else { return nil }
        }
        defer { pending = Data(pending.dropFirst(count)) }
        return Data(pending.prefix(count))
    }

    /// Waits until the client closes. Returns `false` after five minutes: on a busy machine, the client's task may be delayed for long.
    package func waitForClose() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 || (count < 0 && errno == ECONNRESET) { return true }
            if count < 0 { return false }
        }
    }

    @discardableResult
    package func write(_ text: String) -> Bool { write(Data(text.utf8)) }

    /// Sends everything; returns `false` if the client has closed.
    @discardableResult
    package func write(_ data: Data) -> Bool {
        var rest = [UInt8](data)[...]
        while !rest.isEmpty {
            #if canImport(Darwin)
            let flags: Int32 = 0
            #else
            let flags = Int32(MSG_NOSIGNAL)
            #endif
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Ends the connection with a reset instead of an orderly close.
    package func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout.size(ofValue: option)))
        close()
    }

    /// Closes the sending side in an orderly way.
    package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    package func close() {
        guard isOpen else { return }
        isOpen = false
        #if canImport(Darwin)
        _ = Darwin.close(descriptor)
        #elseif canImport(Glibc)
        _ = Glibc.close(descriptor)
        #elseif canImport(Musl)
        _ = Musl.close(descriptor)
        #endif
    }
}

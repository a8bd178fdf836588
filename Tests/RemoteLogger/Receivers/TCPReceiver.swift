import Foundation
import TestSupport
import WebServiceClient

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Accepts connections on the loopback interface, on a separate thread, and keeps the bytes of each.
final class TCPReceiver: Sendable {
    /// The action after a connection has sent a number of bytes.
    enum Action: Sendable {
        case read
        /// Closes the connection; unread bytes are lost.
        case reset
        /// Closes the connection gracefully, after reading all received bytes.
        case close
        /// Closes its own side, and continues to read.
        case halfClose
        /// Stops reading for now.
        case stall
        /// Sends something whenever it reads.
        case chatter
    }

    struct Failure: Error {}

    private struct State: Sendable {
        var connections: [[UInt8]] = []
        var closed = 0
        var isStopped = false
    }

    let port: UInt16
    private let state = Locked(State())
    private let listener: Int32

    /// - Parameters:
    ///   - buffer: The approximate number of unread bytes that its system accepts per connection; the system's default if omitted.
    ///   - script: Receives the number of the connection, from 0, and the number of bytes it has sent.
    init(buffer: Int32? = nil, script: @escaping @Sendable (_ connection: Int, _ bytes: Int) -> Action = { _, _ in .read }) throws {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        listener = socket(AF_INET, kind, 0)
        if var buffer { setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &buffer, socklen_t(MemoryLayout<Int32>.size)) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 16) == 0 && getsockname(descriptor, address, &size) == 0
            }
        }
        guard isBound else { throw Failure() }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in serve(script) }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
    }

    /// The number of closed connections.
    var closed: Int { state.withLock { $0.closed } }

    /// The bytes of each connection.
    var connections: [[UInt8]] { state.withLock { $0.connections } }

    private func serve(_ script: @Sendable (Int, Int) -> Action) {
        var open: [(file: Int32, number: Int, isHalfClosed: Bool)] = []
        while !state.withLock({ $0.isStopped }) {
            var queries = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
            var readable: [(file: Int32, number: Int)] = []
            var ends = false
            for index in open.indices {
                let action = script(open[index].number, connections[open[index].number].count)
                if action == .halfClose, !open[index].isHalfClosed {
                    shutdown(open[index].file, Int32(SHUT_WR))
                    open[index].isHalfClosed = true
                }
                // A planned close doesn't wait for more data.
                ends = ends || action == .close
                if action != .stall { readable.append((open[index].file, open[index].number)) }
            }
            queries += readable.map { pollfd(fd: $0.file, events: Int16(POLLIN), revents: 0) }
            guard poll(&queries, nfds_t(queries.count), ends ? 0 : 20) >= 0 else {
                // A signal, or a lower limit of descriptors that another test sets for a moment, ends this wait only.
                Thread.sleep(forTimeInterval: 0.001)
                continue
            }
            if queries[0].revents != 0 {
                let file = accept(listener, nil, nil)
                let number = state.withLock { state in
                    if file >= 0 { state.connections.append([]) }
                    return state.connections.count - 1
                }
                if file >= 0 { open.append((file, number, false)) }
            }
            for (query, connection) in zip(queries.dropFirst(), readable) {
                // Uses the current state, not that before the wait.
                let action = script(connection.number, connections[connection.number].count)
                guard query.revents != 0 || action == .close else { continue }
                if action != .reset, read(connection.file, connection.number, all: action == .close) {
                    if action == .chatter { _ = send(connection.file, Self.chatter, Self.chatter.count, Self.quietly) }
                    continue
                }
                let port = RawConnection(connection.file).clientPort
                // With unread bytes, this resets the connection.
                close(connection.file)
                // A test may advance its clock after this, as if the connection had outlived that time.
                while !RawConnection.hasArrived(atClientPort: port) { Thread.sleep(forTimeInterval: 0.001) }
                state.withLock { $0.closed += 1 }
                open.removeAll { $0.file == connection.file }
            }
        }
        for connection in open { close(connection.file) }
        close(listener)
    }

    /// Reads some of the received bytes, or all.
    ///
    /// - Returns: Whether the connection continues.
    private func read(_ file: Int32, _ number: Int, all: Bool) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 3_000)
        while true {
            let count = recv(file, &buffer, buffer.count, all ? Self.quietly : 0)
            guard count > 0 else { return false }
            state.withLock { $0.connections[number] += buffer[..<count] }
            if !all { return true }
        }
    }

    private static let chatter = [UInt8](repeating: UInt8(ascii: "."), count: 500)

    /// Doesn't block, and raises no signal.
    #if canImport(Darwin)
    private static let quietly = MSG_DONTWAIT
    #else
    private static let quietly = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
    #endif

    /// Returns the frames of a connection (RFC 6587 §3.4.1), and the number of bytes after the last complete one.
    static func frames(of bytes: [UInt8]) -> (messages: [String], rest: Int) {
        var messages: [String] = []
        var index = 0
        while let blank = bytes[index...].firstIndex(of: UInt8(ascii: " ")),
            let length = Int(String(decoding: bytes[index..<blank], as: UTF8.self)),
            blank + 1 + length <= bytes.count
        {
            messages.append(String(decoding: bytes[blank + 1..<blank + 1 + length], as: UTF8.self))
            index = blank + 1 + length
        }
        return (messages, bytes.count - index)
    }

    /// Returns the numbers `n` in the metadata of complete frames.
    static func numbers(of bytes: [UInt8]) -> [Int] {
        frames(of: bytes).messages.compactMap { message in
            guard let name = message.range(of: " n=\"") else { return nil }
            return Int(message[name.upperBound...].prefix { $0 != "\"" })
        }
    }
}

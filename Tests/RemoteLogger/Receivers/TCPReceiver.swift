import Foundation
import WebServiceClient

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Takes connections on the loopback interface, on a thread of its own, and keeps what comes on each.
final class TCPReceiver: Sendable {
    /// What it does after a connection has brought so many bytes.
    enum Action: Sendable {
        case read
        /// It ends the connection, and what it hasn't read of it is lost.
        case reset
        /// It reads no more for the moment.
        case stall
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

    /// - Parameter script: gets the number of the connection, from 0, and how many bytes it has brought.
    init(script: @escaping @Sendable (_ connection: Int, _ bytes: Int) -> Action = { _, _ in .read }) throws {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        listener = socket(AF_INET, kind, 0)
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

    /// How many connections have ended.
    var closed: Int { state.withLock { $0.closed } }

    /// What each connection has brought.
    var connections: [[UInt8]] { state.withLock { $0.connections } }

    private func serve(_ script: @Sendable (Int, Int) -> Action) {
        var open: [(file: Int32, number: Int)] = []
        var buffer = [UInt8](repeating: 0, count: 3_000)
        while !state.withLock({ $0.isStopped }) {
            var queries = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
            let readable = open.filter { script($0.number, connections[$0.number].count) != .stall }
            queries += readable.map { pollfd(fd: $0.file, events: Int16(POLLIN), revents: 0) }
            guard poll(&queries, nfds_t(queries.count), 20) >= 0 else { break }
            if queries[0].revents != 0 {
                let file = accept(listener, nil, nil)
                if file >= 0 {
                    open.append(
                        (
                            file,
                            state.withLock { state in
                                state.connections.append([])
                                return state.connections.count - 1
                            }
                        ))
                }
            }
            for (query, connection) in zip(queries.dropFirst(), readable) where query.revents != 0 {
                let action = script(connection.number, connections[connection.number].count)
                let count = action == .reset ? 0 : recv(connection.file, &buffer, buffer.count, 0)
                guard count > 0 else {
                    // With bytes unread, this resets the connection.
                    close(connection.file)
                    state.withLock { $0.closed += 1 }
                    open.removeAll { $0.file == connection.file }
                    continue
                }
                state.withLock { $0.connections[connection.number] += buffer[..<count] }
            }
        }
        for connection in open { close(connection.file) }
        close(listener)
    }

    /// The frames of a connection (RFC 6587 §3.4.1); what is left behind the last whole one.
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
}

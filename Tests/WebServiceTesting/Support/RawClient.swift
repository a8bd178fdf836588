import Foundation
import TestSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A client with a bare socket: it sends the given bytes and returns the received ones.
///
/// Each step blocks a separate thread instead of one of the task pool, which the server's asynchronous handlers need. Unchecked, since each
/// step is awaited before the next one begins: only one thread at a time uses it.
final class RawClient: @unchecked Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// How the server's bytes end.
    enum Ending {
        case closed
        case reset
    }

    private let descriptor: Int32
    private var pending: [UInt8] = []

    init(port: UInt16, patience: Int = 600) throws {
        #if canImport(Glibc)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        // A throwing initializer runs deinit, which closes the descriptor.
        guard status == 0 else { throw Failure(description: "no connection to port \(port): \(errno)") }
    }

    deinit { close(descriptor) }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) async throws {
        try await onOwnThread { [self] in
            var sent = 0
            while sent < bytes.count {
                #if canImport(Darwin)
                let flags: Int32 = 0
                #else
                let flags = Int32(MSG_NOSIGNAL)
                #endif
                let count = bytes.withUnsafeBytes { systemSend(descriptor, $0.baseAddress.map { $0 + sent }, $0.count - sent, flags) }
                guard count > 0 else { throw Failure(description: "the server takes no more after \(sent) bytes: \(errno)") }
                sent += count
            }
        }
    }

    func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Reads up to the end of a text.
    func read(through mark: String) async throws -> String {
        let wanted = Data(mark.utf8)
        return try await onOwnThread { [self] in
            while true {
                if let range = Data(pending).range(of: wanted) {
                    defer { pending.removeFirst(range.upperBound) }
                    return String(decoding: pending[..<range.upperBound], as: UTF8.self)
                }
                guard try more() == nil else {
                    throw Failure(description: "“\(mark)” never came, only “\(String(decoding: pending, as: UTF8.self))”")
                }
            }
        }
    }

    /// Reads a number of bytes.
    func read(count: Int) async throws -> [UInt8] {
        try await onOwnThread { [self] in
            while pending.count < count {
                guard try more() == nil else { throw Failure(description: "\(count) bytes expected, \(pending.count) came") }
            }
            defer { pending.removeFirst(count) }
            return Array(pending[..<count])
        }
    }

    /// Reads a response whose head contains its length.
    func readResponse() async throws -> (head: String, body: String) {
        let head = try await read(through: "\r\n\r\n")
        let length = head.lowercased().components(separatedBy: "content-length: ").dropFirst().first.map {
            Int($0.prefix { $0.isNumber }) ?? 0
        }
        return (head, String(decoding: try await read(count: length ?? 0), as: UTF8.self))
    }

    /// Reads to the end.
    func readAll() async throws -> (bytes: [UInt8], ending: Ending) {
        try await onOwnThread { [self] in
            while true {
                if let ending = try more() {
                    defer { pending = [] }
                    return (pending, ending)
                }
            }
        }
    }

    /// Reads to the end and returns the text.
    func readText() async throws -> String { String(decoding: try await readAll().bytes, as: UTF8.self) }

    /// Folds all remaining bytes into a value without keeping them.
    func readThrough<Value: Sendable>(
        into start: Value, _ take: @escaping @Sendable (inout Value, UnsafeRawBufferPointer) -> Void
    ) async throws -> Value {
        try await onOwnThread { [self] in
            var value = start
            repeat {
                pending.withUnsafeBytes { take(&value, $0) }
                pending.removeAll(keepingCapacity: true)
            } while try more() == nil
            return value
        }
    }

    private var room = [UInt8](repeating: 0, count: 256 << 10)

    private func more() throws -> Ending? {
        let count = room.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        if count > 0 {
            pending += room[..<count]
            return nil
        }
        if count == 0 { return .closed }
        guard errno == ECONNRESET else { throw Failure(description: "nothing came in time (\(errno)) after \(pending.count) bytes") }
        return .reset
    }
}

private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, bytes, count, flags)
}

import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Answers every request on the loopback interface with 200 and an empty object, on a separate thread, and counts the bytes of bodies.
final class Receiver: @unchecked Sendable {
    // @unchecked: `lock` guards all mutable state.
    struct Failure: Error {}

    let port: UInt16
    private let listener: Int32
    private let lock = NSLock()
    private var bytes = 0

    init() throws {
        #if canImport(Glibc)
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let file = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(file, address, size) == 0 && listen(file, 16) == 0 && getsockname(file, address, &size) == 0
            }
        }
        guard isBound else { throw Failure() }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { [self] in serve(connection) }
            }
        }
    }

    var url: URL { URL(string: "http://127.0.0.1:\(port)/v1/logs") ?? URL(filePath: "/") }

    /// The bytes of all bodies so far.
    var bodyBytes: Int { lock.withLock { bytes } }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        var head: [UInt8] = []
        var left = 0
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}".utf8)
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            var piece = buffer[..<count]
            while !piece.isEmpty {
                if left == 0 {
                    head.append(piece.removeFirst())
                    guard head.suffix(4) == [13, 10, 13, 10] else { continue }
                    let text = String(decoding: head, as: UTF8.self).lowercased()
                    head = []
                    guard let field = text.range(of: "content-length: ") else { return }
                    left = Int(text[field.upperBound...].prefix { $0.isNumber }) ?? 0
                } else {
                    let taken = min(left, piece.count)
                    lock.withLock { bytes += taken }
                    left -= taken
                    piece.removeFirst(taken)
                }
                if left == 0 { _ = answer.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, 0) } }
            }
        }
    }
}

import Foundation
import HTTPTransport

/// A connection over TLS (RFC 5425) with the system's libcurl.
final class TLSConnection: SyslogConnection {
    let timeout: Duration
    private let connection: CurlConnection

    /// The maximum size of a TLS record in bytes (RFC 8446 §5.1).
    private static let recordSize = 16_384

    init(_ connector: CurlConnector, timeout: Duration) throws(ConnectionFault) {
        self.timeout = timeout
        connection = try ConnectionFault.translating { () throws(TransportError) in try connector.connection() }
    }

    var stream: StreamSocket { StreamSocket(file: connection.socket) }

    func open() throws(ConnectionFault) {
        let start = ContinuousClock.now
        try ConnectionFault.translating { try connection.open(within: timeout) }
        guard connection.tlsVersion != "TLSv1.2" else { return }
        // In TLS 1.3 the client's handshake ends before the server has checked the client's certificate: data written until then would be
        // confirmed by the server's system and then discarded. After the check, the server usually sends session tickets (RFC 8446 §4.6.1)
        // or, if it rejects the certificate, an alert: either ends the wait. A server that sends nothing in time is assumed to accept.
        let patience = min(max(.now - start, .seconds(1)), timeout)
        try stream.wait(for: .reading, upTo: patience)
        guard try isAlive() else { throw ConnectionFault(message: "the receiver has closed the connection immediately") }
    }

    func isAlive() throws(ConnectionFault) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        for _ in 0..<64 {
            let count = try ConnectionFault.translating {
                try buffer.withUnsafeMutableBytes { try connection.receive(into: $0) }
            }
            guard let count else { return true }
            if count == 0 { return false }
        }
        return true
    }

    func write(_ data: Data) throws(ConnectionFault) {
        var end = ContinuousClock.now + timeout
        // A stable buffer until everything is sent: TLS requires the same bytes again after a wait.
        let bytes = [UInt8](data)
        var done = 0
        while done < bytes.count {
            let piece = done..<min(done + Self.recordSize, bytes.count)
            let count = try ConnectionFault.translating {
                try bytes.withUnsafeBytes { try connection.send(UnsafeRawBufferPointer(rebasing: $0[piece])) }
            }
            done += count
            guard count == 0 else {
                end = .now + timeout
                continue
            }
            try stream.waitToWrite(or: .reading, until: end)
            guard try isAlive() else { throw ConnectionFault(message: "the receiver has closed the connection") }
        }
    }

    func close() { connection.close() }
}

extension ConnectionFault {
    /// Runs a closure and converts its error. The closure is untyped because the buffer methods can't rethrow typed errors.
    fileprivate static func translating<Value>(_ body: () throws -> Value) throws(ConnectionFault) -> Value {
        do {
            return try body()
        } catch {
            throw ConnectionFault(message: (error as? TransportError)?.message ?? String(describing: error))
        }
    }
}

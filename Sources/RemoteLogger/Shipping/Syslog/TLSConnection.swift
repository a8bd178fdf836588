import Foundation
import HTTPTransport

/// A connection over TLS (RFC 5425), by the system's libcurl.
final class TLSConnection: SyslogConnection {
    let timeout: Duration
    private let connection: CurlConnection

    /// The most bytes of one TLS record (RFC 8446 §5.1).
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
        // Since TLS 1.3 a client's side stands before the server has looked at the client's certificate: what is written meanwhile would be
        // confirmed by the server's system, and then thrown away. A server that agrees sends session tickets as a rule (RFC 8446 §4.6.1), one that
        // doesn't sends an alert: either ends the wait, once the server has looked. One that sends nothing by then agrees, too.
        let patience = min(max(.now - start, .seconds(1)), timeout)
        try stream.wait(for: .reading, upTo: patience)
        guard try isAlive() else { throw ConnectionFault(message: "the receiver has closed the connection at once") }
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
        // One place in memory until all has gone out: TLS wants the same bytes again after a wait.
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
    /// Runs what fails as a transport does; the buffers that it is given don't pass typed errors on.
    fileprivate static func translating<Value>(_ body: () throws -> Value) throws(ConnectionFault) -> Value {
        do {
            return try body()
        } catch {
            throw ConnectionFault(message: (error as? TransportError)?.message ?? String(describing: error))
        }
    }
}

import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A request that violates RFC 9112, with the sentence for the response and its status.
struct MalformedRequest: Error {
    let reason: String
    var status = 400
}

/// Reads lines and bodies from a connection. Bytes received beyond a message stay for the next one (pipelining).
struct ConnectionReader {
    private static let lineLimit = 2 << 20

    private let socket: LoopbackSocket
    private var storage = [UInt8](repeating: 0, count: 64 << 10)
    private var start = 0
    private var end = 0

    init(socket: LoopbackSocket) {
        self.socket = socket
    }

    // MARK: Messages

    /// Returns the request line and fields of the next message; `nil` if the client has closed gracefully.
    ///
    /// - Throws: ``ConnectionEnd`` or ``MalformedRequest``.
    mutating func nextHead() throws -> RequestHead? {
        var line = try nextLine()
        while let blank = line, blank.isEmpty { line = try nextLine() }
        guard let requestLine = line else { return nil }
        return try RequestHead(requestLine: requestLine, fields: nextFields())
    }

    /// Returns the fields up to the empty line.
    mutating func nextFields() throws -> LoopbackFields {
        var fields = LoopbackFields()
        var total = 0
        while true {
            guard let line = try nextLine() else { throw ConnectionEnd.clientGone }
            if line.isEmpty { return fields }
            total += line.count
            guard total <= Self.lineLimit else { throw MalformedRequest(reason: "The fields are longer than 2 MiB", status: 431) }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else {
                throw MalformedRequest(reason: "The field line “\(String(decoding: line, as: UTF8.self))” has no name")
            }
            let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
            let value = line[(colon + 1)...].drop(while: isBlank).reversed().drop(while: isBlank).reversed()
            fields.append(LoopbackField(nameBytes: Array(line[..<colon]), valueBytes: Array(value)))
        }
    }

    /// Passes the body's bytes on as they arrive, decoded from chunks, and returns the trailers.
    mutating func nextBody(_ length: RequestHead.BodyLength, _ take: (UnsafeRawBufferPointer) -> Void) throws -> LoopbackFields {
        switch length {
        case .bytes(let count):
            try pass(count, to: take)
            return [:]
        case .chunks:
            while true {
                let line = try nextLine() ?? []
                let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
                guard let count = Int(String(decoding: digits, as: UTF8.self), radix: 16), count >= 0 else {
                    throw MalformedRequest(reason: "The chunk size “\(String(decoding: line, as: UTF8.self))” isn't a hexadecimal number")
                }
                if count == 0 { return try nextFields() }
                try pass(count, to: take)
                guard try nextLine()?.isEmpty == true else { throw MalformedRequest(reason: "A chunk is longer than its size") }
            }
        }
    }

    /// Returns the next bytes, including those received with the last message; `nil` if the client has closed gracefully.
    mutating func nextBytes(until deadline: ContinuousClock.Instant? = nil) throws(ConnectionEnd) -> Data? {
        if start == end {
            guard try refill(until: deadline) else { return nil }
        }
        defer { start = end }
        return Data(storage[start..<end])
    }

    /// Reads and discards bytes until the client closes or the deadline passes.
    mutating func drain(until deadline: ContinuousClock.Instant?) throws(ConnectionEnd) {
        start = end
        while try refill(until: deadline) { start = end }
    }

    // MARK: Bytes

    private mutating func pass(_ count: Int, to take: (UnsafeRawBufferPointer) -> Void) throws {
        var missing = count
        while missing > 0 {
            if start == end {
                guard try refill() else { throw ConnectionEnd.clientGone }
            }
            let part = start..<(start + min(missing, end - start))
            storage.withUnsafeBytes { take(UnsafeRawBufferPointer(rebasing: $0[part])) }
            start = part.upperBound
            missing -= part.count
        }
    }

    /// Returns the bytes up to a line feed, without the line feed and a preceding carriage return; `nil` at the end of the bytes.
    private mutating func nextLine() throws -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            if start == end {
                guard try refill() else {
                    guard line.isEmpty else { throw ConnectionEnd.clientGone }
                    return nil
                }
            }
            let lineFeed = storage[start..<end].firstIndex(of: 10)
            line += storage[start..<(lineFeed ?? end)]
            start = lineFeed.map { $0 + 1 } ?? end
            guard line.count <= Self.lineLimit else { throw MalformedRequest(reason: "A line is longer than 2 MiB", status: 431) }
            if lineFeed != nil {
                if line.last == 13 { line.removeLast() }
                return line
            }
        }
    }

    /// Receives into the empty storage. Returns false at the end of the client's bytes.
    private mutating func refill(until deadline: ContinuousClock.Instant? = nil) throws(ConnectionEnd) -> Bool {
        start = 0
        end = 0
        let socket = self.socket
        let received = storage.withUnsafeMutableBytes { room in
            Result { () throws(ConnectionEnd) in try socket.receive(into: room, until: deadline) }
        }
        end = try received.get()
        return end > 0
    }
}

import Foundation

/// Reads the response to the handshake of a WebSocket (RFC 9112 §2, §6, §7.1): its head, and the body of a response that refuses it.
struct HandshakeReader {
    /// The part of the response that is being read.
    private enum Part {
        case head
        /// A body of known length.
        case counted(left: Int)
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case trailers
        case untilEnd
        case done
    }

    private static let lineLimit = 16 * 1024

    private let host: String
    private var lines = CurlHeadReader()
    private var part = Part.head
    private var line: [UInt8] = []
    /// The head of the final response.
    private(set) var head: CurlHead?
    private var body = Data()
    private var isCut = false
    /// The bytes after the head of a response with status 101.
    private(set) var rest: [UInt8] = []

    init(host: String) {
        self.host = host
    }

    /// The body; reading it throws if it was longer than the limit, or cut.
    var responseBody: ResponseBody {
        guard isCut else { return ResponseBody(body) }
        let host = host
        let left = Locked<Data?>(body)
        return ResponseBody(
            expectedLength: nil,
            next: {
                let piece = left.withLock { left in
                    defer { left = nil }
                    return left
                }
                if let piece, !piece.isEmpty { return piece }
                throw TransportError(
                    .truncated,
                    "The body of the response from \(host) that refuses a WebSocket isn't complete, or longer than "
                        + "\(CurlWebSocket.bodyLimit) bytes.")
            }, cancel: {})
    }

    /// Receives bytes.
    ///
    /// - Parameter isEnd: Whether the connection has ended.
    /// - Returns: Whether the response is complete.
    mutating func receive(_ bytes: ArraySlice<UInt8>, isEnd: Bool) throws(TransportError) -> Bool {
        var bytes = bytes
        while !bytes.isEmpty {
            if case .done = part { break }
            try take(&bytes)
        }
        switch part {
        case .done:
            if head?.status == 101 { rest += bytes }
            return true
        case .head:
            if isEnd { throw CurlFault.noHead(of: host) }
        case .untilEnd:
            return isEnd
        default:
            if isEnd { isCut = true }
            return isEnd
        }
        return false
    }

    private mutating func take(_ bytes: inout ArraySlice<UInt8>) throws(TransportError) {
        switch part {
        case .head:
            if let line = try nextLine(&bytes) { try receive(line) }
        case .counted(let left):
            let left = left - keep(&bytes, upTo: left)
            part = left == 0 ? .done : .counted(left: left)
        case .chunkSize:
            guard let line = try nextLine(&bytes) else { return }
            let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 > 32 }
            guard digits.count <= 15, digits.first.map({ $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "+") }) == true,
                let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
            else {
                throw TransportError(.unreadableResponse, "The response from \(host) has an invalid chunk size (RFC 9112 §7.1).")
            }
            part = size == 0 ? .trailers : .chunk(left: size)
        case .chunk(let left):
            let left = left - keep(&bytes, upTo: left)
            part = left == 0 ? .chunkEnd : .chunk(left: left)
        case .chunkEnd:
            if try nextLine(&bytes) != nil { part = .chunkSize }
        case .trailers:
            if let line = try nextLine(&bytes), line.allSatisfy({ $0 == 13 || $0 == 10 }) { part = .done }
        case .untilEnd:
            _ = keep(&bytes, upTo: bytes.count)
        case .done:
            break
        }
        if isCut { part = .done }
    }

    /// Takes a line with its end from the bytes; `nil` if it isn't complete.
    private mutating func nextLine(_ bytes: inout ArraySlice<UInt8>) throws(TransportError) -> [UInt8]? {
        let end = bytes.firstIndex(of: 10).map { $0 + 1 }
        line += bytes[..<(end ?? bytes.endIndex)]
        bytes = bytes[(end ?? bytes.endIndex)...]
        guard line.count <= Self.lineLimit else {
            throw TransportError(.unreadableResponse, "A line of the response from \(host) is longer than \(Self.lineLimit) bytes.")
        }
        guard end != nil else { return nil }
        defer { line = [] }
        return line
    }

    /// Keeps bytes of the body, as far as the limit permits.
    private mutating func keep(_ bytes: inout ArraySlice<UInt8>, upTo count: Int) -> Int {
        let part = bytes.prefix(count)
        bytes = bytes.dropFirst(part.count)
        let room = CurlWebSocket.bodyLimit - body.count
        body.append(contentsOf: part.prefix(room))
        if part.count > room { isCut = true }
        return part.count
    }

    private mutating func receive(_ line: [UInt8]) throws(TransportError) {
        if lines.isEmpty, !line.starts(with: "HTTP/1.".utf8) {
            throw TransportError(.unreadableResponse, "The response from \(host) isn't valid HTTP: its status line is invalid.")
        }
        let event = line.withUnsafeBytes { lines.receive($0, isConnected: true) }
        switch event {
        case .none: return
        case .head(let head):
            self.head = head
            part = Self.body(after: head)
        case .badFirstLine: throw CurlFault.badFirstLine(from: host)
        case .tooLarge: throw Self.invalid(host, "its head is too large")
        case .badLength(let length): throw Self.invalid(host, "its Content-Length is \(length)")
        case .contradiction(let what): throw Self.invalid(host, "it has \(what)")
        }
    }

    private static func invalid(_ host: String, _ reason: String) -> TransportError {
        TransportError(.unreadableResponse, "The response from \(host) isn't valid HTTP: \(reason).")
    }

    private static func body(after head: CurlHead) -> Part {
        guard head.status != 101, head.status != 204, head.status != 304 else { return .done }
        if head.framing.isChunked { return .chunkSize }
        guard let length = head.framing.length else { return .untilEnd }
        return length == 0 ? .done : .counted(left: Int(clamping: length))
    }
}

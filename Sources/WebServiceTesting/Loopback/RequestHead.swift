/// The request line and the fields of a request (RFC 9112, sections 2 to 6).
struct RequestHead {
    /// How long the body is.
    enum BodyLength: Equatable {
        case bytes(Int)
        case chunks
    }

    let method: String
    let target: [UInt8]
    let isHTTP10: Bool
    let fields: LoopbackFields
    let bodyLength: BodyLength

    /// - Throws: ``MalformedRequest``.
    init(requestLine: [UInt8], fields: LoopbackFields) throws {
        let space = UInt8(ascii: " ")
        guard let first = requestLine.firstIndex(of: space), let last = requestLine.lastIndex(of: space), first < last else {
            throw MalformedRequest(reason: "The request line “\(String(decoding: requestLine, as: UTF8.self))” has not three parts")
        }
        let version = String(decoding: requestLine[(last + 1)...], as: UTF8.self)
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            throw MalformedRequest(reason: "The version “\(version)” is neither HTTP/1.1 nor HTTP/1.0", status: 505)
        }
        method = String(decoding: requestLine[..<first], as: UTF8.self)
        target = Array(requestLine[(first + 1)..<last])
        isHTTP10 = version == "HTTP/1.0"
        self.fields = fields
        bodyLength = try Self.bodyLength(of: fields)
    }

    var expectsContinue: Bool { !isHTTP10 && fields.list("Expect", contains: "100-continue") }

    var keepsConnection: Bool {
        isHTTP10 ? fields.list("Connection", contains: "keep-alive") : !fields.list("Connection", contains: "close")
    }

    private static func bodyLength(of fields: LoopbackFields) throws -> BodyLength {
        let lengths = fields.values(of: "Content-Length")
        if fields["Transfer-Encoding"] != nil {
            guard fields.list("Transfer-Encoding", contains: "chunked") else {
                throw MalformedRequest(reason: "The transfer encoding isn't chunked", status: 501)
            }
            guard lengths.isEmpty else { throw MalformedRequest(reason: "Both Content-Length and Transfer-Encoding are there") }
            return .chunks
        }
        guard let text = lengths.first else { return .bytes(0) }
        guard Set(lengths).count == 1, text.allSatisfy({ $0.isASCII && $0.isNumber }), let length = Int(text) else {
            throw MalformedRequest(reason: "The Content-Length “\(lengths.joined(separator: ", "))” is no length")
        }
        return .bytes(length)
    }
}

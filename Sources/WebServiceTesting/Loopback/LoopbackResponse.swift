public import Foundation

/// A response of a ``LoopbackServer``: a correct one, or a deliberately wrong one.
///
/// Create one with a helper (``json(_:status:)``, ``text(_:status:)``, ``raw(_:)`` …) and change it with a modifier (``with(_:_:)``,
/// ``delayed(by:)``, ``failing(_:)`` …). Nothing is checked: the response is sent as written.
public struct LoopbackResponse: Sendable {
    /// The status; any number.
    public var status: Int
    /// The reason phrase; `nil` for the standard one.
    public var reason: String?
    /// The header fields, sent in this order. Length and connection fields are added unless they are present.
    public var fields: LoopbackFields
    /// The body.
    public var body: Body
    /// The fields after the body. If there are any, the body is sent in chunks.
    public var trailers: LoopbackFields
    /// The interim responses (1xx) sent before this one.
    public var informational: [Informational]
    /// The time to wait before the first byte.
    public var delay: Duration
    /// How the end of the body is indicated.
    public var framing: Framing
    /// The fault while sending, if any.
    public var fault: LoopbackFault?
    /// A Boolean value that indicates whether the connection ends after this response.
    public var closesConnection: Bool

    /// Makes a response.
    public init(status: Int = 200, fields: LoopbackFields = [:], body: Body = .empty) {
        self.status = status
        self.fields = fields
        self.body = body
        reason = nil
        trailers = [:]
        informational = []
        delay = .zero
        framing = .automatic
        fault = nil
        closesConnection = false
    }

    /// The bytes of a body and their timing.
    public enum Body: Sendable {
        /// No bytes.
        case empty
        /// These bytes.
        case data(Data)
        /// Pieces, each sent after its delay, and as a separate chunk if the body is sent in chunks.
        case pieces([Piece])
        /// The same bytes repeatedly, until the client disconnects or the server stops.
        case drip(Data, every: Duration)
        /// The bytes of a file, read while sending.
        case file(URL)
        /// This number of bytes, generated while sending; see ``generatedByte(at:)``.
        case generated(count: Int)
        /// These bytes instead of a response: no head is written. The connection ends after them.
        case raw([UInt8])
        /// Nothing, not even a head, until the client disconnects or the server stops.
        case hang
        /// A closure that uses the connection, on the connection's thread. The connection ends when the closure returns.
        case script(@Sendable (LoopbackWire) throws -> Void)

        /// Returns the byte at a position, counted from zero, of a ``generated(count:)`` body.
        public static func generatedByte(at position: Int) -> UInt8 {
            UInt8(truncatingIfNeeded: position % 251)
        }
    }

    /// Bytes of a body and the delay before them.
    public struct Piece: Sendable, Hashable {
        /// The bytes.
        public var data: Data
        /// The time to wait before sending the bytes.
        public var delay: Duration

        /// Makes a piece.
        public init(_ data: Data, after delay: Duration = .zero) {
            self.data = data
            self.delay = delay
        }

        /// Makes a piece of text.
        public init(_ text: String, after delay: Duration = .zero) {
            self.init(Data(text.utf8), after: delay)
        }
    }

    /// An interim response (RFC 9110, section 15.2).
    public struct Informational: Sendable, Hashable {
        /// The status; 100 to 199 for a valid response.
        public var status: Int
        /// The fields.
        public var fields: LoopbackFields

        /// Makes an interim response.
        public init(_ status: Int, fields: LoopbackFields = [:]) {
            self.status = status
            self.fields = fields
        }
    }

    /// How the client detects the end of the body (RFC 9112, section 6).
    public enum Framing: Sendable, Hashable {
        /// By `Content-Length` if the length is known in advance, otherwise by chunks.
        case automatic
        /// By `Content-Length` with this number, right or wrong.
        case contentLength(Int)
        /// By chunks.
        case chunked
        /// By the end of the connection.
        case untilClose
        /// By chunks, with an additional `Content-Length` of this number, as in request smuggling.
        case chunkedWithContentLength(Int)
    }
}

/// A fault while a response is sent. All faults except the half-close end the connection.
public enum LoopbackFault: Sendable, Hashable {
    /// The connection ends before the head.
    case drop
    /// The connection ends gracefully (FIN) after this number of response bytes, counted from the start of the head.
    case cut(afterBytes: Int)
    /// The connection is reset (RST) after this number of response bytes, counted from the start of the head.
    case reset(afterBytes: Int)
    /// The whole response is sent and the sending side closed; the server continues to read.
    case halfClose
}

/// Common responses.
extension LoopbackResponse {
    /// Returns a response without a body.
    public static func status(_ status: Int) -> LoopbackResponse {
        LoopbackResponse(status: status)
    }

    /// Returns a response with JSON text, sent unchanged.
    public static func json(_ text: String, status: Int = 200) -> LoopbackResponse {
        .data(Data(text.utf8), type: "application/json", status: status)
    }

    /// Returns a response with a value encoded as JSON.
    ///
    /// - Throws: The errors of `JSONEncoder`.
    public static func encoded(_ value: some Encodable, status: Int = 200) throws -> LoopbackResponse {
        .data(try JSONEncoder().encode(value), type: "application/json", status: status)
    }

    /// Returns a response with plain text in UTF-8.
    public static func text(_ text: String, status: Int = 200) -> LoopbackResponse {
        .data(Data(text.utf8), type: "text/plain; charset=utf-8", status: status)
    }

    /// Returns a response with HTML in UTF-8.
    public static func html(_ text: String, status: Int = 200) -> LoopbackResponse {
        .data(Data(text.utf8), type: "text/html; charset=utf-8", status: status)
    }

    /// Returns a response with bytes of a media type.
    public static func data(_ data: Data, type: String = "application/octet-stream", status: Int = 200) -> LoopbackResponse {
        LoopbackResponse(status: status, fields: ["Content-Type": type], body: .data(data))
    }

    /// Returns a response with the bytes of a file.
    public static func file(_ url: URL, type: String = "application/octet-stream") -> LoopbackResponse {
        LoopbackResponse(fields: ["Content-Type": type], body: .file(url))
    }

    /// Returns a response with this number of bytes, as defined by ``Body/generatedByte(at:)``.
    public static func generated(count: Int) -> LoopbackResponse {
        LoopbackResponse(fields: ["Content-Type": "application/octet-stream"], body: .generated(count: count))
    }

    /// Returns a response whose body is sent in pieces, as chunks unless the framing specifies otherwise.
    public static func pieces(_ pieces: [Piece], type: String = "application/octet-stream") -> LoopbackResponse {
        LoopbackResponse(fields: ["Content-Type": type], body: .pieces(pieces))
    }

    /// Returns a response whose body never ends.
    public static func drip(_ data: Data, every interval: Duration) -> LoopbackResponse {
        LoopbackResponse(fields: ["Content-Type": "application/octet-stream"], body: .drip(data, every: interval))
    }

    /// Returns a redirect to an absolute or relative location.
    public static func redirect(to location: String, status: Int = 302) -> LoopbackResponse {
        LoopbackResponse(status: status, fields: ["Location": location])
    }

    /// Returns a 401 response with these challenges, each in a separate `WWW-Authenticate` field.
    public static func unauthorized(_ challenges: String...) -> LoopbackResponse {
        LoopbackResponse(status: 401, fields: LoopbackFields(challenges.map { LoopbackField("WWW-Authenticate", $0) }))
    }

    /// Returns bytes that are sent verbatim instead of a response; the connection ends after them.
    public static func raw(_ bytes: [UInt8]) -> LoopbackResponse {
        LoopbackResponse(body: .raw(bytes))
    }

    /// Returns text that is sent verbatim in UTF-8 instead of a response; the connection ends after it.
    public static func raw(_ text: String) -> LoopbackResponse {
        .raw(Array(text.utf8))
    }

    /// No response until the client disconnects or the server stops.
    public static var hang: LoopbackResponse {
        LoopbackResponse(body: .hang)
    }

    /// Returns a response that a closure writes to the connection, byte by byte and with its own timing.
    ///
    /// Only ``delayed(by:)`` applies to it. The connection ends gracefully when the closure returns.
    public static func script(_ script: @escaping @Sendable (LoopbackWire) throws -> Void) -> LoopbackResponse {
        LoopbackResponse(body: .script(script))
    }

    /// No response: the connection ends.
    public static var drop: LoopbackResponse {
        LoopbackResponse().failing(.drop)
    }
}

/// Modifiers, which return a changed copy of a response.
extension LoopbackResponse {
    /// Adds a field.
    public func with(_ name: String, _ value: String) -> LoopbackResponse {
        changed { $0.fields.append(name, value) }
    }

    /// Delays the first byte.
    public func delayed(by delay: Duration) -> LoopbackResponse {
        changed { $0.delay = delay }
    }

    /// Adds a fault while sending.
    public func failing(_ fault: LoopbackFault) -> LoopbackResponse {
        changed { $0.fault = fault }
    }

    /// Changes how the end of the body is indicated.
    public func framed(_ framing: Framing) -> LoopbackResponse {
        changed { $0.framing = framing }
    }

    /// Adds fields after the body, which is then sent in chunks.
    public func trailing(_ trailers: LoopbackFields) -> LoopbackResponse {
        changed { $0.trailers = trailers }
    }

    /// Adds an interim response before this one.
    public func informing(_ status: Int, _ fields: LoopbackFields = [:]) -> LoopbackResponse {
        changed { $0.informational.append(Informational(status, fields: fields)) }
    }

    /// Ends the connection after the response, announced by `Connection: close`.
    public func closing() -> LoopbackResponse {
        changed { $0.closesConnection = true }
    }

    private func changed(_ change: (inout LoopbackResponse) -> Void) -> LoopbackResponse {
        var copy = self
        change(&copy)
        return copy
    }
}

/// The reason phrases of RFC 9110, section 15, and a few other common ones.
enum ReasonPhrase {
    static func of(_ status: Int) -> String {
        phrases[status] ?? "Unknown"
    }

    private static let phrases = [
        100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints",
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content", 205: "Reset Content",
        206: "Partial Content", 207: "Multi-Status",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
        411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
        415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed", 418: "I'm a teapot",
        421: "Misdirected Request", 422: "Unprocessable Content", 425: "Too Early", 426: "Upgrade Required",
        428: "Precondition Required", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported", 507: "Insufficient Storage",
    ]
}

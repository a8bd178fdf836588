public import Foundation

/// What a ``LoopbackServer`` answers: a proper response, or a wrong one on purpose.
///
/// Make one with a helper (``json(_:status:)``, ``text(_:status:)``, ``raw(_:)`` …) and change it with a modifier
/// (``with(_:_:)``, ``delayed(by:)``, ``failing(_:)`` …). Nothing is checked: what you write is what is sent.
public struct LoopbackResponse: Sendable {
    /// The status, any number.
    public var status: Int
    /// The reason phrase; `nil` for the usual one.
    public var reason: String?
    /// The fields of the head, sent in this order. Length and connection fields are added unless they are here.
    public var fields: LoopbackFields
    /// The body.
    public var body: Body
    /// Fields after the body, which is then sent in chunks.
    public var trailers: LoopbackFields
    /// Interim responses (1xx) that go before this one.
    public var informational: [Informational]
    /// How long to wait before the first byte of all.
    public var delay: Duration
    /// How the body's end is told.
    public var framing: Framing
    /// What goes wrong on the way, if anything.
    public var fault: LoopbackFault?
    /// Whether the connection ends after this response.
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

    /// The bytes of a body and the pace at which they go out.
    public enum Body: Sendable {
        /// No bytes.
        case empty
        /// These bytes.
        case data(Data)
        /// Pieces, each a chunk of its own when the body is sent in chunks, each after its delay.
        case pieces([Piece])
        /// The same bytes again and again, without an end, until the client goes or the server stops.
        case drip(Data, every: Duration)
        /// A file's bytes, read while sending.
        case file(URL)
        /// So many bytes, made while sending; ``generatedByte(at:)`` tells which.
        case generated(count: Int)
        /// These bytes instead of everything else: no head is written. The connection ends after them.
        case raw([UInt8])
        /// Nothing at all, no head either, until the client goes or the server stops.
        case hang
        /// Whatever a closure does with the connection, on its thread. The connection ends when the closure returns.
        case script(@Sendable (LoopbackWire) throws -> Void)

        /// The byte of a ``generated(count:)`` body at a position from zero.
        public static func generatedByte(at position: Int) -> UInt8 {
            UInt8(truncatingIfNeeded: position % 251)
        }
    }

    /// Bytes of a body and the wait before them.
    public struct Piece: Sendable, Hashable {
        /// The bytes.
        public var data: Data
        /// How long to wait before they are sent.
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
        /// The status, 100 to 199 if it is to be right.
        public var status: Int
        /// Its fields.
        public var fields: LoopbackFields

        /// Makes an interim response.
        public init(_ status: Int, fields: LoopbackFields = [:]) {
            self.status = status
            self.fields = fields
        }
    }

    /// How the client learns where the body ends (RFC 9112, section 6).
    public enum Framing: Sendable, Hashable {
        /// By `Content-Length` where the length is known before, else by chunks.
        case automatic
        /// By `Content-Length` with this number, right or wrong.
        case contentLength(Int)
        /// By chunks.
        case chunked
        /// By the end of the connection.
        case untilClose
        /// By chunks, with a `Content-Length` of this number beside them: what request smugglers send.
        case chunkedWithContentLength(Int)
    }
}

/// What goes wrong while a response is sent. All but the half-close end the connection.
public enum LoopbackFault: Sendable, Hashable {
    /// The connection ends before the head.
    case drop
    /// The connection ends in order (FIN) after so many bytes of the response, counted from the head's first.
    case cut(afterBytes: Int)
    /// The connection is reset (RST) after so many bytes of the response, counted from the head's first.
    case reset(afterBytes: Int)
    /// The whole response is sent and the sending side closed; the server goes on reading.
    case halfClose
}

/// The usual answers.
extension LoopbackResponse {
    /// An answer without a body.
    public static func status(_ status: Int) -> LoopbackResponse {
        LoopbackResponse(status: status)
    }

    /// JSON text, sent as it is written.
    public static func json(_ text: String, status: Int = 200) -> LoopbackResponse {
        .data(Data(text.utf8), type: "application/json", status: status)
    }

    /// A value as JSON.
    ///
    /// - Throws: what `JSONEncoder` throws.
    public static func encoded(_ value: some Encodable, status: Int = 200) throws -> LoopbackResponse {
        .data(try JSONEncoder().encode(value), type: "application/json", status: status)
    }

    /// Plain text in UTF-8.
    public static func text(_ text: String, status: Int = 200) -> LoopbackResponse {
        .data(Data(text.utf8), type: "text/plain; charset=utf-8", status: status)
    }

    /// A page of HTML in UTF-8.
    public static func html(_ text: String, status: Int = 200) -> LoopbackResponse {
        .data(Data(text.utf8), type: "text/html; charset=utf-8", status: status)
    }

    /// Bytes of a media type.
    public static func data(_ data: Data, type: String = "application/octet-stream", status: Int = 200) -> LoopbackResponse {
        LoopbackResponse(status: status, fields: ["Content-Type": type], body: .data(data))
    }

    /// A file's bytes.
    public static func file(_ url: URL, type: String = "application/octet-stream") -> LoopbackResponse {
        LoopbackResponse(fields: ["Content-Type": type], body: .file(url))
    }

    /// So many bytes that ``Body/generatedByte(at:)`` tells.
    public static func generated(count: Int) -> LoopbackResponse {
        LoopbackResponse(fields: ["Content-Type": "application/octet-stream"], body: .generated(count: count))
    }

    /// A body that comes in pieces, in chunks unless the framing says otherwise.
    public static func pieces(_ pieces: [Piece], type: String = "application/octet-stream") -> LoopbackResponse {
        LoopbackResponse(fields: ["Content-Type": type], body: .pieces(pieces))
    }

    /// A body that never ends.
    public static func drip(_ data: Data, every interval: Duration) -> LoopbackResponse {
        LoopbackResponse(fields: ["Content-Type": "application/octet-stream"], body: .drip(data, every: interval))
    }

    /// A redirect to an absolute or relative location.
    public static func redirect(to location: String, status: Int = 302) -> LoopbackResponse {
        LoopbackResponse(status: status, fields: ["Location": location])
    }

    /// 401 with these challenges, each a `WWW-Authenticate` field of its own.
    public static func unauthorized(_ challenges: String...) -> LoopbackResponse {
        LoopbackResponse(status: 401, fields: LoopbackFields(challenges.map { LoopbackField("WWW-Authenticate", $0) }))
    }

    /// Bytes instead of a response, verbatim; the connection ends after them.
    public static func raw(_ bytes: [UInt8]) -> LoopbackResponse {
        LoopbackResponse(body: .raw(bytes))
    }

    /// Text instead of a response, verbatim in UTF-8; the connection ends after it.
    public static func raw(_ text: String) -> LoopbackResponse {
        .raw(Array(text.utf8))
    }

    /// No answer until the client goes or the server stops.
    public static var hang: LoopbackResponse {
        LoopbackResponse(body: .hang)
    }

    /// Whatever a closure writes to the connection, byte by byte and at its own pace: what no other answer can say.
    ///
    /// Only ``delayed(by:)`` has an effect on it. The connection ends in order when the closure returns.
    public static func script(_ script: @escaping @Sendable (LoopbackWire) throws -> Void) -> LoopbackResponse {
        LoopbackResponse(body: .script(script))
    }

    /// The connection ends without an answer.
    public static var drop: LoopbackResponse {
        LoopbackResponse().failing(.drop)
    }
}

/// Copies of an answer with one thing changed.
extension LoopbackResponse {
    /// With one more field.
    public func with(_ name: String, _ value: String) -> LoopbackResponse {
        changed { $0.fields.append(name, value) }
    }

    /// With a wait before the first byte.
    public func delayed(by delay: Duration) -> LoopbackResponse {
        changed { $0.delay = delay }
    }

    /// With something going wrong on the way.
    public func failing(_ fault: LoopbackFault) -> LoopbackResponse {
        changed { $0.fault = fault }
    }

    /// With another way to tell the body's end.
    public func framed(_ framing: Framing) -> LoopbackResponse {
        changed { $0.framing = framing }
    }

    /// With fields after the body, which is then sent in chunks.
    public func trailing(_ trailers: LoopbackFields) -> LoopbackResponse {
        changed { $0.trailers = trailers }
    }

    /// With an interim response before it.
    public func informing(_ status: Int, _ fields: LoopbackFields = [:]) -> LoopbackResponse {
        changed { $0.informational.append(Informational(status, fields: fields)) }
    }

    /// With the end of the connection after it, announced by `Connection: close`.
    public func closing() -> LoopbackResponse {
        changed { $0.closesConnection = true }
    }

    private func changed(_ change: (inout LoopbackResponse) -> Void) -> LoopbackResponse {
        var copy = self
        change(&copy)
        return copy
    }
}

/// The reason phrases of RFC 9110, section 15, and a few others that servers send.
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

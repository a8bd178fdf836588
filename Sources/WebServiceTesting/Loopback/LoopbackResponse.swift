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

public import Foundation

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

/// The head of a response as its bytes came, with those of the informational responses before it.
///
/// The loop's thread only collects lines; reading them is the caller's work, on the caller's thread.
struct CurlHead: Sendable {
    /// Status line and fields of the final response.
    let bytes: [UInt8]
    /// The same of each informational response.
    let informational: [[UInt8]]
    /// What the head tells of the body.
    let framing: Framing
    /// Whether a proxy answered that way instead of opening a tunnel.
    let isOfTunnel: Bool
    /// The final response's status; 0 where its line tells none.
    let status: Int

    /// What a head tells of the body behind it, found while the lines came: few look at any other field.
    struct Framing: Sendable {
        /// `Content-Length`; `nil` where there is none.
        var length: Int64?
        /// Whether there is a `Transfer-Encoding`.
        var isTransferCoded = false
        /// Whether the last transfer coding is `chunked`, and whether it comes before another one.
        var isChunked = false
        var isChunkedWithin = false
        /// Whether there is a `Content-Encoding`.
        var isContentCoded = false
        /// Whether the connection is closed behind the answer.
        var isClosing = false
    }

    /// A head, of the bytes of its lines.
    init(bytes: [UInt8], informational: [[UInt8]], framing: Framing = Framing(), isOfTunnel: Bool = false) {
        self.bytes = bytes
        self.informational = informational
        self.framing = framing
        self.isOfTunnel = isOfTunnel
        status = Self.status(of: bytes)
    }

    /// The final response's version and fields.
    func parsed() -> (status: Int, version: String?, headers: HTTPFields) {
        let end = bytes.firstIndex(of: 10) ?? bytes.endIndex
        let version = bytes[..<end].firstIndex(of: 32).map { String(decoding: bytes[..<$0], as: UTF8.self) }
        return (status, version, HTTPFields(HTTPFields.Lines(bytes, from: end + 1)))
    }

    /// The informational responses.
    func parsedInformational() -> [InformationalResponse] {
        informational.map { bytes in
            let (status, _, headers) = CurlHead(bytes: bytes, informational: []).parsed()
            return InformationalResponse(status: status, headers: headers)
        }
    }

    /// The status that a status line tells, `HTTP/1.1 200 OK` or `HTTP/2 200`; 0 when it tells none.
    private static func status(of bytes: [UInt8]) -> Int {
        guard let blank = bytes.firstIndex(where: { $0 == 32 || $0 == 10 }), bytes[blank] == 32 else { return 0 }
        var status = 0
        for byte in bytes[(blank + 1)...].prefix(3) {
            if byte == 10 { break }
            guard byte >= 48, byte <= 57 else { return 0 }
            status = status * 10 + Int(byte - 48)
        }
        return status
    }
}

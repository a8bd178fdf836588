/// The head of a response as its bytes came, with those of the informational responses before it.
///
/// The loop's thread only collects lines; reading them is the caller's work, on the caller's thread.
struct CurlHead: Sendable {
    /// Status line and fields of the final response.
    let bytes: [UInt8]
    /// The same of each informational response.
    let informational: [[UInt8]]
    /// What the head tells of the body.
    var framing = Framing()
    /// Whether a proxy answered that way instead of opening a tunnel.
    var isOfTunnel = false

    /// What a head tells of the body behind it, found while the lines came: few look at any other field.
    struct Framing: Sendable {
        /// `Content-Length`; `nil` where there is none.
        var length: Int64?
        /// Whether there is a `Transfer-Encoding`.
        var isTransferCoded = false
        /// Whether there is a `Content-Encoding`.
        var isContentCoded = false
    }

    /// The final response's status and fields.
    func parsed() -> (status: Int, version: String?, headers: HTTPFields) {
        Self.parse(bytes)
    }

    /// The informational responses.
    func parsedInformational() -> [InformationalResponse] {
        informational.map { bytes in
            let (status, _, headers) = Self.parse(bytes)
            return InformationalResponse(status: status, headers: headers)
        }
    }

    /// The status that a status line tells, `HTTP/1.1 200 OK` or `HTTP/2 200`; 0 when it tells none.
    static func status(ofLine line: some Collection<UInt8>) -> Int {
        guard let space = line.firstIndex(of: 32) else { return 0 }
        var status = 0
        for byte in line[space...].dropFirst().prefix(3) {
            guard byte >= 48, byte <= 57 else { return 0 }
            status = status * 10 + Int(byte - 48)
        }
        return status
    }

    private static func parse(_ bytes: [UInt8]) -> (Int, String?, HTTPFields) {
        let end = bytes.firstIndex(of: 10) ?? bytes.endIndex
        let line = bytes[..<end]
        let version = line.firstIndex(of: 32).map { String(decoding: line[..<$0], as: UTF8.self) }
        return (status(ofLine: line), version, HTTPFields(HTTPFields.Lines(bytes, from: end + 1)))
    }
}

/// Collects header lines as libcurl hands them over: heads of informational responses, of a proxy's tunnel, of the response, trailers.
struct CurlHeadReader {
    /// What a line completed.
    enum Event {
        /// Nothing yet.
        case none
        /// The head of the final response.
        case head(CurlHead)
        /// There is more than is taken.
        case tooLarge
    }

    /// The most bytes of all heads and trailers of an exchange.
    static let limit = 1024 * 1024

    private var lines: [UInt8] = []
    private var informational: [[UInt8]] = []
    private var total = 0
    private var isFinal = false

    /// The head of a proxy's answer to the request for a tunnel.
    private(set) var tunnel: CurlHead?

    /// The trailer lines, once the final head is complete.
    var trailers: [UInt8] { isFinal ? lines : [] }

    /// Takes a line, with its line break.
    ///
    /// - Parameter isConnected: whether the connection to the server stands; before, only a proxy can answer.
    mutating func receive(_ line: UnsafeRawBufferPointer, isConnected: Bool) -> Event {
        // Most heads fit, and growing step by step would copy them.
        if total == 0 { lines.reserveCapacity(512) }
        total += line.count
        guard total <= Self.limit else { return .tooLarge }
        let isEnd = line.count <= 2 && line.allSatisfy { $0 == 13 || $0 == 10 }
        guard isEnd, !isFinal else {
            if !isEnd { lines.append(contentsOf: line) }
            return .none
        }
        let bytes = lines
        lines = []
        let status = CurlHead.status(ofLine: bytes.prefix { $0 != 10 })
        guard isConnected else {
            tunnel = CurlHead(bytes: bytes, informational: [], isOfTunnel: true)
            return .none
        }
        guard status >= 200 || status == 101 || status == 0 else {
            informational.append(bytes)
            return .none
        }
        isFinal = true
        return .head(CurlHead(bytes: bytes, informational: informational))
    }
}

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
        /// The length is none, or there are several that differ: nobody knows where the body ends (RFC 9112 §6.3).
        case badLength(String)
    }

    /// The most bytes of all heads and trailers of an exchange.
    static let limit = 1024 * 1024

    private var lines: [UInt8] = []
    private var informational: [[UInt8]] = []
    private var total = 0
    private var isFinal = false
    private var length: Int64?
    /// What the final head tells of the body's length; 0 where it tells nothing.
    private(set) var bodyLength = 0

    /// The head of a proxy's answer by which it refused a tunnel.
    private(set) var tunnel: CurlHead?

    /// The trailer lines, once the final head is complete.
    var trailers: [UInt8] { isFinal ? lines : [] }

    /// Whether nothing has come.
    var isEmpty: Bool { total == 0 }

    /// Takes a line, with its line break.
    ///
    /// - Parameter isConnected: whether the connection to the server stands; before, only a proxy can answer.
    mutating func receive(_ line: UnsafeRawBufferPointer, isConnected: Bool) -> Event {
        // Most heads fit, and growing step by step would copy them.
        if total == 0 { lines.reserveCapacity(512) }
        total += line.count
        guard total <= Self.limit else { return .tooLarge }
        let isEnd = Self.isEmpty(line)
        guard isEnd, !isFinal else {
            if !isEnd { lines.append(contentsOf: line) }
            return isFinal ? .none : check(line)
        }
        let bytes = lines
        lines = []
        bodyLength = length.map { Int(clamping: $0) } ?? 0
        length = nil
        let status = CurlHead.status(ofLine: bytes.prefix { $0 != 10 })
        guard isConnected else {
            // What fails in a tunnel that stands is the server's, and never the proxy's "200 Connection established".
            tunnel = (200..<300).contains(status) ? nil : CurlHead(bytes: bytes, informational: [], isOfTunnel: true)
            return .none
        }
        guard status >= 200 || status == 101 || status == 0 else {
            informational.append(bytes)
            return .none
        }
        isFinal = true
        return .head(CurlHead(bytes: bytes, informational: informational))
    }

    /// Whether a line is the one that ends a head.
    private static func isEmpty(_ line: UnsafeRawBufferPointer) -> Bool {
        guard line.count <= 2 else { return false }
        for byte in line where byte != 13 && byte != 10 { return false }
        return true
    }

    /// Looks at a `Content-Length`, here where the connection can still be given up: libcurl takes "4x" for 4.
    private mutating func check(_ line: UnsafeRawBufferPointer) -> Event {
        let name: StaticString = "content-length:"
        guard line.count > name.utf8CodeUnitCount, line[0] | 0x20 == name.utf8Start[0] else { return .none }
        for index in 0..<name.utf8CodeUnitCount where line[index] | 0x20 != name.utf8Start[index] | 0x20 { return .none }
        var rest = line[name.utf8CodeUnitCount...]
        while true {
            let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
            guard let number = Self.number(rest[..<end]), length ?? number == number else {
                return .badLength(Self.text(rest[..<end]))
            }
            length = number
            guard end < rest.endIndex else { return .none }
            rest = rest[(end + 1)...]
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 || byte == 10 }

    /// The number that stands there between blanks; `nil` when it is none, or of more than 18 digits.
    private static func number(_ part: Slice<UnsafeRawBufferPointer>) -> Int64? {
        var (number, digits, hasEnded) = (Int64(0), 0, false)
        for byte in part {
            if isBlank(byte) {
                hasEnded = digits > 0
            } else {
                guard (48...57).contains(byte), !hasEnded, digits < 18 else { return nil }
                number = number * 10 + Int64(byte - 48)
                digits += 1
            }
        }
        return digits > 0 ? number : nil
    }

    /// What stands there instead of a number, for the error.
    private static func text(_ part: Slice<UnsafeRawBufferPointer>) -> String {
        let words = part.split(whereSeparator: isBlank).map { String(decoding: $0.prefix(40), as: UTF8.self) }
        return String(words.joined(separator: " ").prefix(40))
    }
}

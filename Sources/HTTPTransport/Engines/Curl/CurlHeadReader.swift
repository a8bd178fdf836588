/// Collects the header lines from libcurl: heads of informational responses, of a proxy's response to CONNECT, of the response, and
/// trailers.
struct CurlHeadReader {
    /// The result of a line.
    enum Event {
        /// Nothing is complete yet.
        case none
        /// The head of the final response is complete.
        case head(CurlHead)
        /// A limit is exceeded.
        case tooLarge
        /// The first field line begins with whitespace, as if it continued an earlier field (RFC 9112 §2.2, §5.2).
        case badFirstLine
        /// The length is invalid, or there are several that differ: the end of the body is unknown (RFC 9112 §6.3).
        case badLength(String)
        /// The fields contradict each other about the end of the body; a description.
        case contradiction(String)
    }

    /// The maximum number of bytes in all heads and trailers of an exchange.
    static let limit = 1024 * 1024
    /// The maximum number of informational responses.
    static let informationalLimit = 256
    /// The initial capacity in bytes: most heads fit.
    private static let usual = 512

    /// The lines of the current head, and spare room. libcurl delivers each line separately, and an array that grows with each line would
    /// take as long as everything else here. The room is allocated with the reader, by the thread that will probably free it: otherwise the
    /// loop's thread and the caller's would contend in the allocator.
    private var lines = [UInt8](repeating: 0, count: usual)
    /// The number of bytes in use.
    private var count = 0
    /// The number of lines of the current head, or of the trailers.
    private var lineCount = 0
    private var informational: [[UInt8]] = []
    private var total = 0
    private var isFinal = false
    private var framing = CurlHead.Framing()
    /// Whether the last line was a field that determines the end of the body: a line that continues it would change its value.
    private var describesLength = false
    /// The length of the body according to the final head; 0 if it has none.
    private(set) var bodyLength = 0
    /// The status of the final head; 0 before.
    private(set) var status = 0
    /// Whether the body is empty according to the head.
    var isBodyless: Bool { isComplete(after: 0) }
    /// Whether the body ends after the declared length, not according to its transfer coding (RFC 9112 §6.3).
    private(set) var isCounted = false
    /// Whether the body ends with the connection (RFC 9112 §6.3), unless the request excludes a body.
    private(set) var endsWithConnection = false
    /// Whether the response uses HTTP/2.
    private(set) var isHTTP2 = false
    /// Whether the server closes the connection after the response.
    private(set) var isClosing = false

    /// Returns whether this number of bytes is the whole body according to the head (RFC 9112 §6.3).
    func isComplete(after count: Int) -> Bool { status == 204 || status == 304 || isCounted && count >= bodyLength }

    /// The head of a proxy's response that refused a tunnel.
    private(set) var tunnel: CurlHead?

    /// The trailer lines, once the final head is complete.
    var trailers: [UInt8] { isFinal ? Array(lines.prefix(count)) : [] }

    /// Whether nothing has been received.
    var isEmpty: Bool { total == 0 }

    /// Receives a line, including its line break.
    ///
    /// - Parameter isConnected: Whether the connection to the server is established; before that, only a proxy can respond.
    @inline(__always)
    mutating func receive(_ line: UnsafeRawBufferPointer, isConnected: Bool) -> Event {
        guard accepts(line) else { return .badFirstLine }
        guard line.count > 2, collects(line) else { return receiveOther(line, isConnected: isConnected) }
        return check(line)
    }

    /// Returns whether a line is allowed here: the first field line must not begin with whitespace.
    @inline(__always)
    func accepts(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let first = line.first, first == 32 || first == 9 else { return true }
        return lineCount > (isFinal ? 0 : 1)
    }

    /// Adds a line if there is room.
    @inline(__always)
    private mutating func collects(_ line: UnsafeRawBufferPointer) -> Bool {
        let size = line.count
        guard size <= lines.count - count, total + size <= Self.limit else { return false }
        lines.withUnsafeMutableBytes { lines in
            if let start = lines.baseAddress, let bytes = line.baseAddress { (start + count).copyMemory(from: bytes, byteCount: size) }
        }
        count += size
        total += size
        lineCount += 1
        return true
    }

    /// Receives a line for which there is no room, or which ends a head.
    @inline(never)
    private mutating func receiveOther(_ line: UnsafeRawBufferPointer, isConnected: Bool) -> Event {
        guard total + line.count <= Self.limit else { return .tooLarge }
        guard Self.isEmpty(line) else {
            if lines.count - count < line.count { makeRoom(for: line.count) }
            return collects(line) ? check(line) : .tooLarge
        }
        total += line.count
        return isFinal ? .none : end(isConnected: isConnected)
    }

    private mutating func makeRoom(for size: Int) {
        var larger = [UInt8](repeating: 0, count: max(Self.usual, 2 * lines.count, count + size))
        larger.withUnsafeMutableBytes { larger in
            lines.withUnsafeBytes { larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
        }
        lines = larger
    }

    /// Ends a head.
    private mutating func end(isConnected: Bool) -> Event {
        var bytes = lines
        lines = []
        bytes.removeLast(bytes.count - count)
        count = 0
        lineCount = 0
        let framing = framing
        self.framing = CurlHead.Framing()
        bodyLength = framing.length.map { Int(clamping: $0) } ?? 0
        isCounted = framing.length != nil && !framing.isTransferCoded
        isClosing = framing.isClosing
        // Informational heads are added later: a copy of the array here would force another copy when the next one arrives.
        var head = CurlHead(bytes: bytes, informational: [], framing: framing, isOfTunnel: !isConnected)
        guard isConnected else {
            // Errors within an established tunnel come from the server, not from the proxy's "200 Connection established".
            tunnel = (200..<300).contains(head.status) ? nil : head
            return .none
        }
        guard head.status >= 200 || head.status == 101 || head.status == 0 else {
            // libcurl would expect chunks in the final response.
            if framing.isTransferCoded { return .contradiction("a Transfer-Encoding in an informational response, which has no body") }
            guard informational.count < Self.informationalLimit else { return .tooLarge }
            informational.append(bytes)
            return .none
        }
        if !informational.isEmpty { head = CurlHead(bytes: bytes, informational: informational, framing: framing) }
        if let contradiction = Self.contradiction(in: head) { return .contradiction(contradiction) }
        isFinal = true
        status = head.status
        // After "HTTP/".
        isHTTP2 = bytes.count > 5 && bytes[5] == UInt8(ascii: "2")
        endsWithConnection = !isHTTP2 && !isCounted && !framing.isChunked && status != 204 && status != 304
        return .head(head)
    }

    /// Returns a contradiction about the end of the body: two parties may disagree about it, and one of them may take the rest for another
    /// response (RFC 9112 §6.1, §6.3 and §11.2).
    private static func contradiction(in head: CurlHead) -> String? {
        guard head.framing.isTransferCoded else { return nil }
        if head.framing.length != nil { return "both Content-Length and Transfer-Encoding" }
        if head.bytes.starts(with: "HTTP/1.0".utf8) { return "a Transfer-Encoding in HTTP/1.0, which has none" }
        if head.framing.isChunkedWithin { return "a Transfer-Encoding in which chunked isn't the last coding, or is there twice" }
        return nil
    }

    /// Returns whether a line ends a head.
    private static func isEmpty(_ line: UnsafeRawBufferPointer) -> Bool {
        guard line.count <= 2 else { return false }
        for byte in line where byte != 13 && byte != 10 { return false }
        return true
    }

    /// Looks for fields that describe the body.
    private mutating func check(_ line: UnsafeRawBufferPointer) -> Event {
        // Trailers can't describe the body.
        guard !isFinal else { return .none }
        let mayContinue = describesLength
        describesLength = false
        switch line[0] | 0x20 {
        case UInt8(ascii: "c"):
            if Self.begins(line, with: "content-length:") {
                describesLength = true
                return checkLength(line["content-length:".utf8.count...])
            }
            // libcurl ignores such a field; other programs use it.
            if Self.begins(line, with: "content-length ") || Self.begins(line, with: "content-length\t") {
                return .contradiction("whitespace before the colon of Content-Length")
            }
            if Self.begins(line, with: "content-encoding:") { framing.isContentCoded = true }
            if Self.begins(line, with: "connection:"), Self.lists("close", line["connection:".utf8.count...]) { framing.isClosing = true }
        case UInt8(ascii: "t"):
            if Self.begins(line, with: "transfer-encoding:") {
                describesLength = true
                noteCodings(line["transfer-encoding:".utf8.count...])
            }
            if Self.begins(line, with: "transfer-encoding ") || Self.begins(line, with: "transfer-encoding\t") {
                return .contradiction("whitespace before the colon of Transfer-Encoding")
            }
        case _ where mayContinue && Self.isBlank(line[0]):
            return .contradiction("a Content-Length or Transfer-Encoding of several lines")
        default: break
        }
        return .none
    }

    /// Notes the position of `chunked` among the transfer codings of all lines together.
    private mutating func noteCodings(_ value: Slice<UnsafeRawBufferPointer>) {
        framing.isTransferCoded = true
        for part in value.split(separator: UInt8(ascii: ",")) {
            let coding = part.drop(while: Self.isBlank)
            guard !coding.isEmpty else { continue }
            if framing.isChunked { framing.isChunkedWithin = true }
            let name = coding.prefix { !Self.isBlank($0) && $0 != UInt8(ascii: ";") }
            framing.isChunked = name.elementsEqual("chunked".utf8, by: { $0 | 0x20 == $1 })
        }
    }

    /// Checks a `Content-Length` while the connection can still be abandoned: libcurl accepts "4x" as 4.
    private mutating func checkLength(_ value: Slice<UnsafeRawBufferPointer>) -> Event {
        var rest = value
        while true {
            let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
            guard let number = Self.number(rest[..<end]), framing.length ?? number == number else {
                return .badLength(Self.text(rest[..<end]))
            }
            framing.length = number
            guard end < rest.endIndex else { return .none }
            rest = rest[(end + 1)...]
        }
    }
}

// Parsing of header lines, as far as the transport needs it.
extension CurlHeadReader {
    /// Returns whether a lowercase word is a member of a list, such as `close` among the options of a `Connection` field (RFC 9112 §9.6).
    static func lists(_ word: StaticString, _ value: Slice<UnsafeRawBufferPointer>) -> Bool {
        // Without arrays: most responses have the field, and arrays of options and words take as long as everything else here.
        var rest = value
        while true {
            let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
            var option = rest[..<end]
            while let byte = option.first, isBlank(byte) { option.removeFirst() }
            while let byte = option.last, isBlank(byte) { option.removeLast() }
            let letters = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
            if option.elementsEqual(letters, by: { $0 | 0x20 == $1 }) { return true }
            guard end < rest.endIndex else { return false }
            rest = rest[(end + 1)...]
        }
    }

    /// Returns whether a line begins with a name, which is in lowercase and ends with its colon.
    static func begins(_ line: UnsafeRawBufferPointer, with name: StaticString) -> Bool {
        let count = name.utf8CodeUnitCount
        guard line.count >= count, line[count - 1] == name.utf8Start[count - 1] else { return false }
        for index in 0..<count {
            let letter = name.utf8Start[index]
            guard line[index] == letter || (letter >= UInt8(ascii: "a") && line[index] | 0x20 == letter) else { return false }
        }
        return true
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 || byte == 10 }

    /// Returns the number between blanks; `nil` if there is none, or if it has more than 18 digits.
    static func number(_ part: Slice<UnsafeRawBufferPointer>) -> Int64? {
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

    /// Returns the text that isn't a number, for the error.
    static func text(_ part: Slice<UnsafeRawBufferPointer>) -> String {
        let words = part.split(whereSeparator: isBlank).map { String(decoding: $0.prefix(40), as: UTF8.self) }
        return String(words.joined(separator: " ").prefix(40))
    }
}

/// The head of a response as received, with the heads of the informational responses before it.
///
/// The loop's thread only collects the lines; they are parsed on the caller's thread.
struct CurlHead: Sendable {
    /// The status line and the fields of the final response.
    let bytes: [UInt8]
    /// The status line and the fields of each informational response.
    let informational: [[UInt8]]
    /// The description of the body.
    let framing: Framing
    /// Whether a proxy sent this response instead of opening a tunnel.
    let isOfTunnel: Bool
    /// The status of the final response; 0 if its status line is invalid.
    let status: Int

    /// The description of a body in its head, collected while the lines arrive: other fields are rarely read.
    struct Framing: Sendable {
        /// `Content-Length`; `nil` if there is none.
        var length: Int64?
        /// Whether there is a `Transfer-Encoding`.
        var isTransferCoded = false
        /// Whether the last transfer coding is `chunked`, and whether `chunked` precedes another one.
        var isChunked = false
        var isChunkedWithin = false
        /// Whether there is a `Content-Encoding`.
        var isContentCoded = false
        /// Whether the connection is closed after the response.
        var isClosing = false
    }

    /// Creates a head from the bytes of its lines.
    init(bytes: [UInt8], informational: [[UInt8]], framing: Framing = Framing(), isOfTunnel: Bool = false) {
        self.bytes = bytes
        self.informational = informational
        self.framing = framing
        self.isOfTunnel = isOfTunnel
        status = Self.status(of: bytes)
    }

    /// Parses the version and the fields of the final response.
    func parsed() -> (status: Int, version: String?, headers: HTTPFields) {
        let end = bytes.firstIndex(of: 10) ?? bytes.endIndex
        let version = bytes[..<end].firstIndex(of: 32).map { String(decoding: bytes[..<$0], as: UTF8.self) }
        return (status, version, HTTPFields(HTTPFields.Lines(bytes, from: end + 1)))
    }

    /// Parses the informational responses.
    func parsedInformational() -> [InformationalResponse] {
        informational.map { bytes in
            let (status, _, headers) = CurlHead(bytes: bytes, informational: []).parsed()
            return InformationalResponse(status: status, headers: headers)
        }
    }

    /// Returns the status in a status line, `HTTP/1.1 200 OK` or `HTTP/2 200`; 0 if there is none.
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

@_spi(Fuzzing) extension HTTPFields {
    /// Parses the head of a response, which begins with its status line.
    public static func responseHead(_ bytes: [UInt8]) -> (status: Int, version: String?, fields: HTTPFields) {
        let head = CurlHead(bytes: bytes, informational: []).parsed()
        return (head.status, head.version, head.headers)
    }
}

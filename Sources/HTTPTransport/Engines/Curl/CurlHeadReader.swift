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
        /// The first line of the fields begins with a blank, as if it went on with a field before it (RFC 9112 §2.2, §5.2).
        case badFirstLine
        /// The length is none, or there are several that differ: nobody knows where the body ends (RFC 9112 §6.3).
        case badLength(String)
        /// What the head says of the body's end contradicts itself, and how.
        case contradiction(String)
    }

    /// The most bytes of all heads and trailers of an exchange.
    static let limit = 1024 * 1024
    /// The most informational responses before the final one.
    static let mostInformational = 256
    /// The bytes that there is room for from the start: most heads fit.
    private static let usual = 512

    /// The lines of the head that is coming, and room for more: libcurl brings each by itself, and an array that grows with each takes as
    /// long as all else here. The room is made with the reader, by the thread that most likely gives it back: where the loop's own did that,
    /// the two would wait for each other in the allocator.
    private var lines = [UInt8](repeating: 0, count: usual)
    /// How many bytes of it have come.
    private var count = 0
    /// How many lines of the current head, or of the trailers, have come.
    private var lineCount = 0
    private var informational: [[UInt8]] = []
    private var total = 0
    private var isFinal = false
    private var framing = CurlHead.Framing()
    /// What the final head tells of the body's length; 0 where it tells nothing.
    private(set) var bodyLength = 0
    /// The status of the final head; 0 before it has come.
    private(set) var status = 0
    /// Whether it tells that the body is empty.
    var isBodyless: Bool { isComplete(after: 0) }
    /// Whether the body ends after so many bytes as it tells, and not where its transfer coding says (RFC 9112 §6.3).
    private(set) var isCounted = false
    /// Whether the body ends where the connection does (RFC 9112 §6.3), unless the request says that there is none.
    private(set) var endsWithConnection = false
    /// Whether it came by HTTP/2.
    private(set) var isHTTP2 = false
    /// Whether the server closes the connection behind its answer.
    private(set) var isClosing = false

    /// Whether so many bytes are the whole body, by what the head tells (RFC 9112 §6.3).
    func isComplete(after count: Int) -> Bool { status == 204 || status == 304 || isCounted && count >= bodyLength }

    /// The head of a proxy's answer by which it refused a tunnel.
    private(set) var tunnel: CurlHead?

    /// The trailer lines, once the final head is complete.
    var trailers: [UInt8] { isFinal ? Array(lines.prefix(count)) : [] }

    /// Whether nothing has come.
    var isEmpty: Bool { total == 0 }

    /// Takes a line, with its line break.
    ///
    /// - Parameter isConnected: whether the connection to the server stands; before, only a proxy can answer.
    @inline(__always)
    mutating func receive(_ line: UnsafeRawBufferPointer, isConnected: Bool) -> Event {
        guard accepts(line) else { return .badFirstLine }
        guard line.count > 2, collects(line) else { return receiveOther(line, isConnected: isConnected) }
        return check(line)
    }

    /// Whether a line may come here: the first of the fields must not begin with a blank.
    @inline(__always)
    func accepts(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let first = line.first, first == 32 || first == 9 else { return true }
        return lineCount > (isFinal ? 0 : 1)
    }

    /// Takes a line that there is room for.
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

    /// Takes a line that there is no room for, or that ends a head.
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

    /// A head is complete.
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
        // Without the others for now: one that holds them lets them be copied when the next one comes.
        var head = CurlHead(bytes: bytes, informational: [], framing: framing, isOfTunnel: !isConnected)
        guard isConnected else {
            // What fails in a tunnel that stands is the server's, and never the proxy's "200 Connection established".
            tunnel = (200..<300).contains(head.status) ? nil : head
            return .none
        }
        guard head.status >= 200 || head.status == 101 || head.status == 0 else {
            // libcurl would look for chunks in the final response.
            if framing.isTransferCoded { return .contradiction("a Transfer-Encoding in an informational response, which has no body") }
            guard informational.count < Self.mostInformational else { return .tooLarge }
            informational.append(bytes)
            return .none
        }
        if !informational.isEmpty { head = CurlHead(bytes: bytes, informational: informational, framing: framing) }
        if let contradiction = Self.contradiction(in: head) { return .contradiction(contradiction) }
        isFinal = true
        status = head.status
        // Behind "HTTP/".
        isHTTP2 = bytes.count > 5 && bytes[5] == UInt8(ascii: "2")
        endsWithConnection = !isHTTP2 && !isCounted && !framing.isChunked && status != 204 && status != 304
        return .head(head)
    }

    /// Where two parties may take different bytes for the end of the body, one of them may take what follows for another answer (RFC 9112 §6.1,
    /// §6.3 and §11.2).
    private static func contradiction(in head: CurlHead) -> String? {
        guard head.framing.isTransferCoded else { return nil }
        if head.framing.length != nil { return "both Content-Length and Transfer-Encoding" }
        if head.bytes.starts(with: "HTTP/1.0".utf8) { return "a Transfer-Encoding in HTTP/1.0, which has none" }
        if head.framing.isChunkedWithin { return "a Transfer-Encoding in which chunked isn't the last coding, or is there twice" }
        return nil
    }

    /// Whether a line is the one that ends a head.
    private static func isEmpty(_ line: UnsafeRawBufferPointer) -> Bool {
        guard line.count <= 2 else { return false }
        for byte in line where byte != 13 && byte != 10 { return false }
        return true
    }

    /// Looks for what tells of the body.
    private mutating func check(_ line: UnsafeRawBufferPointer) -> Event {
        // What a trailer tells comes too late.
        guard !isFinal else { return .none }
        switch line[0] | 0x20 {
        case UInt8(ascii: "c"):
            if Self.begins(line, with: "content-length:") { return checkLength(line["content-length:".utf8.count...]) }
            if Self.begins(line, with: "content-encoding:") { framing.isContentCoded = true }
            if Self.begins(line, with: "connection:"), Self.lists("close", line["connection:".utf8.count...]) { framing.isClosing = true }
        case UInt8(ascii: "t"):
            if Self.begins(line, with: "transfer-encoding:") { noteCodings(line["transfer-encoding:".utf8.count...]) }
        default: break
        }
        return .none
    }

    /// Notes where `chunked` stands among the transfer codings, of all lines together.
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

    /// Looks at a `Content-Length`, here where the connection can still be given up: libcurl takes "4x" for 4.
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

// What header lines say, as far as the transport itself has to know.
extension CurlHeadReader {
    /// Whether a word, in lower case, is a member of a list, such as `close` among the options of a `Connection` field (RFC 9112 §9.6).
    static func lists(_ word: StaticString, _ value: Slice<UnsafeRawBufferPointer>) -> Bool {
        // By hand: most responses have the field, and arrays of options and words take as long as all that is looked for here.
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

    /// Whether a line begins with that name, which is in lower case and ends with its colon.
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

    /// The number that stands there between blanks; `nil` when it is none, or of more than 18 digits.
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

    /// What stands there instead of a number, for the error.
    static func text(_ part: Slice<UnsafeRawBufferPointer>) -> String {
        let words = part.split(whereSeparator: isBlank).map { String(decoding: $0.prefix(40), as: UTF8.self) }
        return String(words.joined(separator: " ").prefix(40))
    }
}

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

@_spi(Fuzzing) extension HTTPFields {
    /// What a response's head, status line first, is read as.
    public static func responseHead(_ bytes: [UInt8]) -> (status: Int, version: String?, fields: HTTPFields) {
        let head = CurlHead(bytes: bytes, informational: []).parsed()
        return (head.status, head.version, head.headers)
    }
}

public import Foundation
import WebServiceClient

/// An HTTP message inside a batch: a request, or a response.
struct BatchMessage: Sendable, Equatable {
    /// The request or status line, without its line end.
    var startLine: String
    var headers = HTTPFields()
    var body = Data()
    /// The `Content-ID` of the part, or else of the message itself, where some services write it. Without angle brackets.
    var id: String?

    /// Reads the content of a part of the type `application/http`. The message's lines may end with LF alone, and empty lines may precede
    /// it, as some services write them.
    ///
    /// - Throws: ``ODataBatchError`` if it isn't a message, or its body is shorter or longer than its own `Content-Length`.
    init(_ content: Data, id: String?) throws(ODataBatchError) {
        var rest = Self.withoutInterim(content[...])
        func line() -> Data.SubSequence? {
            guard !rest.isEmpty else { return nil }
            let end = rest.firstIndex(of: 0x0A)
            var line = rest[..<(end ?? rest.endIndex)]
            rest = end.map { rest[rest.index(after: $0)...] } ?? rest[rest.endIndex...]
            if line.last == 0x0D { line.removeLast() }
            return line
        }
        var start = line()
        while let blank = start, blank.isEmpty { start = line() }
        guard let start else { throw .malformed("the part is empty") }
        startLine = String(decoding: start, as: UTF8.self)
        var fields: [UInt8] = []
        while let field = line(), !field.isEmpty {
            fields += field
            fields.append(0x0A)
        }
        headers = HTTPFields(HTTPFields.Lines(fields).fields)
        self.id = Self.id(id) ?? Self.id(headers["Content-ID"])
        body = try Self.body(rest, length: headers[.contentLength])
    }

    /// Returns an id without the angle brackets that it has as a message identifier (RFC 2392), or `nil` for an empty one.
    private static func id(_ text: String?) -> String? {
        guard var text = text?.trimmingCharacters(in: .whitespaces) else { return nil }
        if text.hasPrefix("<"), text.hasSuffix(">") { text = String(text.dropFirst().dropLast()) }
        return text.isEmpty ? nil : text
    }

    /// Removes interim responses, such as `100 Continue`, in front of the final one.
    private static func withoutInterim(_ content: Data.SubSequence) -> Data.SubSequence {
        var content = content
        while true {
            let start = content.drop { $0 == 0x0D || $0 == 0x0A }
            guard start.starts(with: "HTTP/1.1 1".utf8) || start.starts(with: "HTTP/1.0 1".utf8),
                let end = endOfHead(start), start[end...].starts(with: "HTTP/".utf8)
            else { return content }
            content = start[end...]
        }
    }

    /// Returns the end of the first empty line, which may end with LF alone. One scan, since a message may have many interim responses.
    private static func endOfHead(_ content: Data.SubSequence) -> Data.Index? {
        var line = content
        while let end = line.firstIndex(of: 0x0A) {
            line = line[(end + 1)...]
            if line.first == 0x0A { return line.startIndex + 1 }
            if line.starts(with: [0x0D, 0x0A]) { return line.startIndex + 2 }
        }
        return nil
    }

    /// Compares a body with its stated length. Line ends after the body are left out.
    private static func body(_ bytes: Data.SubSequence, length: String?) throws(ODataBatchError) -> Data {
        guard let text = length?.trimmingCharacters(in: .whitespaces), let length = Int(text), length >= 0 else { return Data(bytes) }
        let spare = bytes.dropFirst(length)
        if bytes.count < length {
            // Some services count the line end that belongs to the boundary, or count CRLF and write LF.
            let missing = length - bytes.count
            if missing <= 2 || (!bytes.contains(0x0D) && missing == bytes.count(where: { $0 == 0x0A })) { return Data(bytes) }
            throw .malformed("its body has \(bytes.count) bytes, and its Content-Length is \(length)")
        }
        guard spare.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) else {
            // Some services count characters instead of bytes.
            var content = bytes
            while content.last == 0x0D || content.last == 0x0A { content.removeLast() }
            let text = String(decoding: content, as: UTF8.self)
            if length == text.utf16.count || length == text.unicodeScalars.count { return Data(content) }
            throw .malformed("its body has \(bytes.count) bytes, and its Content-Length is only \(length)")
        }
        return Data(bytes.prefix(length))
    }

    /// The status of a response: `HTTP/1.1 200 OK`, also without a reason.
    ///
    /// - Throws: ``ODataBatchError`` if the line isn't a status line.
    func status() throws(ODataBatchError) -> Int {
        let words = startLine.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count >= 2, words[0].uppercased().hasPrefix("HTTP/"), words[1].utf8.count == 3, let status = Int(words[1]),
            (200...599).contains(status)
        else { throw .malformed("it begins with \(Self.shown(startLine)) instead of a status line") }
        return status
    }

    /// Scalars, because a single character can be of any length.
    static func shown(_ text: String) -> String { "'" + VisibleText.of(String(text.unicodeScalars.prefix(40))) + "'" }
}

/// A response inside a batch's answer.
struct BatchReply: Sendable, Equatable {
    /// The id of the answered request; `nil` if the service doesn't send it.
    var id: String?
    var status: Int
    var headers = HTTPFields()
    var body = Data()
    /// The reason why the response can't be read although it arrived.
    var fault: String?

    init(id: String?, status: Int, headers: HTTPFields = HTTPFields(), body: Data = Data()) {
        (self.id, self.status, self.headers, self.body) = (id, status, headers, body)
    }

    /// Creates a response that can't be read.
    init(id: String?, fault: String) {
        self.init(id: id, status: 0)
        self.fault = fault
    }

    /// Whether the request failed, according to its status. A redirect doesn't perform the request either.
    var isFailure: Bool { status >= 300 && status != 304 }

    /// Whether the response ends an answer that continues asynchronously (Protocol 4.01, section 11.7.4).
    var isAccepted: Bool { status == 202 && headers[.location] != nil }
}

/// One step of a batch's answer.
enum BatchAnswerStep: Sendable, Equatable {
    /// The response to a request, or to a whole group in multipart.
    case reply(BatchReply)
    /// The responses to the requests of a group, and the reason if their list can't be read to its end.
    case group([BatchReply], fault: String?)
}

/// Reads the answer to a batch while it arrives.
protocol BatchAnswerReading {
    /// Adds a piece of up to 64 KiB, after ``next()`` has returned `nil`.
    mutating func feed(_ piece: Data) throws
    /// Ends the input. Afterwards ``next()`` returns what remains.
    mutating func finish()
    /// Returns the next step; `nil` if more input is needed, or at the end.
    ///
    /// - Throws: an error after which nothing can be read.
    mutating func next() throws -> BatchAnswerStep?
    /// The link to the rest of the answer, at its end.
    func nextLink() throws -> String?
}

@_spi(Fuzzing) extension ODataBatchAnswer {
    /// Returns the verdicts on four requests, two of them in a group, as text; for the fuzzer.
    ///
    /// - Parameter boundary: the boundary of a multipart answer; `nil` for JSON.
    public static func verdicts(in data: Data, boundary: String?, inPiecesOf size: Int) -> [String] {
        var reader: any BatchAnswerReading =
            if let boundary { MultipartBatchReader(boundary: boundary, limit: 1 << 16) } else { JSONBatchReader(limit: 1 << 16) }
        var matcher = BatchMatcher(numbers: 1...4, groups: [2...3], isJSON: boundary == nil, stops: false)
        var found: [Int: String] = [:]
        func read() throws {
            while let step = try reader.next() {
                for (number, verdict) in matcher.take(step) { found[number] = "\(verdict)" }
            }
        }
        var cut: String?
        do {
            var rest = data[...]
            while !rest.isEmpty {
                try reader.feed(Data(rest.prefix(size)))
                rest = rest.dropFirst(size)
                try read()
            }
            reader.finish()
            try read()
        } catch {
            cut = "cut"
        }
        for (number, verdict) in matcher.end(cut: cut) { found[number] = "\(verdict)" }
        return (1...4).map { found[$0] ?? "none" }
    }
}

import Foundation

extension MultipartForm {
    /// Creates the request body. Files are streamed. Its length is known if that of each part is, and it can be sent again, with the same
    /// boundary, if each part can. Its `Content-Type` overrides the caller's, because of the boundary.
    ///
    /// A random boundary is replaced by a new one if a part in memory contains it. Other parts are searched only for a custom boundary:
    /// files now, completely and on the calling thread, streams while they are sent. A file that contains 128 random bits is too unlikely
    /// to search for.
    ///
    /// **Names.** The names of fields and files are written as browsers write them (the HTML standard, RFC 7578 §2 and §4.2): in UTF-8,
    /// with `%22` for a quotation mark, `%0D` and `%0A` for line ends, and no other escapes. There are two differences, both so that
    /// servers read no other text than the program's. Line ends in names and texts aren't changed to CRLF. A backslash is `%5C`, because
    /// servers disagree on it: undici keeps it, Python's parser takes some for escapes, Werkzeug drops it, and both read past the closing
    /// quotation mark if a name ends with it. All of them read `%5C` as these three characters.
    ///
    /// - Throws: ``RequestBodyError`` if a file can't be read, a custom boundary is invalid or occurs in a part, or a part's name, media
    ///   type, identifier or field is invalid; `CancellationError` if the task is cancelled while files are searched.
    public func body() throws -> RequestBody {
        var generator = SystemRandomNumberGenerator()
        return try body(using: &generator)
    }

    /// Creates the request body like ``body()``, with a custom random number generator.
    ///
    /// - Throws: The errors of ``body()``.
    public func body(using generator: inout some RandomNumberGenerator) throws -> RequestBody {
        let boundary = try boundary.map(checked) ?? drawn(from: &generator)
        var pieces = MultipartPieces(delimiter: self.boundary == nil ? nil : "--" + boundary)
        for part in parts {
            pieces.append("--\(boundary)\r\n\(try MultipartHead(part, in: subtype).text)\r\n")
            switch part.content {
            case .data(let data): pieces.append(.data(data))
            case .file(let url): pieces.append(.file(url, length: try RequestBody.length(of: url)))
            case .body(let body): try pieces.append(body, of: part)
            }
            pieces.append("\r\n")
        }
        pieces.append("--\(boundary)--\r\n")
        let type = MediaType(
            checkedType: "multipart", subtype: subtype.name,
            parameters: [MediaType.Parameter(name: "boundary", value: boundary)] + (try rootParameters()))
        var body = pieces.body(contentType: type.description)
        body.contentTypeIsBinding = true
        return body
    }

    /// The parameters that lead to the root of related parts (RFC 2387 §3).
    private func rootParameters() throws -> [MediaType.Parameter] {
        guard case .related(let start) = subtype else { return [] }
        let id = try start.map { try MultipartHead.identifier($0, of: "start") }
        let root = try parts.first { part in
            guard let id else { return true }
            return try part.contentID.map { try MultipartHead.identifier($0, of: "part") } == id
        }
        guard let root else {
            throw RequestBodyError(
                message: id == nil
                    ? "A multipart/related body has no part: add the root."
                    : "No part has the contentID that start names: give it to the root.")
        }
        let type = root.contentType.flatMap { MediaType($0)?.essence } ?? "text/plain"
        return [MediaType.Parameter(name: "type", value: type)] + (id.map { [MediaType.Parameter(name: "start", value: $0)] } ?? [])
    }
}

/// The pieces of a multipart body: a run of segments, or such runs and streams.
private struct MultipartPieces {
    private enum Piece: Sendable {
        case segments([RequestBody.Segment])
        case stream(RequestBody, name: String)
    }

    /// The delimiter to search streams for.
    private let delimiter: [UInt8]?
    private var pieces: [Piece] = []
    private var segments: [RequestBody.Segment] = []
    private var text = Data()

    init(delimiter: String?) {
        self.delimiter = delimiter.map { Array($0.utf8) }
    }

    mutating func append(_ text: String) {
        self.text.append(contentsOf: text.utf8)
    }

    mutating func append(_ segment: RequestBody.Segment) {
        if case .data(let data) = segment {
            text.append(data)
        } else {
            closeText()
            segments.append(segment)
        }
    }

    mutating func append(_ body: RequestBody, of part: MultipartForm.Part) throws {
        guard (body.length ?? 0) >= 0 else {
            throw RequestBodyError(
                message: "The length of the part “\(MultipartForm.excerpt(part.name))” is negative: give the number of bytes, or nil.")
        }
        switch body.source {
        case .segments(let segments):
            for segment in segments { append(segment) }
        case .stream:
            closeSegments()
            pieces.append(.stream(body, name: MultipartForm.excerpt(part.name)))
        }
    }

    private mutating func closeText() {
        guard !text.isEmpty else { return }
        segments.append(.data(text))
        text = Data()
    }

    private mutating func closeSegments() {
        closeText()
        guard !segments.isEmpty else { return }
        pieces.append(.segments(segments))
        segments = []
    }

    func body(contentType: String) -> RequestBody {
        var copy = self
        copy.closeSegments()
        let pieces = copy.pieces
        if pieces.count == 1, case .segments(let segments) = pieces[0] {
            return RequestBody(segments: segments, contentType: contentType)
        }
        let bodies: [(body: RequestBody, name: String?)] = pieces.map { piece in
            switch piece {
            case .segments(let segments): (RequestBody(segments: segments), nil)
            case .stream(let body, let name): (body, name)
            }
        }
        let length = bodies.reduce(0 as Int64?) { total, next in
            guard let total, let more = next.body.length else { return nil }
            let (sum, overflows) = total.addingReportingOverflow(more)
            return overflows ? nil : sum
        }
        let delimiter = delimiter
        return RequestBody(length: length, isReplayable: bodies.allSatisfy(\.body.isReplayable), contentType: contentType) {
            let reader = MultipartReader(bodies, delimiter: delimiter)
            return AsyncThrowingStream { try await reader.next() }
        }
    }
}

/// Reads the pieces of a multipart body one after the other.
///
/// `@unchecked Sendable`: only one task at a time uses it, because a body has one reader, which waits for each piece.
private final class MultipartReader: @unchecked Sendable {
    private var bodies: ArraySlice<(body: RequestBody, name: String?)>
    private let delimiter: [UInt8]?
    private var current: PieceReader<AsyncThrowingStream<Data, any Error>>?
    private var count: Int64 = 0
    /// The last bytes of the part, which may begin the delimiter.
    private var tail = Data()

    init(_ bodies: [(body: RequestBody, name: String?)], delimiter: [UInt8]?) {
        self.bodies = bodies[...]
        self.delimiter = delimiter
    }

    func next() async throws -> Data? {
        while let (body, name) = bodies.first {
            let reader = current ?? PieceReader(body.chunks())
            current = reader
            guard let piece = try await reader.next() else {
                if let name, let length = body.length, count < length {
                    throw RequestBodyError(
                        message:
                            "The part “\(name)” ended after \(count) of the \(length) bytes declared for it: declare its exact length, or "
                            + "none.")
                }
                bodies.removeFirst()
                (current, count, tail) = (nil, 0, Data())
                continue
            }
            if let name { try check(piece, of: name, length: body.length) }
            if !piece.isEmpty { return piece }
        }
        return nil
    }

    private func check(_ piece: Data, of name: String, length: Int64?) throws {
        count += Int64(piece.count)
        if let length, count > length {
            throw RequestBodyError(
                message: "The part “\(name)” is longer than the \(length) bytes declared for it: declare its exact length, or none.")
        }
        guard let delimiter else { return }
        tail += piece
        guard !MultipartForm.contains(delimiter, in: tail) else { throw MultipartForm.containsBoundary(name, delimiter) }
        tail = Data(tail.suffix(delimiter.count - 1))
    }
}

/// The header lines of a part, each with its line ending.
private struct MultipartHead {
    private(set) var text = ""

    init(_ part: MultipartForm.Part, in subtype: MultipartForm.Subtype) throws {
        let name = MultipartForm.excerpt(part.name)
        let hasDisposition = part.headers.contains("Content-Disposition")
        if subtype == .formData || (!hasDisposition && (!part.name.isEmpty || part.fileName != nil)) {
            text = "Content-Disposition: \(subtype == .formData ? "form-data" : "attachment")"
            if subtype == .formData || !part.name.isEmpty { text += "; name=\"\(try Self.escaped(part.name, of: name))\"" }
            if let fileName = part.fileName { text += "; filename=\"\(try Self.escaped(fileName, of: name))\"" }
            text += "\r\n"
        }
        if let contentType = part.contentType {
            guard MediaType(contentType) != nil, contentType.utf8.allSatisfy({ !MediaType.isControl($0) }) else {
                throw RequestBodyError(
                    message: "The part “\(name)” has “\(MultipartForm.excerpt(contentType))” as its media type: write type/subtype.")
            }
            text += "Content-Type: \(contentType)\r\n"
        }
        if let contentID = part.contentID { text += "Content-ID: \(try Self.identifier(contentID, of: "part “\(name)”"))\r\n" }
        for field in part.headers { text += try Self.line(field, of: name, in: subtype) }
    }

    private static func line(_ field: HTTPFields.Field, of name: String, in subtype: MultipartForm.Subtype) throws -> String {
        guard field.name.isValid, !HTTPFields.Field.hasControls(field.value) else {
            throw RequestBodyError(
                message: "A field of the part “\(name)” is invalid: its name must be a token, and its value without line ends.")
        }
        let own: String? =
            switch field.name {
            case .contentType: "contentType"
            case "Content-ID": "contentID"
            case "Content-Disposition" where subtype == .formData: "name and fileName"
            default: nil
            }
        if let own {
            throw RequestBodyError(message: "The part “\(name)” has \(field.name) among its fields: set \(own) instead.")
        }
        return "\(field.name.rawName): \(field.value)\r\n"
    }

    /// An identifier in angle brackets.
    static func identifier(_ text: String, of owner: String) throws -> String {
        let inner = text.hasPrefix("<") && text.hasSuffix(">") ? String(text.dropFirst().dropLast()) : text
        guard !inner.isEmpty, inner.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">") })
        else {
            throw RequestBodyError(
                message: "The contentID of the \(owner) is invalid: use printable ASCII characters without blanks and angle brackets.")
        }
        return "<\(inner)>"
    }

    /// Encodes a name for use inside quotes; see ``MultipartForm/body()``.
    private static func escaped(_ name: String, of part: String) throws -> String {
        var text = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": text.append(contentsOf: "%22".unicodeScalars)
            case "\r": text.append(contentsOf: "%0D".unicodeScalars)
            case "\n": text.append(contentsOf: "%0A".unicodeScalars)
            case "\\": text.append(contentsOf: "%5C".unicodeScalars)
            case "\0": throw RequestBodyError(message: "A name of the part “\(part)” contains a NUL: remove it.")
            default: text.append(scalar)
            }
        }
        return String(text)
    }
}

// Boundaries.
extension MultipartForm {
    fileprivate static func excerpt(_ text: String) -> String {
        text.prefix(60).split { $0.isNewline || $0 == "\0" }.joined(separator: " ")
    }

    fileprivate static func containsBoundary(_ name: String, _ delimiter: [UInt8]) -> RequestBodyError {
        let boundary = String(decoding: delimiter.dropFirst(2), as: UTF8.self)
        return RequestBodyError(message: "The part “\(name)” contains the boundary “\(boundary)”: choose another, or use a random one.")
    }

    /// Generates boundaries until no part in memory contains the boundary.
    private func drawn(from generator: inout some RandomNumberGenerator) throws -> String {
        for _ in 0..<16 {
            var boundary = "form-"
            for _ in 0..<2 {
                let word = String(UInt64.random(in: .min ... .max, using: &generator), radix: 16)
                boundary += String(repeating: "0", count: 16 - word.count) + word
            }
            if try part(containing: boundary, searchesFiles: false) == nil { return boundary }
        }
        throw RequestBodyError(message: "The form's parts contain all of sixteen random boundaries: the generator isn't random.")
    }

    private func checked(_ boundary: String) throws -> String {
        guard (1...70).contains(boundary.utf8.count), boundary.utf8.allSatisfy(Self.isBoundaryByte), boundary.last != " " else {
            throw RequestBodyError(
                message: "“\(Self.excerpt(boundary))” isn't a valid boundary: 1 to 70 letters, digits, inner spaces or '()+_,-./:=? are "
                    + "allowed (RFC 2046 §5.1.1).")
        }
        if let part = try part(containing: boundary, searchesFiles: true) {
            throw Self.containsBoundary(Self.excerpt(part.name), Array("--\(boundary)".utf8))
        }
        return boundary
    }

    private static func isBoundaryByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "'()+_,-./:=? ".utf8.contains(byte)
        }
    }

    /// Returns the first part that contains the delimiter of a boundary.
    private func part(containing boundary: String, searchesFiles: Bool) throws -> Part? {
        let delimiter = Array("--\(boundary)".utf8)
        return try parts.first { part in
            switch part.content {
            case .data(let data): Self.contains(delimiter, in: data)
            case .file(let url): try searchesFiles && Self.contains(delimiter, inFile: url)
            case .body(let body): try Self.contains(delimiter, in: body, searchesFiles: searchesFiles)
            }
        }
    }

    private static func contains(_ pattern: [UInt8], in body: RequestBody, searchesFiles: Bool) throws -> Bool {
        if let data = body.data { return contains(pattern, in: data) }
        guard case .segments(let segments) = body.source else { return false }
        return try segments.contains { segment in
            switch segment {
            case .data(let data): contains(pattern, in: data)
            case .file(let url, _): try searchesFiles && contains(pattern, inFile: url)
            }
        }
    }

    private static func contains(_ pattern: [UInt8], inFile url: URL) throws -> Bool {
        _ = try RequestBody.length(of: url)
        do {
            let file = try RequestBody.open(url)
            defer { try? file.close() }
            // The end of each chunk is prepended to the next, because the pattern may span both.
            var piece = Data()
            while let next = try file.read(upToCount: 256 * 1024), !next.isEmpty {
                try Task.checkCancellation()
                piece = piece.suffix(pattern.count - 1) + next
                if contains(pattern, in: piece) { return true }
            }
            return false
        } catch is CancellationError {
            throw CancellationError()
        } catch let error as RequestBodyError {
            throw error
        } catch {
            throw RequestBodyError(
                message: "The file \(url.lastPathComponent) can't be read as a body: check that it exists and is readable.")
        }
    }

    /// Horspool's algorithm, which skips up to the pattern's length at a time.
    fileprivate static func contains(_ pattern: [UInt8], in data: Data) -> Bool {
        let count = pattern.count
        guard count > 0, data.count >= count else { return false }
        var shifts = [Int](repeating: count, count: 256)
        for (index, byte) in pattern.dropLast().enumerated() { shifts[Int(byte)] = count - 1 - index }
        return data.withUnsafeBytes { bytes in
            var start = 0
            while start <= bytes.count - count {
                var index = count - 1
                while bytes[start + index] == pattern[index] {
                    if index == 0 { return true }
                    index -= 1
                }
                start += shifts[Int(bytes[start + count - 1])]
            }
            return false
        }
    }
}

import Foundation

extension MultipartForm {
    /// The form as a body: its length is known, files are streamed, and it can be sent again, with the same boundary. Its
    /// `Content-Type` wins over the caller's, because of the boundary.
    ///
    /// A random boundary is drawn again when a part in memory contains it. Files are searched only for a boundary of your choice, and read
    /// from end to end for that, on the calling thread: that one of them contains 128 random bits isn't to be expected.
    ///
    /// - Throws: ``RequestBodyError`` when a file can't be read, a boundary of your choice isn't one or a part contains it, or a part's name
    ///   or media type can't stand in a header; `CancellationError` when the task is cancelled while files are searched.
    public func body() throws -> RequestBody {
        var generator = SystemRandomNumberGenerator()
        return try body(using: &generator)
    }

    /// The same, with random bits from a generator of your choice.
    public func body(using generator: inout some RandomNumberGenerator) throws -> RequestBody {
        let boundary = try boundary.map(checked) ?? drawn(from: &generator)
        var segments: [RequestBody.Segment] = []
        var text = Data()
        for part in parts {
            text.append(contentsOf: "--\(boundary)\r\n\(try Self.head(of: part))\r\n".utf8)
            switch part.content {
            case .data(let data):
                text.append(data)
            case .file(let url):
                segments.append(.data(text))
                segments.append(.file(url, length: try RequestBody.length(of: url)))
                text = Data()
            }
            text.append(contentsOf: "\r\n".utf8)
        }
        text.append(contentsOf: "--\(boundary)--\r\n".utf8)
        segments.append(.data(text))
        let parameters = [MediaType.Parameter(name: "boundary", value: boundary)]
        let type = MediaType(checkedType: "multipart", subtype: "form-data", parameters: parameters)
        var body = RequestBody(segments: segments, contentType: type.description)
        body.contentTypeIsBinding = true
        return body
    }

    /// The header lines of a part, each with its line end.
    private static func head(of part: Part) throws -> String {
        var head = "Content-Disposition: form-data; name=\"\(try escaped(part.name, of: part))\""
        if let fileName = part.fileName { head += "; filename=\"\(try escaped(fileName, of: part))\"" }
        head += "\r\n"
        if let contentType = part.contentType {
            guard MediaType(contentType) != nil, contentType.utf8.allSatisfy({ !MediaType.isControl($0) }) else {
                throw RequestBodyError(
                    message: "The part “\(excerpt(part.name))” has “\(excerpt(contentType))” as its media type: write type/subtype.")
            }
            head += "Content-Type: \(contentType)\r\n"
        }
        return head
    }

    /// A name inside its quotes, in UTF-8: quotes and line ends percent-encoded (RFC 7578 §2, and as the HTML standard has it), and
    /// backslashes too, since parsers disagree on whether one escapes what follows (RFC 2183 §2) or is itself.
    private static func escaped(_ name: String, of part: Part) throws -> String {
        var text = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": text.append(contentsOf: "%22".unicodeScalars)
            case "\r": text.append(contentsOf: "%0D".unicodeScalars)
            case "\n": text.append(contentsOf: "%0A".unicodeScalars)
            case "\\": text.append(contentsOf: "%5C".unicodeScalars)
            case "\0": throw RequestBodyError(message: "A name of the part “\(excerpt(part.name))” has a NUL in it: take it out.")
            default: text.append(scalar)
            }
        }
        return String(text)
    }

    private static func excerpt(_ text: String) -> String {
        text.prefix(60).split { $0.isNewline || $0 == "\0" }.joined(separator: " ")
    }
}

extension MultipartForm {
    /// Draws boundaries until none of the parts in memory contains one.
    private func drawn(from generator: inout some RandomNumberGenerator) throws -> String {
        for _ in 0..<16 {
            var boundary = "form-"
            for _ in 0..<2 {
                let word = String(UInt64.random(in: .min ... .max, using: &generator), radix: 16)
                boundary += String(repeating: "0", count: 16 - word.count) + word
            }
            if try part(containing: boundary, searchesFiles: false) == nil { return boundary }
        }
        throw RequestBodyError(message: "Sixteen random boundaries were all contained in the form's parts: the generator isn't random.")
    }

    private func checked(_ boundary: String) throws -> String {
        guard (1...70).contains(boundary.utf8.count), boundary.utf8.allSatisfy(Self.isBoundaryByte), boundary.last != " " else {
            throw RequestBodyError(
                message: "“\(Self.excerpt(boundary))” is no boundary: 1 to 70 letters, digits, blanks (not at the end) or '()+_,-./:=? are "
                    + "allowed (RFC 2046 §5.1.1).")
        }
        if let part = try part(containing: boundary, searchesFiles: true) {
            throw RequestBodyError(
                message:
                    "The part “\(Self.excerpt(part.name))” contains the boundary “\(boundary)”: choose another, or leave it to be random.")
        }
        return boundary
    }

    private static func isBoundaryByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "'()+_,-./:=? ".utf8.contains(byte)
        }
    }

    /// The first part that contains the delimiter of a boundary.
    private func part(containing boundary: String, searchesFiles: Bool) throws -> Part? {
        let delimiter = Array("--\(boundary)".utf8)
        return try parts.first { part in
            switch part.content {
            case .data(let data): Self.contains(delimiter, in: data)
            case .file(let url): try searchesFiles && Self.contains(delimiter, inFile: url)
            }
        }
    }

    private static func contains(_ pattern: [UInt8], inFile url: URL) throws -> Bool {
        _ = try RequestBody.length(of: url)
        do {
            let file = try RequestBody.open(url)
            defer { try? file.close() }
            // The end of each piece goes with the next: the pattern may stand across.
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
            throw RequestBodyError(message: "The file \(url.lastPathComponent) can't be read as a body: is it there and readable?")
        }
    }

    /// Horspool's search: it looks at one byte in as many as the pattern is long.
    private static func contains(_ pattern: [UInt8], in data: Data) -> Bool {
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

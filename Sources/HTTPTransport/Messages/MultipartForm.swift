public import Foundation

/// A `multipart/form-data` form (RFC 7578): fields, bytes and files, with repeated names if needed.
///
///     MultipartForm([
///         .text("title", "Two photographs"),
///         .file("photo", URL(filePath: "/tmp/1.jpg")),
///         .file("photo", URL(filePath: "/tmp/2.jpg")),
///         .data("thumbnail", bytes, fileName: "small.png"),
///     ])
///
/// A form is a value: nothing is read before its body is made. Files are read while they are sent, again for each attempt.
public struct MultipartForm: Sendable {
    /// One part.
    public struct Part: Sendable {
        /// The source of a part's content.
        public enum Content: Sendable {
            /// Bytes in memory.
            case data(Data)
            /// A file, read while it is sent.
            case file(URL)
        }

        /// The field's name.
        public var name: String
        /// The file name sent to the server; `nil` for a field that isn't a file.
        public var fileName: String?
        /// The media type of the content. If `nil`, none is sent, which means `text/plain` (RFC 7578 §4.4).
        public var contentType: String?
        /// The content.
        public var content: Content

        /// Creates a part with exactly these values.
        public init(name: String, fileName: String? = nil, contentType: String? = nil, content: Content) {
            self.name = name
            self.fileName = fileName
            self.contentType = contentType
            self.content = content
        }

        /// Creates a text field in UTF-8 without a media type, as browsers send it.
        public static func text(_ name: String, _ value: String) -> Part {
            Part(name: name, content: .data(Data(value.utf8)))
        }

        /// Creates a part of bytes, sent as a file if there is a file name.
        ///
        /// - Parameter contentType: the media type; by default, it follows from the extension of the file name.
        public static func data(_ name: String, _ data: Data, fileName: String? = nil, contentType: String? = nil) -> Part {
            Part(name: name, fileName: fileName, contentType: contentType ?? guess(fileName), content: .data(data))
        }

        /// Creates a part that is a file.
        ///
        /// - Parameters:
        ///   - fileName: the name sent to the server; by default the file's name.
        ///   - contentType: the media type; by default, it follows from the extension of the file's name.
        public static func file(_ name: String, _ file: URL, fileName: String? = nil, contentType: String? = nil) -> Part {
            Part(
                name: name, fileName: fileName ?? file.lastPathComponent, contentType: contentType ?? guess(file.lastPathComponent),
                content: .file(file))
        }

        private static func guess(_ fileName: String?) -> String {
            guard let fileName, let dot = fileName.lastIndex(of: ".") else { return "application/octet-stream" }
            return MultipartForm.mediaTypes[fileName[fileName.index(after: dot)...].lowercased()] ?? "application/octet-stream"
        }
    }

    /// The parts, in sending order.
    public var parts: [Part]

    /// A custom boundary; `nil` for a random one of 128 bits.
    public var boundary: String?

    /// Creates a form from parts.
    ///
    /// - Parameter boundary: a custom boundary, 1 to 70 characters of RFC 2046 §5.1.1, checked when the body is made. By default it is
    ///   random.
    public init(_ parts: [Part] = [], boundary: String? = nil) {
        self.parts = parts
        self.boundary = boundary
    }

    /// Adds a part.
    public mutating func append(_ part: Part) {
        parts.append(part)
    }

    /// Appends files under one name, one part per file (RFC 7578 §4.3).
    public mutating func append(files: [URL], named name: String) {
        parts += files.map { .file(name, $0) }
    }

    /// Common media types by file extension.
    private static let mediaTypes: [String: String] = [
        "avi": "video/x-msvideo", "avif": "image/avif", "bmp": "image/bmp", "bz2": "application/x-bzip2", "css": "text/css",
        "csv": "text/csv", "doc": "application/msword", "eml": "message/rfc822", "epub": "application/epub+zip", "flac": "audio/flac",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "gif": "image/gif", "gz": "application/gzip",
        "heic": "image/heic", "htm": "text/html", "html": "text/html", "ico": "image/vnd.microsoft.icon", "ics": "text/calendar",
        "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript", "json": "application/json", "m4a": "audio/mp4",
        "m4v": "video/x-m4v", "md": "text/markdown", "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4",
        "mpeg": "video/mpeg", "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg", "pdf": "application/pdf",
        "plist": "application/x-plist", "png": "image/png",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "rtf": "application/rtf", "svg": "image/svg+xml", "tar": "application/x-tar", "tif": "image/tiff", "tiff": "image/tiff",
        "txt": "text/plain", "vcf": "text/vcard", "wasm": "application/wasm", "wav": "audio/wav", "webm": "video/webm",
        "webp": "image/webp", "xls": "application/vnd.ms-excel", "xml": "application/xml", "yaml": "application/yaml",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "yml": "application/yaml", "zip": "application/zip",
    ]
}

extension MultipartForm: CustomStringConvertible, CustomReflectable {
    /// The names of the parts, never their content, which may hold secrets.
    public var description: String { "a form of \(parts.count) parts: \(parts.map(\.name).joined(separator: ", "))" }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["parts": parts.map(\.name)]) }
}

extension MultipartForm.Part: CustomStringConvertible, CustomReflectable {
    /// The part's name, never its content, which may hold secrets.
    public var description: String { "the part \(name)" }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension MultipartForm {
    /// Creates the request body. Its length is known, files are streamed, and it can be sent again with the same boundary. Its
    /// `Content-Type` overrides the caller's, because of the boundary.
    ///
    /// A random boundary is replaced by a new one if a part in memory contains it. Files are searched only for a custom boundary, and are
    /// read completely for that, on the calling thread. A file that contains 128 random bits is too unlikely to search for.
    ///
    /// - Throws: ``RequestBodyError`` if a file can't be read, a custom boundary is invalid or occurs in a part, or a part's name or media
    ///   type isn't valid in a header; `CancellationError` if the task is cancelled while files are searched.
    public func body() throws -> RequestBody {
        var generator = SystemRandomNumberGenerator()
        return try body(using: &generator)
    }

    /// Creates the request body like ``body()``, with a custom random number generator.
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

    /// Returns the header lines of a part, each with its line ending.
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

    /// Encodes a name for use inside quotes, in UTF-8. Quotes and line endings are percent-encoded (RFC 7578 §2, as in the HTML standard),
    /// and so are backslashes, because parsers disagree on whether a backslash is an escape (RFC 2183 §2).
    private static func escaped(_ name: String, of part: Part) throws -> String {
        var text = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": text.append(contentsOf: "%22".unicodeScalars)
            case "\r": text.append(contentsOf: "%0D".unicodeScalars)
            case "\n": text.append(contentsOf: "%0A".unicodeScalars)
            case "\\": text.append(contentsOf: "%5C".unicodeScalars)
            case "\0": throw RequestBodyError(message: "A name of the part “\(excerpt(part.name))” contains a NUL: remove it.")
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
            throw RequestBodyError(
                message:
                    "The part “\(Self.excerpt(part.name))” contains the boundary “\(boundary)”: choose another, or use a random one.")
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
            throw RequestBodyError(message: "The file \(url.lastPathComponent) can't be read as a body: is it there and readable?")
        }
    }

    /// Horspool's algorithm, which skips up to the pattern's length at a time.
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

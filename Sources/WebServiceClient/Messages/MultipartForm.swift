public import Foundation

/// A form of parts, `multipart/form-data` (RFC 7578): fields, bytes and files, several of one name if need be.
///
///     MultipartForm([
///         .text("title", "Two photographs"),
///         .file("photo", URL(filePath: "/tmp/1.jpg")),
///         .file("photo", URL(filePath: "/tmp/2.jpg")),
///         .data("thumbnail", bytes, fileName: "small.png"),
///     ])
///
/// A form is a value: nothing is read before its body is made, and files are read while they are sent, again for every sending.
public struct MultipartForm: Sendable {
    /// One part.
    public struct Part: Sendable {
        /// Where the content comes from.
        public enum Content: Sendable {
            /// Bytes in memory.
            case data(Data)
            /// A file, read while it is sent.
            case file(URL)
        }

        /// The field's name.
        public var name: String
        /// The file's name as the server is told it; `nil` for a field that is no file.
        public var fileName: String?
        /// The media type of the content; `nil` sends none, which means `text/plain` (RFC 7578 §4.4).
        public var contentType: String?
        /// The content.
        public var content: Content

        /// A part as given, nothing guessed.
        public init(name: String, fileName: String? = nil, contentType: String? = nil, content: Content) {
            self.name = name
            self.fileName = fileName
            self.contentType = contentType
            self.content = content
        }

        /// A text field in UTF-8 without a media type, as browsers send it.
        public static func text(_ name: String, _ value: String) -> Part {
            Part(name: name, content: .data(Data(value.utf8)))
        }

        /// Bytes, as a file when there is a file name.
        ///
        /// - Parameter contentType: the media type; by default guessed from the extension of the file name.
        public static func data(_ name: String, _ data: Data, fileName: String? = nil, contentType: String? = nil) -> Part {
            Part(name: name, fileName: fileName, contentType: contentType ?? guess(fileName), content: .data(data))
        }

        /// A file.
        ///
        /// - Parameters:
        ///   - fileName: what the server is told; by default the file's own name.
        ///   - contentType: the media type; by default guessed from the extension of the file's own name.
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

    /// The parts, in the order in which they are sent.
    public var parts: [Part]

    /// The boundary of your choice; `nil` for a random one of 128 bits.
    public var boundary: String?

    /// A form of parts.
    ///
    /// - Parameter boundary: your own, 1 to 70 characters of RFC 2046 §5.1.1; checked when the body is made. By default it is random.
    public init(_ parts: [Part] = [], boundary: String? = nil) {
        self.parts = parts
        self.boundary = boundary
    }

    /// Adds a part.
    public mutating func append(_ part: Part) {
        parts.append(part)
    }

    /// Adds files under one name, a part for each (RFC 7578 §4.3).
    public mutating func append(files: [URL], named name: String) {
        parts += files.map { .file(name, $0) }
    }

    /// Media types by file extension: those that forms usually carry.
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
    /// The names of the parts, never their content: it may hold secrets.
    public var description: String { "a form of \(parts.count) parts: \(parts.map(\.name).joined(separator: ", "))" }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["parts": parts.map(\.name)]) }
}

extension MultipartForm.Part: CustomStringConvertible, CustomReflectable {
    /// The part's name, never its content: it may hold secrets.
    public var description: String { "the part \(name)" }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

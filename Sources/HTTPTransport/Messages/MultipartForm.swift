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
///
/// ``subtype`` makes it another multipart body, such as `multipart/related`, whose parts need no names:
///
///     MultipartForm([try .value("", Photo(title: "Alps")), .part(.file(photo), contentType: "image/jpeg")], as: .related())
public struct MultipartForm: Sendable {
    /// One part.
    public struct Part: Sendable {
        /// The source of a part's content.
        public enum Content: Sendable {
            /// Bytes in memory.
            case data(Data)
            /// A file, read while it is sent.
            case file(URL)
            /// A body, such as a stream whose length may be unknown.
            case body(RequestBody)
        }

        /// The field's name. In a body that isn't a form, an empty name isn't sent.
        public var name: String
        /// The file name sent to the server; `nil` for a field that isn't a file.
        public var fileName: String?
        /// The media type of the content. If `nil`, none is sent, which means `text/plain` (RFC 7578 §4.4).
        public var contentType: String?
        /// The content.
        public var content: Content
        /// The part's identifier (`Content-ID`, RFC 2392), with or without angle brackets, to which other parts and
        /// ``Subtype/related(start:)`` refer.
        public var contentID: String?
        /// Additional fields of the part. Servers ignore most of them in forms (RFC 7578 §4.8).
        public var headers: HTTPFields = [:]

        /// Creates a part with exactly these values.
        public init(
            name: String, fileName: String? = nil, contentType: String? = nil, content: Content, contentID: String? = nil,
            headers: HTTPFields = [:]
        ) {
            self.name = name
            self.fileName = fileName
            self.contentType = contentType
            self.content = content
            self.contentID = contentID
            self.headers = headers
        }

        /// Creates a text field in UTF-8 without a media type, as browsers send it.
        public static func text(_ name: String, _ value: String) -> Part {
            Part(name: name, content: .data(Data(value.utf8)))
        }

        /// Creates a part of bytes, sent as a file if there is a file name.
        ///
        /// - Parameter contentType: The media type; by default, it follows from the extension of the file name.
        public static func data(_ name: String, _ data: Data, fileName: String? = nil, contentType: String? = nil) -> Part {
            Part(name: name, fileName: fileName, contentType: contentType ?? guess(fileName), content: .data(data))
        }

        /// Creates a part that is a file.
        ///
        /// - Parameters:
        ///   - fileName: The name sent to the server; by default the file's name.
        ///   - contentType: The media type; by default, it follows from the extension of the file's name.
        public static func file(_ name: String, _ file: URL, fileName: String? = nil, contentType: String? = nil) -> Part {
            Part(
                name: name, fileName: fileName ?? file.lastPathComponent, contentType: contentType ?? guess(file.lastPathComponent),
                content: .file(file))
        }

        /// Creates a part that is generated while it is sent. If the body's length is unknown, so is the form's; if it can be read only
        /// once, the form can be sent only once.
        ///
        /// - Parameters:
        ///   - fileName: The name sent to the server; `nil` for a field that isn't a file.
        ///   - contentType: The media type; by default the body's, or else it follows from the extension of the file name.
        public static func body(_ name: String, _ body: RequestBody, fileName: String? = nil, contentType: String? = nil) -> Part {
            Part(name: name, fileName: fileName, contentType: contentType ?? body.contentType ?? guess(fileName), content: .body(body))
        }

        /// Creates a part without a name, for a body that isn't a form.
        public static func part(
            _ content: Content, contentType: String?, contentID: String? = nil, headers: HTTPFields = [:]
        ) -> Part {
            Part(name: "", contentType: contentType, content: content, contentID: contentID, headers: headers)
        }

        /// Returns the part with an additional field.
        public func header(_ name: HTTPFields.Name, _ value: String) -> Part {
            var part = self
            part.headers.append(name, value)
            return part
        }

        private static func guess(_ fileName: String?) -> String {
            guard let fileName, let dot = fileName.lastIndex(of: ".") else { return "application/octet-stream" }
            return MultipartForm.mediaTypes[fileName[fileName.index(after: dot)...].lowercased()] ?? "application/octet-stream"
        }
    }

    /// The kinds of multipart bodies.
    public enum Subtype: Sendable, Hashable {
        /// A form: `multipart/form-data` (RFC 7578).
        case formData
        /// Independent parts in their order, such as a batch: `multipart/mixed` (RFC 2046 §5.1.3).
        case mixed
        /// A root part and the parts that belong to it, such as metadata and a file: `multipart/related` (RFC 2387). The field's `type` is
        /// the root's media type.
        ///
        /// - Parameter start: The ``Part/contentID`` of the root; by default the first part is the root.
        case related(start: String? = nil)

        /// The name, such as `form-data`.
        var name: String {
            switch self {
            case .formData: "form-data"
            case .mixed: "mixed"
            case .related: "related"
            }
        }
    }

    /// The parts, in sending order.
    public var parts: [Part]

    /// The kind of the body.
    public var subtype: Subtype

    /// A custom boundary; `nil` for a random one of 128 bits.
    public var boundary: String?

    /// Creates a form from parts.
    ///
    /// - Parameters:
    ///   - subtype: The kind of the body.
    ///   - boundary: A custom boundary, 1 to 70 characters of RFC 2046 §5.1.1, checked when the body is made. By default it is random.
    public init(_ parts: [Part] = [], as subtype: Subtype = .formData, boundary: String? = nil) {
        self.parts = parts
        self.subtype = subtype
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

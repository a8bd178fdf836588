import CSystemLibraries
import Foundation

/// A checked request in libcurl's form.
struct CurlRequest: Sendable {
    /// The way to send the body.
    enum Upload: Sendable {
        /// There is no body.
        case none
        /// Bytes in memory that are sent with the head.
        case bytes(Data)
        /// A body that is read while it is sent.
        case stream(RequestBody)
    }

    /// The maximum size of a body in memory that is sent in one piece with the head.
    private static let inlineLimit = 64 * 1024

    /// The URL, in ASCII.
    let url: String
    /// The origin.
    let origin: Origin
    /// The method.
    let method: ServiceRequest.Method
    /// The header fields.
    let fields: CurlFields
    /// The body.
    let upload: Upload
    /// Whether the request has a body; for some methods, an empty body is declared to the server.
    let hasBody: Bool

    /// The host for messages, with the port unless it is the default of the scheme.
    var host: String { origin.authority }

    /// Checks and converts a request.
    ///
    /// - Parameter codings: The supported content codings as listed in `Accept-Encoding`; `nil` for none.
    /// - Throws: ``TransportError`` with `badRequest` or `unsupported`.
    init(_ request: borrowing ServiceRequest, codings: String?) throws(TransportError) {
        let url = request.url.absoluteURL
        let origin = try RequestRules.origin(of: url)
        let text = url.absoluteString
        guard text.hasOnlyBytes({ $0 > 0x20 && $0 < 0x7F }) else {
            throw TransportError(
                .badRequest,
                "The URL \(SecretMask.text(of: url, of: request.secrets)) contains characters that must be percent-encoded (RFC 3986 "
                    + "§2.1).")
        }
        try RequestRules.check(request.method)
        let upload = try Self.upload(of: request)
        let fields = try CurlFields.of(request, codings: codings)
        // All properties are set at the end: values that are set before a throwing call are copied on exit.
        self.url = text
        self.origin = origin
        method = request.method
        self.upload = upload
        hasBody = request.body != nil
        self.fields = fields
    }

    private static func upload(of request: ServiceRequest) throws(TransportError) -> Upload {
        try RequestRules.check(request.body)
        guard let body = request.body else {
            return request.method.usuallyHasBody ? .bytes(Data()) : .none
        }
        if request.method == .head || request.method == "TRACE" {
            guard body.length == 0 else {
                throw TransportError(.unsupported, "A \(request.method) request can't have a body: omit the body, or use POST.")
            }
            return .none
        }
        if let length = body.length, length <= inlineLimit, let data = body.data { return .bytes(data) }
        return .stream(body)
    }
}

/// The checked header fields of a request in libcurl's form.
final class CurlFields: Sendable {
    /// The lines for the server, and those for the proxy that opens a tunnel to it.
    let lines: CurlLines
    let proxyLines: CurlLines?
    /// The key of the proxy credentials; `nil` without any.
    let proxyKey: Int?
    /// Whether the body is decoded; otherwise it is delivered unchanged.
    let isDecoded: Bool
    /// The supported content codings.
    private let codings: String?

    /// Returns the fields of a request: the same object as for another request with which it shares its fields, unless it has a body, which
    /// adds lines.
    ///
    /// - Parameter codings: The supported content codings as listed in `Accept-Encoding`; `nil` for none.
    /// - Throws: ``TransportError`` with `badRequest`.
    static func of(_ request: borrowing ServiceRequest, codings: String?) throws(TransportError) -> CurlFields {
        guard let common = request.commonFields, request.body == nil, !request.method.usuallyHasBody else {
            return try CurlFields(request, codings: codings)
        }
        if let known = common.prepared.withLock({ $0 }) as? CurlFields, known.codings == codings { return known }
        let fields = try CurlFields(request, codings: codings)
        common.prepared.withLock { $0 = fields }
        return fields
    }

    private init(_ request: borrowing ServiceRequest, codings: String?) throws(TransportError) {
        var lines = CurlLines.Text()
        var proxyLines = CurlLines.Text()
        var proxyKey: Int?
        for field in request.headers {
            guard try RequestRules.admits(field, body: request.body) else { continue }
            switch field.name {
            case .proxyAuthorization:
                proxyLines.append(field)
                proxyKey = ProxyCredentials.key(field.value, with: proxyKey)
            case .contentType where request.body?.contentTypeIsBinding == true && request.body?.contentType != nil:
                continue
            default:
                lines.append(field)
            }
        }
        // A range of a coded body can't be decoded, and "identity" requests an unencoded body.
        let given = request.headers[.acceptEncoding]?.lowercased()
        isDecoded = !request.headers.contains(.range) && given != "identity" && given != ""
        if isDecoded, given == nil, let codings { lines.append(.acceptEncoding, codings) }
        try Self.correct(&lines, for: request)
        self.lines = try CurlLines(lines)
        self.proxyLines = proxyLines.isEmpty ? nil : try CurlLines(proxyLines)
        self.proxyKey = proxyKey
        self.codings = codings
    }

    /// Adds the body's type, and lines that suppress fields which libcurl would add.
    private static func correct(_ lines: inout CurlLines.Text, for request: borrowing ServiceRequest) throws(TransportError) {
        if !request.headers.contains(.accept) { lines.omit(.accept) }
        // libcurl adds the other fields only for bodies, and it searches all lines several times.
        if request.body == nil, !request.method.usuallyHasBody { return }
        if !request.headers.contains(.expect) { lines.omit(.expect) }
        let isGiven = request.headers.contains(.contentType)
        if let type = request.body?.contentType, !isGiven || request.body?.contentTypeIsBinding == true {
            _ = try RequestRules.admits(HTTPFields.Field(name: .contentType, value: type), body: request.body)
            lines.append(.contentType, type)
        } else if !isGiven {
            lines.omit(.contentType)
        }
    }
}

/// Header lines in libcurl's form: a linked list in one block of memory. libcurl only reads it, also for several transports at once.
/// (Before 7.64.1, which isn't supported, it wrote to lines without a value.)
///
/// `@unchecked Sendable`: written only during initialization.
final class CurlLines: @unchecked Sendable {
    /// The lines before they become a list: the bytes of all lines, each with a NUL at its end.
    struct Text {
        fileprivate var bytes: [UInt8] = []
        fileprivate var count = 0

        /// Whether there are no lines.
        var isEmpty: Bool { count == 0 }

        /// Appends a field. libcurl marks an empty value by a semicolon.
        mutating func append(_ field: HTTPFields.Field) {
            guard field.isLatin1 else { return append(field.name, field.value) }
            begin(field.name)
            bytes.append(contentsOf: [UInt8(ascii: ":"), UInt8(ascii: " ")] + field.bytes)
            end()
        }

        /// Appends a field, given by name and value.
        mutating func append(_ name: HTTPFields.Name, _ value: String) {
            begin(name)
            // A line with only blanks after the colon would remove the field.
            if HTTPFields.Field.isBlank(value) {
                bytes.append(UInt8(ascii: ";"))
            } else {
                bytes.append(UInt8(ascii: ":"))
                bytes.append(UInt8(ascii: " "))
                bytes.append(contentsOf: value.utf8)
            }
            end()
        }

        /// Appends the name with a colon only: libcurl then omits the field that it would add.
        mutating func omit(_ name: HTTPFields.Name) {
            begin(name)
            bytes.append(UInt8(ascii: ":"))
            end()
        }

        private mutating func begin(_ name: HTTPFields.Name) {
            // Most requests fit.
            if isEmpty { bytes.reserveCapacity(400) }
            bytes.append(contentsOf: name.rawName.utf8)
        }

        private mutating func end() {
            bytes.append(0)
            count += 1
        }
    }

    private let block: UnsafeMutableRawPointer?

    /// The first line; `nil` if there are none.
    let first: UnsafeMutablePointer<csl_line>?

    /// Creates a list of lines.
    ///
    /// - Throws: ``TransportError`` if memory is exhausted.
    init(_ lines: Text) throws(TransportError) {
        guard !lines.isEmpty else {
            (block, first) = (nil, nil)
            return
        }
        let count = lines.count
        let nodes = count * MemoryLayout<csl_line>.stride
        // `allocate` requests an alignment that every block has, through a call that costs several times as much.
        guard let block = malloc(nodes + lines.bytes.count) else {
            throw TransportError(.other, "Memory is exhausted: there is no room for the header fields of a request.")
        }
        let list = block.bindMemory(to: csl_line.self, capacity: count)
        lines.bytes.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { (block + nodes).copyMemory(from: start, byteCount: bytes.count) }
        }
        var text = (block + nodes).assumingMemoryBound(to: CChar.self)
        for index in 0..<count {
            let next = index + 1 < count ? list + index + 1 : nil
            (list + index).initialize(to: csl_line(text: text, next: next))
            text += strlen(text) + 1
        }
        self.block = block
        first = list
    }

    /// The lines in the list.
    var texts: [String] {
        var texts: [String] = []
        var line = first
        while let current = line {
            texts.append(String(cString: current.pointee.text))
            line = current.pointee.next
        }
        return texts
    }

    deinit {
        free(block)
    }
}

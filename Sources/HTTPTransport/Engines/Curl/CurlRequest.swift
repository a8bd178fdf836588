import CSystemLibraries
import Foundation

/// A request as libcurl takes it, checked.
struct CurlRequest: Sendable {
    /// How the body goes out.
    enum Upload: Sendable {
        /// There is none.
        case none
        /// Bytes in memory that go out with the head.
        case bytes(Data)
        /// Read while it is sent.
        case stream(RequestBody)
    }

    /// Up to this many bytes of a body in memory go out in one piece with the head.
    private static let inlineLimit = 64 * 1024

    /// The URL, in ASCII.
    let url: String
    /// Where it goes.
    let origin: Origin
    /// The method.
    let method: ServiceRequest.Method
    /// The header fields.
    let fields: CurlFields
    /// The body.
    let upload: Upload
    /// Whether the request has one; some methods tell the server that theirs is empty.
    let hasBody: Bool

    /// Where it goes, for messages: the host, and the port where it isn't the scheme's own.
    var host: String { origin.authority }

    /// Checks and converts a request.
    ///
    /// - Parameter codings: the content codings that can be undone, as `Accept-Encoding` lists them; `nil` for none.
    /// - Throws: ``TransportError`` with `badRequest` or `unsupported`.
    init(_ request: borrowing ServiceRequest, codings: String?) throws(TransportError) {
        let url = request.url.absoluteURL
        let origin = try RequestRules.origin(of: url)
        let text = url.absoluteString
        guard text.hasOnlyBytes({ $0 > 0x20 && $0 < 0x7F }) else {
            throw TransportError(
                .badRequest,
                "The URL \(SecretMask.text(of: url, of: request.secrets)) holds characters that must be percent-encoded (RFC 3986 §2.1).")
        }
        try RequestRules.check(request.method)
        let upload = try Self.upload(of: request)
        let fields = try CurlFields.of(request, codings: codings)
        // All at the end: what is written before something may fail is copied on its way out.
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
                throw TransportError(.unsupported, "A \(request.method) request carries no body: leave the body out, or use POST.")
            }
            return .none
        }
        if let length = body.length, length <= inlineLimit, let data = body.data { return .bytes(data) }
        return .stream(body)
    }
}

/// The header fields of a request as libcurl takes them, checked.
final class CurlFields: Sendable {
    /// The lines to the server, and those to the proxy that opens a tunnel to it.
    let lines: CurlLines
    let proxyLines: CurlLines?
    /// What those have in common who show the proxy the same credentials; `nil` without any.
    let proxyKey: Int?
    /// Whether the body's codings are to be undone; else it is delivered as it comes.
    let isDecoded: Bool
    /// The content codings that were there to be asked for.
    private let codings: String?

    /// Those of a request: the same as those of another one that had them in common with it, and no body either, which brings lines of its own.
    ///
    /// - Parameter codings: the content codings that can be undone, as `Accept-Encoding` lists them; `nil` for none.
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
        // A range of a coded body can't be decoded, and "identity" asks for none.
        let given = request.headers[.acceptEncoding]?.lowercased()
        isDecoded = !request.headers.contains(.range) && given != "identity" && given != ""
        if isDecoded, given == nil, let codings { lines.append(.acceptEncoding, codings) }
        try Self.correct(&lines, for: request)
        self.lines = try CurlLines(lines)
        self.proxyLines = proxyLines.isEmpty ? nil : try CurlLines(proxyLines)
        self.proxyKey = proxyKey
        self.codings = codings
    }

    /// Adds the body's type, and lines that take back what libcurl would add by itself.
    private static func correct(_ lines: inout CurlLines.Text, for request: borrowing ServiceRequest) throws(TransportError) {
        if !request.headers.contains(.accept) { lines.omit(.accept) }
        // The others it adds to bodies only, and it looks through all lines several times.
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

/// Header lines as libcurl takes them: a linked list, built in one block of memory, which it only reads, also for several transports at once.
/// (Before 7.64.1, which is too old here, it wrote into lines without a value.)
///
/// `@unchecked Sendable`: written once, before anybody else has it.
final class CurlLines: @unchecked Sendable {
    /// The lines before they become a list: their bytes, one behind the other, each with a NUL at its end.
    struct Text {
        fileprivate var bytes: [UInt8] = []
        fileprivate var count = 0

        /// Whether there are none.
        var isEmpty: Bool { count == 0 }

        /// Adds a field. libcurl takes an empty value by a semicolon.
        mutating func append(_ field: HTTPFields.Field) {
            guard field.isLatin1 else { return append(field.name, field.value) }
            begin(field.name)
            bytes.append(contentsOf: [UInt8(ascii: ":"), UInt8(ascii: " ")] + field.bytes)
            end()
        }

        /// Adds a field of a name and a value.
        mutating func append(_ name: HTTPFields.Name, _ value: String) {
            begin(name)
            // A line with nothing but blanks behind the colon would take the field out.
            if HTTPFields.Field.isBlank(value) {
                bytes.append(UInt8(ascii: ";"))
            } else {
                bytes.append(UInt8(ascii: ":"))
                bytes.append(UInt8(ascii: " "))
                bytes.append(contentsOf: value.utf8)
            }
            end()
        }

        /// Adds the name by itself, with a colon: libcurl then leaves out the field that it would write by itself.
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

    /// The first line; `nil` when there are none.
    let first: UnsafeMutablePointer<csl_line>?

    /// The list of those lines.
    ///
    /// - Throws: ``TransportError`` when there is no memory for it.
    init(_ lines: Text) throws(TransportError) {
        guard !lines.isEmpty else {
            (block, first) = (nil, nil)
            return
        }
        let count = lines.count
        let nodes = count * MemoryLayout<csl_line>.stride
        // `allocate` asks for an alignment that every block has, by a call that costs several times as much.
        guard let block = malloc(nodes + lines.bytes.count) else {
            throw TransportError(.other, "There is no memory for the header fields of a request.")
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

    /// The lines, read back from the list.
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

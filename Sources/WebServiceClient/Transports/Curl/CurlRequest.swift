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

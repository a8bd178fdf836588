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

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request as URLSession takes it, checked for everything that URLSession would change, misunderstand or die of.
struct URLSessionRequest {
    /// The request without its body.
    let urlRequest: URLRequest
    /// The body; `nil` where none goes on the wire.
    let body: RequestBody?
    /// Where it goes, for messages: the host, and the port where it isn't the scheme's own.
    let host: String

    /// URLSession's own idle timer in seconds: far away, since the deadlines are watched here. It must be a whole number.
    static let engineTimeout: TimeInterval = 1_000_000

    /// Checks and converts a request.
    ///
    /// - Throws: ``TransportError`` with `badRequest` or `unsupported`.
    init(_ request: ServiceRequest) throws(TransportError) {
        guard request.timeouts.connect == nil else {
            throw TransportError(
                .unsupported, "URLSession has no deadline for connecting: leave timeouts.connect unset, timeouts.firstByte includes it.")
        }
        let (url, origin) = try Self.checkedURL(request.url)
        host = Self.name(of: origin)
        body = try Self.checkedBody(of: request)
        var urlRequest = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: Self.engineTimeout)
        urlRequest.httpShouldHandleCookies = false
        try Self.setMethod(request.method, of: &urlRequest)
        for (name, value) in try Self.fields(of: request, body: body) {
            urlRequest.setValue(value, forHTTPHeaderField: name)
        }
        self.urlRequest = urlRequest
    }

    private static func checkedURL(_ given: URL) throws(TransportError) -> (URL, Origin) {
        let url = given.absoluteURL
        let text = SecretMask.text(of: url)
        guard let origin = Origin(url) else {
            throw TransportError(.badRequest, "The URL \(text) names no host: give an absolute URL such as https://api.example.com/path.")
        }
        guard origin.scheme == "http" || origin.scheme == "https" else {
            throw TransportError(.badRequest, "The URL \(text) is of scheme \(origin.scheme): this transport speaks http and https.")
        }
        guard url.user(percentEncoded: true) == nil, url.password(percentEncoded: true) == nil else {
            throw TransportError(
                .badRequest, "The URL \(text) holds user info: leave it out, and give the client an authentication provider instead.")
        }
        #if canImport(FoundationNetworking)
        guard !origin.host.contains(":") else {
            throw TransportError(
                .unsupported, "URLSession on this platform can't reach the IPv6 address \(origin): use a host name, or another transport.")
        }
        #endif
        // URLSession here knows the schemes by their lower-case spelling only, and ends the process for others.
        guard url.scheme != origin.scheme else { return (url, origin) }
        let rest = url.absoluteString.dropFirst(origin.scheme.utf8.count)
        guard let spelled = URL(string: origin.scheme + rest) else {
            throw TransportError(.badRequest, "The URL \(text) can't be written with its scheme in lower case: write \(origin.scheme).")
        }
        return (spelled, origin)
    }

    private static func name(of origin: Origin) -> String {
        let text = origin.description
        guard let start = text.range(of: "://") else { return text }
        return String(text[start.upperBound...])
    }

    private static func checkedBody(of request: ServiceRequest) throws(TransportError) -> RequestBody? {
        guard let body = request.body else { return nil }
        guard request.method == .get || request.method == .head || request.method == "TRACE" else { return body }
        guard body.length == 0 else {
            throw TransportError(
                .unsupported, "URLSession sends no body with \(request.method): send it with POST, or as query parameters.")
        }
        return nil
    }

    private static func setMethod(_ method: ServiceRequest.Method, of request: inout URLRequest) throws(TransportError) {
        guard method.isValid else {
            throw TransportError(.badRequest, "The method is no token of RFC 9110: use letters, such as GET.")
        }
        guard method != "CONNECT" else {
            throw TransportError(.unsupported, "CONNECT opens tunnels, and is no call: use another method.")
        }
        request.httpMethod = method.rawValue
        guard request.httpMethod == method.rawValue else {
            throw TransportError(
                .badRequest,
                "Methods are case-sensitive, and URLSession would send \(method) otherwise: write \(method.rawValue.uppercased()).")
        }
    }

    /// The fields by name: those of one name joined, as URLSession takes a dictionary.
    private static func fields(of request: ServiceRequest, body: RequestBody?) throws(TransportError) -> [(String, String)] {
        var merged: [(String, String)] = []
        var positions: [String: Int] = [:]
        for field in request.headers {
            try check(field)
            switch field.name {
            case .contentLength:
                try checkLength(field.value, body: body)
                continue
            case "Transfer-Encoding":
                throw TransportError(.badRequest, "The header Transfer-Encoding is the transport's own: leave it out.")
            default:
                break
            }
            if let position = positions[field.name.canonicalName] {
                merged[position].1 += (field.name == .cookie ? "; " : ", ") + field.value
            } else {
                positions[field.name.canonicalName] = merged.count
                merged.append((field.name.rawName, field.value))
            }
        }
        guard let body else { return merged }
        if let position = positions[HTTPFields.Name.contentType.canonicalName] {
            if body.contentTypeIsBinding, let type = body.contentType { merged[position].1 = type }
        } else {
            // Without one URLSession would call any POST a form.
            merged.append((HTTPFields.Name.contentType.rawName, body.contentType ?? "application/octet-stream"))
        }
        return merged
    }

    private static func check(_ field: HTTPFields.Field) throws(TransportError) {
        guard field.name.isValid else {
            throw TransportError(.badRequest, "A header's name is no token of RFC 9110: use letters, digits and hyphens.")
        }
        guard !field.value.utf8.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else {
            throw TransportError(.badRequest, "The value of the header \(field.name) holds CR, LF or NUL: a header is one line.")
        }
    }

    /// The engine writes the length itself; a given one may stand there only when it is right.
    private static func checkLength(_ value: String, body: RequestBody?) throws(TransportError) {
        guard let length = Int64(value), length == (body.map(\.length) ?? 0) else {
            throw TransportError(.badRequest, "The header Content-Length doesn't fit the body: leave it out, the transport sets it.")
        }
    }
}

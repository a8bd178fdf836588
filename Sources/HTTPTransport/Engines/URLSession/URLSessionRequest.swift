import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request in the form of URLSession, checked for everything that URLSession would change, misinterpret or crash on.
struct URLSessionRequest {
    /// The request without its body.
    let urlRequest: URLRequest
    /// The body; `nil` if none is sent.
    let body: RequestBody?
    /// The host for messages, with the port unless it is the default of the scheme.
    let host: String

    /// URLSession's idle timer in seconds: long, because the deadlines are watched here. It must be a whole number.
    static let engineTimeout: TimeInterval = 1_000_000

    /// Checks and converts a request.
    ///
    /// - Throws: ``TransportError`` with `badRequest` or `unsupported`.
    init(_ request: ServiceRequest) throws(TransportError) {
        let (url, origin) = try Self.checkedURL(request.url)
        host = origin.authority
        if origin.scheme == "https" { try RequestRules.keepsFromServer(request.headers, engine: "URLSession") }
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
        let origin = try RequestRules.origin(of: url)
        #if canImport(FoundationNetworking)
        guard !origin.host.contains(":") else {
            throw TransportError(
                .unsupported, "URLSession on this platform can't reach the IPv6 address \(origin): use a host name, or another transport.")
        }
        #endif
        // On Linux, URLSession recognizes schemes only in lowercase, and ends the process for others.
        guard url.scheme != origin.scheme else { return (url, origin) }
        let rest = url.absoluteString.dropFirst(origin.scheme.utf8.count)
        guard let spelled = URL(string: origin.scheme + rest) else {
            throw TransportError(
                .badRequest, "The URL \(SecretMask.text(of: url)) can't be written with its scheme in lower case: write \(origin.scheme).")
        }
        return (spelled, origin)
    }

    private static func checkedBody(of request: ServiceRequest) throws(TransportError) -> RequestBody? {
        try RequestRules.check(request.body)
        guard let body = request.body else { return nil }
        guard request.method == .get || request.method == .head || request.method == "TRACE" else { return body }
        guard body.length == 0 else {
            throw TransportError(
                .unsupported, "URLSession sends no body with \(request.method): send it with POST, or as query parameters.")
        }
        return nil
    }

    private static func setMethod(_ method: ServiceRequest.Method, of request: inout URLRequest) throws(TransportError) {
        try RequestRules.check(method)
        request.httpMethod = method.rawValue
        guard request.httpMethod == method.rawValue else {
            throw TransportError(
                .badRequest,
                "Methods are case-sensitive, and URLSession would change \(method): write \(method.rawValue.uppercased()).")
        }
    }

    /// Returns the fields by name, with fields of the same name joined, because URLSession takes a dictionary.
    private static func fields(of request: ServiceRequest, body: RequestBody?) throws(TransportError) -> [(String, String)] {
        var merged: [(String, String)] = []
        var positions: [String: Int] = [:]
        for field in request.headers {
            guard try RequestRules.admits(field, body: body) else { continue }
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
            // Without a type, URLSession would declare the body of any POST as a form.
            merged.append((HTTPFields.Name.contentType.rawName, body.contentType ?? "application/octet-stream"))
        }
        return merged
    }
}

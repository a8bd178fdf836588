#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// A request as `HTTPClient` takes it, checked for everything that it would change or misunderstand.
struct AsyncHTTPClientRequest {
    /// The request with its body.
    let request: HTTPClientRequest
    /// Where it goes, for messages: the host, and the port where it isn't the scheme's own.
    let host: String

    /// Checks and converts a request.
    ///
    /// - Throws: ``TransportError`` with `badRequest` or `unsupported`; ``RequestBodyError`` when a file has changed.
    init(_ request: ServiceRequest, upload: AsyncHTTPClientUpload) throws {
        guard request.timeouts.connect == nil else {
            throw TransportError(
                .unsupported,
                "An HTTPClient has one time to connect for all its requests: set timeout.connect of its configuration, and leave "
                    + "timeouts.connect unset.")
        }
        let url = request.url.absoluteURL
        let origin = try Self.checkedOrigin(of: url)
        host = String(origin.description.dropFirst(origin.scheme.count + "://".count))
        var outgoing = HTTPClientRequest(url: url.absoluteString)
        outgoing.method = try Self.method(request.method)
        outgoing.headers = try Self.fields(of: request, host: host)
        outgoing.body = try upload.body(of: request.body)
        self.request = outgoing
    }

    private static func checkedOrigin(of url: URL) throws(TransportError) -> Origin {
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
        return origin
    }

    private static func method(_ method: ServiceRequest.Method) throws(TransportError) -> HTTPMethod {
        guard method.isValid else {
            throw TransportError(.badRequest, "The method is no token of RFC 9110: use letters, such as GET.")
        }
        guard method != "CONNECT" else {
            throw TransportError(.unsupported, "CONNECT opens tunnels, and is no call: use another method.")
        }
        return HTTPMethod(rawValue: method.rawValue)
    }

    private static func fields(of request: ServiceRequest, host: String) throws(TransportError) -> HTTPHeaders {
        var headers = HTTPHeaders()
        headers.reserveCapacity(request.headers.count + 3)
        // The engine's own would lack the brackets around an IPv6 address.
        if !request.headers.contains("Host") { headers.add(name: "Host", value: host) }
        let body = request.body
        for field in request.headers {
            try check(field)
            switch field.name {
            case .contentLength:
                try checkLength(field.value, body: body)
            case "Transfer-Encoding":
                throw TransportError(.badRequest, "The header Transfer-Encoding is the transport's own: leave it out.")
            case .contentType where body?.contentTypeIsBinding == true && body?.contentType != nil:
                break
            default:
                headers.add(name: field.name.rawName, value: field.value)
            }
        }
        if let body, let type = body.contentType, !headers.contains(name: "Content-Type") {
            headers.add(name: "Content-Type", value: type)
        }
        return headers
    }

    private static func check(_ field: HTTPFields.Field) throws(TransportError) {
        guard field.name.isValid else {
            throw TransportError(.badRequest, "A header's name is no token of RFC 9110: use letters, digits and hyphens.")
        }
        guard !HTTPFields.Field.breaksLine(field.value) else {
            throw TransportError(.badRequest, "The value of the header \(field.name) holds CR, LF or NUL: a header is one line.")
        }
        guard !field.value.utf8.contains(where: { $0 < 32 && $0 != 9 || $0 == 127 }) else {
            throw TransportError(.badRequest, "The value of the header \(field.name) holds a control character: take it out.")
        }
    }

    /// The engine writes the length itself; a given one may stand there only when it is right.
    private static func checkLength(_ value: String, body: RequestBody?) throws(TransportError) {
        guard let length = Int64(value), length == (body.map(\.length) ?? 0) else {
            throw TransportError(.badRequest, "The header Content-Length doesn't fit the body: leave it out, the transport sets it.")
        }
    }
}
#endif

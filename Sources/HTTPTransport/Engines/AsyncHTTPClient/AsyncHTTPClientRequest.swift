#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// A request in the form of `HTTPClient`, checked for everything that the client would change or misinterpret.
struct AsyncHTTPClientRequest {
    /// The request with its body.
    let request: HTTPClientRequest
    /// The host for messages, with the port unless it is the default of the scheme.
    let host: String

    /// Checks and converts a request.
    ///
    /// - Throws: ``TransportError`` with `badRequest` or `unsupported`; ``RequestBodyError`` if a file has changed.
    init(_ request: ServiceRequest, upload: AsyncHTTPClientUpload) throws {
        guard request.timeouts.connect == nil else {
            throw TransportError(
                .unsupported,
                "An HTTPClient has one connection timeout for all requests: set timeout.connect of its configuration, and leave "
                    + "timeouts.connect unset.")
        }
        let url = request.url.absoluteURL
        host = try RequestRules.origin(of: url).authority
        try RequestRules.check(request.method)
        try RequestRules.check(request.body)
        // The engine opens a tunnel even for requests without TLS.
        try RequestRules.keepsFromServer(request.headers, engine: "HTTPClient")
        try Self.checkPath(of: url)
        var outgoing = HTTPClientRequest(url: url.absoluteString)
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        outgoing.headers = try Self.fields(of: request, host: host)
        outgoing.body = try upload.body(of: request.body)
        self.request = outgoing
    }

    /// Rejects a path whose escapes aren't UTF-8: the engine would silently request `/` instead.
    private static func checkPath(of url: URL) throws(TransportError) {
        guard url.path(percentEncoded: false).isEmpty, !url.path(percentEncoded: true).isEmpty else { return }
        throw TransportError(
            .unsupported,
            "HTTPClient can't send the path of \(SecretMask.text(of: url)), whose escapes aren't UTF-8: use another transport, such as "
                + "CurlTransport.")
    }

    private static func fields(of request: ServiceRequest, host: String) throws(TransportError) -> HTTPHeaders {
        var headers = HTTPHeaders()
        headers.reserveCapacity(request.headers.count + 3)
        // The engine's field would lack the brackets around an IPv6 address.
        if !request.headers.contains("Host") { headers.add(name: "Host", value: host) }
        let body = request.body
        for field in request.headers {
            guard try RequestRules.admits(field, body: body) else { continue }
            try check(field)
            if field.name == .contentType, body?.contentTypeIsBinding == true, body?.contentType != nil { continue }
            headers.add(name: field.name.rawName, value: field.value)
        }
        if let type = body?.contentType, !headers.contains(name: "Content-Type") {
            let field = HTTPFields.Field(name: .contentType, value: type)
            _ = try RequestRules.admits(field, body: body)
            try check(field)
            headers.add(name: field.name.rawName, value: type)
        }
        return headers
    }

    private static func check(_ field: HTTPFields.Field) throws(TransportError) {
        guard !field.value.utf8.contains(where: { $0 < 32 && $0 != 9 || $0 == 127 }) else {
            throw TransportError(.badRequest, "The value of the header \(field.name) contains a control character: remove it.")
        }
    }
}
#endif

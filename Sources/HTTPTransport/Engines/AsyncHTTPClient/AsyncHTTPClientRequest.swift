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
        host = try RequestRules.origin(of: url).authority
        try RequestRules.check(request.method)
        try RequestRules.check(request.body)
        // It asks for a tunnel also where the request isn't secure.
        try RequestRules.keepsFromServer(request.headers, engine: "HTTPClient")
        try Self.checkPath(of: url)
        var outgoing = HTTPClientRequest(url: url.absoluteString)
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        outgoing.headers = try Self.fields(of: request, host: host)
        outgoing.body = try upload.body(of: request.body)
        self.request = outgoing
    }

    /// Refuses a path whose escapes are no UTF-8: the engine would ask for `/` in its place, without a word.
    private static func checkPath(of url: URL) throws(TransportError) {
        guard url.path(percentEncoded: false).isEmpty, !url.path(percentEncoded: true).isEmpty else { return }
        throw TransportError(
            .unsupported,
            "HTTPClient can't send the path of \(SecretMask.text(of: url)), whose escapes are no UTF-8: use another transport, such as "
                + "CurlTransport.")
    }

    private static func fields(of request: ServiceRequest, host: String) throws(TransportError) -> HTTPHeaders {
        var headers = HTTPHeaders()
        headers.reserveCapacity(request.headers.count + 3)
        // The engine's own would lack the brackets around an IPv6 address.
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
            throw TransportError(.badRequest, "The value of the header \(field.name) holds a control character: take it out.")
        }
    }
}
#endif

import Foundation
import WebServiceClient

/// Sends requests of a mock server to the real service.
struct MockForwarding: Sendable {
    private static let bodyLimit = 64 << 20
    /// The fields of a connection, which the next connection sets itself (RFC 9110, section 7.6.1), and those that the library sets.
    private static let ownFields: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "host", "content-length", "expect",
        "accept-encoding",
    ]

    private let root: String
    private let origin: Origin
    private let prefix: String
    private let transport: any Transport

    /// - Throws: ``TestingFailure`` if the root isn't an absolute http or https URL.
    init(root: String, prefix: String, transport: any Transport) throws(TestingFailure) {
        guard let origin = URL(string: root).flatMap({ Origin($0) }) else {
            throw TestingFailure("“\(SecretMask.text(ofURL: root))” isn't the root of a service: write it like \"https://api.example.com\"")
        }
        self.root = root.hasSuffix("/") ? String(root.dropLast()) : root
        self.origin = origin
        self.prefix = prefix
        self.transport = transport
    }

    /// Returns the response of the service, or a 502 with the reason if there is none.
    ///
    /// - Parameter own: The endpoint's own service root: a path on the service's origin, or a URL.
    func response(to request: LoopbackRequest, ownRoot own: String?) async throws -> LoopbackResponse {
        guard !request.isBodyCut else { return .text("The request's body exceeds the server's bodyLimit.\n", status: 502) }
        let target = request.target
        let text =
            if let own {
                "\(URL(string: own).flatMap { Origin($0) } ?? origin)" + target
            } else {
                root + (target.hasPrefix(prefix) ? String(target.dropFirst(prefix.count)) : target)
            }
        guard let url = URL(string: text) else {
            return .text("The request's target isn't a URL at the service.\n", status: 502)
        }
        let fields = request.fields.filter { !Self.ownFields.contains($0.name.lowercased()) }
            .map { HTTPFields.Field(name: HTTPFields.Name($0.name), value: $0.value) }
        let body = request.body.isEmpty ? nil : RequestBody(request.body, contentType: request.fields["Content-Type"])
        do {
            let sent = ServiceRequest(
                method: ServiceRequest.Method(rawValue: request.method), url: url, headers: HTTPFields(fields), body: body)
            let response = try await transport.send(sent)
            let data = try await response.body.collect(upTo: Self.bodyLimit)
            let received = response.headers.filter {
                // The body arrives decoded.
                !Self.ownFields.contains($0.name.canonicalName) && $0.name != .contentEncoding
            }
            return LoopbackResponse(
                status: response.status, fields: LoopbackFields(received.map { LoopbackField($0.name.rawName, $0.value) }),
                body: data.isEmpty ? .empty : .data(data))
        } catch let error as TransportError {
            return .text("The service didn't answer: \(error)\n", status: 502)
        }
    }
}

/// Sends requests of any origin to a mock server.
struct MockTransport: Transport {
    /// The root of the server.
    let server: URL

    var capabilities: TransportCapabilities { DefaultTransport.shared.capabilities }

    func send(_ request: ServiceRequest) async throws -> TransportResponse {
        guard let origin = Origin(server), let own = Origin(request.url), own != origin else {
            return try await DefaultTransport.shared.send(request)
        }
        let text = request.url.absoluteString
        // The path and the query are sent unchanged.
        let rest = text.range(of: "://").map { text[$0.upperBound...].drop { !"/?#".contains($0) } } ?? ""
        guard let url = URL(string: "\(origin)" + (rest.hasPrefix("/") ? "" : "/") + rest) else {
            throw TestingFailure("“\(SecretMask.text(ofURL: text))” can't be sent to the mock server")
        }
        var request = request
        request.url = url
        return try await DefaultTransport.shared.send(request)
    }
}

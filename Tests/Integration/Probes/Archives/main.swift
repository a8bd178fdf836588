import Foundation
import WebServiceClient
import WebServiceTesting

// Records exchanges of many kinds from a loopback server in a HAR file, and prints what another reader must find in it, for
// Tests/Integration/har-agreement: tab-separated method, target, status, key, Base64 of the request's and of the response's body.

func exchanges(from server: LoopbackServer, over transport: any Transport) async throws {
    func send(_ method: ServiceRequest.Method, _ target: String, key: String? = nil, _ body: RequestBody? = nil) async throws {
        var request = ServiceRequest(method: method, url: try server.url(target), body: body)
        request.identity = key.map { CallIdentity(client: "Kinds", key: $0, route: "/") }
        if let type = body?.contentType { request.headers[.contentType] = type }
        let response: TransportResponse
        var received = Data()
        do {
            response = try await transport.send(request)
            received = try await response.body.collect(upTo: 1 << 20)
        } catch is TransportError {
            return print([method.rawValue, target, "0", key ?? "", "", ""].joined(separator: "\t"))
        }
        let sent = try await body?.collect(upTo: 1 << 20) ?? Data()
        let bodies = [sent, received].map { $0.base64EncodedString() }
        print(([method.rawValue, target, "\(response.status)", key ?? ""] + bodies).joined(separator: "\t"))
    }
    try await send(.get, "/json?b=2&a=%C3%BC&a=1&empty", key: "json()")
    try await send(.get, "/bytes")
    try await send(.get, "/pieces", key: "pieces()")
    try await send(.get, "/none")
    try await send(.get, "/redirect", key: "moved()")
    try await send(.get, "/lost")
    try await send(.post, "/echo", RequestBody(Data("a=1+2&b=%26".utf8), contentType: "application/x-www-form-urlencoded"))
    try await send(.put, "/echo", RequestBody(Data([0, 0xFF, 0x80, 10]), contentType: "application/octet-stream"))
    try await send(.post, "/echo", RequestBody(Data("{\"q\":\"\\u0000\\\"\\\\ü🦊\\n\"}".utf8), contentType: "application/json"))
}

let path = CommandLine.arguments.dropFirst().first ?? "probe.har"
let server = try LoopbackServer { routes in
    routes.get("/json") { _ in .json("{\"name\": \"ü\\u0000🦊\", \"n\": [1.10, null]}") }
    routes.get("/bytes") { _ in .data(Data(UInt8.min...UInt8.max), type: "image/png") }
    routes.get("/pieces") { _ in .pieces((0..<5).map { LoopbackResponse.Piece("data: \($0)\n\n") }, type: "text/event-stream") }
    routes.get("/none") { _ in .status(204).with("X-Request-Id", "1") }
    routes.get("/redirect") { _ in .redirect(to: "/json") }
    routes.get("/lost") { _ in .drop }
    routes.on("*", "/echo") { .data($0.body, type: $0.fields["Content-Type"] ?? "text/plain", status: 201) }
}
let cassette = try Cassette(URL(fileURLWithPath: path), mode: .all)
try await exchanges(from: server, over: cassette.transport())
try cassette.save()
server.stop()

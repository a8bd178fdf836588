import Foundation
import WebServiceClient

/// Runs a body while a server answers by these routes, and stops the server after it.
@discardableResult
func serving<Value>(
    options: LoopbackServer.Options = LoopbackServer.Options(), _ build: (inout LoopbackRoutes) throws -> Void,
    during body: (LoopbackServer) async throws -> Value
) async throws -> Value {
    let server = try LoopbackServer(options: options, build)
    defer { server.stop() }
    return try await body(server)
}

/// Runs a body while a server answers every request by a handler.
@discardableResult
func answering<Value>(
    reading: LoopbackRoutes.Reading = .body, _ handler: @escaping LoopbackRoutes.Handler, during body: (LoopbackServer) async throws -> Value
) async throws -> Value {
    try await serving({ $0.fallback(reading: reading, handler: handler) }, during: body)
}

/// Runs a body while a server answers every request by the same response.
@discardableResult
func answering<Value>(with response: LoopbackResponse, during body: (LoopbackServer) async throws -> Value) async throws -> Value {
    try await answering({ _ in response }, during: body)
}

extension LoopbackServer {
    /// A request to this server.
    func request(
        _ method: ServiceRequest.Method = .get, _ target: String = "/", headers: HTTPFields = [:], body: RequestBody? = nil
    ) throws -> ServiceRequest {
        ServiceRequest(method: method, url: try url(target), headers: headers, body: body)
    }

    /// The only request that came; a failure when there were more or none.
    func onlyRequest() throws -> LoopbackRequest {
        let all = requests
        guard all.count == 1 else {
            throw TestingFailure("The server: expected one request, found \(all.count)" + all.map { "\n  \($0)" }.joined())
        }
        try demand(failures, is: [], "What the server complains of")
        return all[0]
    }
}

import Foundation
import WebServiceClient

/// Calls of a whole client that its cache answers, with a body of 10 kB.
public struct CacheWork: Sendable {
    /// Answers every request with the same response, which is fresh for an hour.
    private struct Answering: Transport {
        let capabilities: TransportCapabilities = []
        let body = Data(repeating: 0x61, count: 10_000)

        func send(_ request: ServiceRequest) async throws -> TransportResponse {
            TransportResponse(
                status: 200, headers: ["Cache-Control": "max-age=3600", "Content-Type": "application/octet-stream", "ETag": "\"1\""],
                url: request.url, body: ResponseBody(body))
        }
    }

    private let client: WebServiceClient

    /// Creates a client whose cache has the response.
    ///
    /// - Parameter isOnDisk: Whether the cache is in a temporary folder, and not in memory.
    public init(isOnDisk: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cache-benchmark")
        client = WebServiceClient(serviceRoot: "https://api.example.com") {
            $0.transport = Answering()
            $0.cache = isOnDisk ? ResponseCache(directory: folder) : ResponseCache()
        }
        _ = try await call()
    }

    /// Makes a call and returns the number of bytes of its body.
    public func call() async throws -> Int {
        try await client.http.get("/v1/items").value(Data.self).count
    }
}

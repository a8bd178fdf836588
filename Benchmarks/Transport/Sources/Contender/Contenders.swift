import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import WebServiceClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The compared engines.
enum Contenders {
    /// The maximum number of concurrent requests of any workload, for engines that would otherwise queue them.
    private static let connections = 64

    /// The engines' names and factories. Each process makes one engine.
    private static let makers: KeyValuePairs<String, @Sendable (_ base: String) throws -> Fetching> = [
        "declared call over CurlTransport": { base in
            Fetching(get: try declaredCall(base, CurlTransport()))
        },
        "declared call on the transport's thread": { base in
            let transport = try CurlTransport()
            return Fetching(get: declaredCall(base, transport), executor: transport.taskExecutor)
        },
        "CurlTransport": { _ in Fetching(get: transport(try CurlTransport())) },
        "CurlTransport with a declared call's fields": { _ in
            Fetching(get: transport(try CurlTransport(), ["User-Agent": "WebServiceClient-Swift/0.1.0", "Accept": "application/json"]))
        },
        "CurlTransport on its own thread": { _ in
            let curl = try CurlTransport()
            return Fetching(get: transport(curl), executor: curl.taskExecutor)
        },
        "URLSessionTransport": { _ in Fetching(get: transport(URLSessionTransport.shared)) },
        "URLSession": { _ in Fetching(get: urlSession()) },
        "AsyncHTTPClientTransport": { _ in Fetching(get: transport(AsyncHTTPClientTransport(httpClient()))) },
        "HTTPClient": { _ in Fetching(get: asyncHTTPClient(httpClient())) },
        "HTTPClient.shared": { _ in Fetching(get: asyncHTTPClient(.shared)) },
    ]

    /// The names of the engines.
    static var names: [String] { makers.map(\.key) }

    /// Creates the contender with a name, ready to fetch from a service.
    static func fetching(named name: String, from base: String) throws -> Fetching? {
        try makers.first { $0.key == name }?.value(base)
    }

    /// A typical use of this library: a declared endpoint whose JSON is decoded.
    private static func declaredCall(_ base: String, _ transport: CurlTransport) -> Fetching.Get {
        let documents = Documents(serviceRoot: base) { $0.transport = transport }
        return { target in try await documents.document(target.name).length }
    }

    /// A transport of this library without a client.
    private static func transport(_ transport: any Transport, _ fields: HTTPFields = [:]) -> Fetching.Get {
        { target in
            let response = try await transport.send(ServiceRequest(url: target.url, headers: fields))
            guard response.status == 200 else { throw UnexpectedStatus(status: response.status) }
            return try await response.body.collect(upTo: .max).count
        }
    }

    /// The usual choice of programs on Linux.
    private static func urlSession() -> Fetching.Get {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = connections
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration)
        return { target in
            let (data, response) = try await session.data(from: target.url)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            guard status == 200 else { throw UnexpectedStatus(status: status) }
            return data.count
        }
    }

    private static func asyncHTTPClient(_ client: HTTPClient) -> Fetching.Get {
        { target in
            let response = try await client.execute(HTTPClientRequest(url: target.text), timeout: .seconds(60))
            guard response.status.code == 200 else { throw UnexpectedStatus(status: Int(response.status.code)) }
            return try await response.body.collect(upTo: 1 << 30).readableBytes
        }
    }

    /// It is never shut down: the process ends by `exit`.
    private static func httpClient() -> HTTPClient {
        var configuration = AsyncHTTPClientTransport.configuration
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        configuration.decompression = .disabled
        return HTTPClient(configuration: configuration)
    }
}

/// The server answered with an unexpected status.
struct UnexpectedStatus: Error {
    let status: Int
}

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import WebServiceClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Gets a URL, collects the body, and gives its length.
typealias Fetch = @Sendable (URL) async throws -> Int

/// The engines that are compared.
enum Contenders {
    /// As many connections to one host as the widest workload has requests at once, for those that would queue otherwise.
    private static let connections = 64

    /// Each with what makes it; made once a process.
    private static let makers: KeyValuePairs<String, @Sendable (_ base: String) throws -> Fetch> = [
        "declared call, CurlTransport": declaredCall,
        "CurlTransport": { _ in transport(try CurlTransport()) },
        "URLSessionTransport": { _ in transport(URLSessionTransport.shared) },
        "URLSession": urlSession,
        "AsyncHTTPClientTransport": { _ in transport(AsyncHTTPClientTransport(httpClient())) },
        "HTTPClient": asyncHTTPClient,
    ]

    /// Their names.
    static var names: [String] { makers.map(\.key) }

    /// The contender of that name, ready to fetch from that service.
    static func fetch(named name: String, from base: String) throws -> Fetch? {
        try makers.first { $0.key == name }?.value(base)
    }

    /// What a program with this library does: a declared endpoint, whose JSON is decoded.
    private static let declaredCall: @Sendable (String) throws -> Fetch = { base in
        let transport = try CurlTransport()
        let documents = Documents(serviceRoot: base) { $0.transport = transport }
        return { url in try await documents.document(url.lastPathComponent).length }
    }

    /// A transport of this library, used by itself: without a client above it.
    private static func transport(_ transport: any Transport) -> Fetch {
        { url in
            let response = try await transport.send(ServiceRequest(url: url))
            guard response.status == 200 else { throw UnexpectedStatus(status: response.status) }
            return try await response.body.collect(upTo: .max).count
        }
    }

    /// What most programs on Linux use.
    private static let urlSession: @Sendable (String) -> Fetch = { _ in
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = connections
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration)
        return { url in
            let (data, response) = try await session.data(from: url)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            guard status == 200 else { throw UnexpectedStatus(status: status) }
            return data.count
        }
    }

    private static let asyncHTTPClient: @Sendable (String) -> Fetch = { _ in
        let client = httpClient()
        return { url in
            let response = try await client.execute(HTTPClientRequest(url: url.absoluteString), timeout: .seconds(60))
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

/// The server answered something else than asked for.
struct UnexpectedStatus: Error {
    let status: Int
}

#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOSSL
import WebServiceClient

/// The clients that the tests share. They live as long as the process, since a released client must have been shut down.
enum HTTPClients {
    private struct Kind: Hashable {
        let isTLS: Bool
        let http1Only: Bool
    }

    private static let made = Locked<[Kind: HTTPClient]>([:])

    /// A client configured for the transport, which trusts the authority of the test servers.
    static func client(to server: TestServer, http1Only: Bool) throws -> HTTPClient {
        let kind = Kind(isTLS: server.tls != nil, http1Only: http1Only)
        return try made.withLock { made in
            if let client = made[kind] { return client }
            let client = HTTPClient(configuration: try configuration(for: server.tls, http1Only: http1Only))
            made[kind] = client
            return client
        }
    }

    /// A client that uses a proxy. Like the others, each lives as long as the process.
    static func client(through proxy: URL) throws -> HTTPClient {
        var configuration = try configuration(for: try TestServer.named("tls-nginx").tls)
        configuration.proxy = .server(host: proxy.host() ?? "", port: proxy.port ?? 80)
        let client = HTTPClient(configuration: configuration)
        proxied.withLock { $0.append(client) }
        return client
    }

    private static let proxied = Locked<[HTTPClient]>([])

    /// The configuration of such a client, with adjustable TLS.
    static func configuration(
        for certificates: TestCertificates?, http1Only: Bool = false, change: (inout TLSConfiguration) throws -> Void = { _ in }
    ) throws -> HTTPClient.Configuration {
        var configuration = AsyncHTTPClientTransport.configuration
        if http1Only { configuration.httpVersion = .http1Only }
        if let certificates {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(certificates.root)
            try change(&tls)
            configuration.tlsConfiguration = tls
        }
        return configuration
    }
}
#endif

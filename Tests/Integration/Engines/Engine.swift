import Foundation
import Testing
import WebServiceClient

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOSSL
#endif

/// What carries the exchanges with the real servers.
enum Engine: String, CaseIterable, CustomTestStringConvertible {
    case curl, urlSession
    #if AsyncHTTPClient
    case asyncHTTPClient
    #endif

    var testDescription: String { rawValue }

    /// Those that can be had here.
    static let all = allCases.filter { $0 != .curl || CurlTransport.shared != nil }

    /// Whether a request that names no authorities goes by the system's, however its engine was made here.
    var readsSystemAuthorities: Bool { self == .curl || self == .urlSession }

    /// The transport that speaks to a server, in HTTP/1.1 only if so wished; `nil` where it can't be told that.
    func transport(to server: TestServer, http1Only: Bool) throws -> (any Transport)? {
        switch self {
        case .curl:
            var configuration = CurlTransport.Configuration()
            if http1Only { configuration.httpVersion = .http1 }
            return try CurlTransport(configuration: configuration)
        case .urlSession:
            return http1Only ? nil : URLSessionTransport()
        #if AsyncHTTPClient
        case .asyncHTTPClient:
            return AsyncHTTPClientTransport(try HTTPClients.client(to: server, http1Only: http1Only))
        #endif
        }
    }

    /// Whose certificates count: our own authority by the request where the engine can, else by what it was made with, or by the system.
    func trust(for server: TestServer) throws -> TrustPolicy? {
        guard self == .curl, let tls = server.tls else { return nil }
        return TrustPolicy(authorities: try tls.ownAuthorityOnly())
    }
}

#if AsyncHTTPClient
/// The clients that the tests share. They live as long as the process: one that is let go must have been shut down before.
enum HTTPClients {
    private struct Kind: Hashable {
        let isTLS: Bool
        let http1Only: Bool
    }

    private static let made = Locked<[Kind: HTTPClient]>([:])

    /// A client as the transport wants it, which trusts the authority of our servers.
    static func client(to server: TestServer, http1Only: Bool) throws -> HTTPClient {
        let kind = Kind(isTLS: server.tls != nil, http1Only: http1Only)
        if let client = made.withLock({ $0[kind] }) { return client }
        let client = HTTPClient(configuration: try configuration(for: server.tls, http1Only: http1Only))
        return made.withLock { made in
            if let first = made[kind] { return first }
            made[kind] = client
            return client
        }
    }

    /// The configuration of such a client, whose TLS can be changed.
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

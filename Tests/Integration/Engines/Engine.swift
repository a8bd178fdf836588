import Foundation
import Testing
import WebServiceClient

/// What carries the exchanges with the real servers.
enum Engine: String, CaseIterable, CustomTestStringConvertible {
    case curl, urlSession
    #if AsyncHTTPClient
    case asyncHTTPClient
    #endif

    var testDescription: String { rawValue }

    /// Those that can be had here.
    static let all = allCases.filter { $0 != .curl || CurlTransport.shared != nil }

    /// Whether it is swift-server's `HTTPClient`, which is made here with our authority; the others go by the system's where none is named.
    var isHTTPClient: Bool { self != .curl && self != .urlSession }

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

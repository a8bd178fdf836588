import Foundation
import Testing
import WebServiceClient

/// The engines for exchanges with the real servers.
enum Engine: String, CaseIterable, CustomTestStringConvertible {
    case curl, urlSession
    #if AsyncHTTPClient
    case asyncHTTPClient
    #endif

    var testDescription: String { rawValue }

    /// The engines available here.
    static let all = allCases.filter { $0 != .curl || CurlTransport.shared != nil }

    /// Whether it is swift-server's `HTTPClient`, which is made with the test authority; the others use the system's if none is given.
    var isHTTPClient: Bool { self != .curl && self != .urlSession }

    /// Returns a transport for a server, with HTTP/1.1 only if requested; `nil` if the engine can't be restricted to it.
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

    /// The trusted authorities: the request's test authority if the engine supports that, otherwise those that it was made with, or the
    /// system's.
    func trust(for server: TestServer) throws -> TrustPolicy? {
        guard self == .curl, let tls = server.tls else { return nil }
        return TrustPolicy(authorities: try tls.ownAuthorityOnly())
    }
}

import Foundation
import Testing
import TransportConformance
import WebServiceClient
import WebServiceTesting

extension IntegrationTests {
    /// The cases of the conformance suite that need TLS servers and proxies: each engine, with nginx and with Apache.
    @Suite struct EngineConformanceTests {
        /// An engine and the servers that it is tested with.
        struct Meeting: Sendable, CustomTestStringConvertible {
            let engine: Engine
            let site: String

            var testDescription: String { "\(engine.testDescription) → \(site)" }
        }

        private static let areas = ["trust", "pins", "identities", "http2", "proxies", "tunnels", "secure"]
        private static let cases = TransportConformance.cases.filter { item in areas.contains { item.name.hasPrefix($0 + "/") } }
        /// An engine that supports only the system's authorities is tested only if the system trusts the servers' authority.
        private static let meetings = Engine.all.filter { $0 != .urlSession || Route.isRootTrusted }
            .flatMap { engine in ["nginx", "apache"].map { Meeting(engine: engine, site: $0) } }

        @Test(arguments: meetings, cases) func conforms(meeting: Meeting, item: ConformanceCase) async throws {
            let engine = meeting.engine
            let server = try TestServer.named("tls-nginx")
            let suite = TransportConformance(
                knownGaps: engine.knownGaps, fatalGaps: engine.fatalGaps, servers: try ConformanceServers.ours(of: meeting.site),
                limit: .seconds(300),
                proxied: engine.proxied
            ) { try #require(try engine.transport(to: server, http1Only: false)) }
            guard case .skipped(let reason) = try await suite.check(item) else { return }
            let isProxyless = engine.proxied == nil && reason.contains("can't make a proxied transport")
            let isLacking = reason.contains("doesn't declare") && !item.capabilities.isDisjoint(with: engine.lacking)
            let isTrusted = item.name == "trust/added" && Route.isRootTrusted
            #expect(isLacking || isProxyless || isTrusted, "\(item) was left out: \(reason)")
        }

        @Test(arguments: areas) func `there are cases`(area: String) {
            #expect(Self.cases.contains { $0.name.hasPrefix(area + "/") })
        }
    }
}

extension ConformanceServers {
    /// The servers that `Tests/Integration/servers` has started, with nginx or Apache if both provide a server.
    fileprivate static func ours(of site: String) throws -> ConformanceServers {
        func url(_ name: String, at path: String = "/anything") throws -> URL {
            try #require(URL(string: try TestServer.named(name).url + path))
        }
        let files = try #require(try TestServer.named("tls-nginx").tls)
        var servers = ConformanceServers(
            secure: try url("tls-\(site)"),
            chain: try [files.server, files.intermediate, files.root].map { try TestCertificates.certificate($0) },
            otherAuthority: try TestCertificates.certificate(files.otherRoot))
        servers.expired = try url("tls-expired")
        servers.notYetValid = try url("tls-not-yet-valid")
        servers.otherHost = try url("tls-wrong-host")
        servers.unknownIssuer = try url("tls-unknown-issuer")
        servers.selfSigned = try url("tls-self-signed")
        servers.incomplete = try url("tls-incomplete")
        servers.oldTLS = try url("tls-nginx-12")
        servers.answeringEarly = try url("tls-nginx", at: "/early")
        servers.echo = servers.secure
        servers.careless = try url("tls-careless", at: "/")
        servers.wantingIdentity = try url("tls-client-\(site)")
        servers.identity = try .pkcs12(file: URL(filePath: files.clientPKCS12), passphrase: files.passphrase)
        servers.identityInPEM = try files.identity()
        servers.otherIdentity = try .pkcs12(file: URL(filePath: files.otherClientPKCS12), passphrase: files.passphrase)
        servers.lockedIdentity = try .pkcs12(file: URL(filePath: files.clientPKCS12), passphrase: "wrong-passphrase")
        servers.mismatchedIdentity = try .pem(chainFile: URL(filePath: files.client), keyFile: URL(filePath: files.otherClientKey))
        servers.proxy = try url("proxy", at: "")
        let challenging = try TestServer.named("proxy-basic")
        servers.challengingProxy = try url("proxy-basic", at: "")
        servers.proxyCredentials = "Basic " + Data("\(challenging.user):\(challenging.password)".utf8).base64EncodedString()
        return servers
    }
}

extension Engine {
    /// The capabilities that the engine lacks and doesn't declare.
    fileprivate var lacking: TransportCapabilities {
        switch self {
        case .curl: []
        case .urlSession: TransportCapabilities(rawValue: .max)
        #if AsyncHTTPClient
        case .asyncHTTPClient: Self.lackingOfHTTPClient
        #endif
        }
    }

    /// The engine's gaps that no capability expresses.
    fileprivate var knownGaps: [String: String] {
        switch self {
        case .curl: return [:]
        case .urlSession:
            return ["proxies/none": "By http the field goes to whoever answers: see URLSessionConformanceTests."]
        #if AsyncHTTPClient
        case .asyncHTTPClient:
            let names = ["expired", "not-yet-valid", "unknown-issuer", "self-signed", "incomplete"]
            let reason = "HTTPClient has one error for all but another host."
            var gaps = Dictionary(uniqueKeysWithValues: names.map { ("trust/\($0)", reason) })
            gaps["tunnels/faults"] = reason
            for name in ["plain", "credentials", "statuses"] {
                gaps["proxies/\(name)"] = "HTTPClient asks for a tunnel also where the request isn't secure."
            }
            return gaps
        #endif
        }
    }

    /// The cases that end the process, hang, or haven't been tried yet.
    fileprivate var fatalGaps: [String: String] {
        if self == .urlSession {
            return [
                "secure/late-bytes": "What comes over an idle connection is the next answer, by http at least.",
                "secure/late-end": "On a kept connection that dies, a call with a body hangs until its deadline.",
                "secure/unannounced-end": "Not tried with URLSession yet.",
            ]
        }
        guard isHTTPClient else { return [:] }
        return [
            "http2/early-answer": "HTTPClient's handler of HTTP/2 unwraps nil when the answer ends before the request.",
            "secure/late-bytes": "HTTPClient takes bytes on an idle connection for the next response, by http at least.",
            "secure/late-end": "HTTPClient may use a connection that the server has closed, by http at least.",
            "secure/unannounced-end": "Not tried with HTTPClient yet.",
        ]
    }

    /// Makes the engine use a proxy; `nil` if it has no proxy setting.
    fileprivate var proxied: (@Sendable (URL) throws -> any Transport)? {
        switch self {
        case .curl:
            return { proxy in
                var configuration = CurlTransport.Configuration()
                configuration.proxy = .url(proxy)
                return try CurlTransport(configuration: configuration)
            }
        case .urlSession: return nil
        #if AsyncHTTPClient
        case .asyncHTTPClient: return { AsyncHTTPClientTransport(try HTTPClients.client(through: $0)) }
        #endif
        }
    }

    #if AsyncHTTPClient
    private static let lackingOfHTTPClient: TransportCapabilities = [
        .proxyAuthentication, .connectDeadlines, .pinning, .clientCertificates, .clientCertificatesInPEM, .ownCertificateAuthorities,
        .minimumTLSVersion,
        .metrics,
    ]
    #endif
}

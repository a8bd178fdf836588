import Foundation
import TestSupport
import Testing
import TransportConformance
import WebServiceClient
import WebServiceTesting

/// The cases on trust, HTTP/2 and proxies detect transports that don't meet their demands. No server is called here.
@Suite struct ServerCasesTests {
    /// A transport that answers every request with a closure.
    private struct Answering: Transport {
        var capabilities: TransportCapabilities = []
        let answer: @Sendable (ServiceRequest) async throws -> TransportResponse

        func send(_ request: ServiceRequest) async throws -> TransportResponse { try await answer(request) }
    }

    private static let able: TransportCapabilities = [
        .pinning, .clientCertificates, .clientCertificatesInPEM, .ownCertificateAuthorities, .minimumTLSVersion, .http2,
        .proxyAuthentication, .metrics, .ipv6Literals, .connectDeadlines,
    ]

    /// Servers at a port that must not be called.
    private static func servers() throws -> ConformanceServers {
        let url = try #require(URL(string: "https://127.0.0.1:9/"))
        let certificate = try SampleCertificate.certificate()
        var servers = ConformanceServers(secure: url, chain: [certificate, certificate], otherAuthority: certificate)
        for path in [
            \ConformanceServers.expired, \.notYetValid, \.otherHost, \.unknownIssuer, \.selfSigned, \.incomplete, \.oldTLS,
            \.wantingIdentity, \.echo, \.answeringEarly,
        ] {
            servers[keyPath: path] = url
        }
        let identity = try ClientIdentity.pem(chain: Data(SampleCertificate.pem.utf8), key: Data(SampleCertificate.key.utf8))
        for path in [\ConformanceServers.identity, \.identityInPEM, \.otherIdentity, \.lockedIdentity, \.mismatchedIdentity] {
            servers[keyPath: path] = identity
        }
        servers.proxy = URL(string: "http://127.0.0.1:9")
        servers.challengingProxy = servers.proxy
        servers.proxyCredentials = "Basic c2VjcmV0"
        return servers
    }

    private static let cases = TransportConformance.cases.filter { item in
        ["trust", "pins", "identities", "http2", "proxies", "tunnels"].contains { item.name.hasPrefix($0 + "/") }
    }

    private static func outcomes(
        _ capabilities: TransportCapabilities = able, servers: ConformanceServers?, isProxied: Bool = true,
        _ answer: @escaping @Sendable (ServiceRequest) async throws -> TransportResponse
    ) async -> ConformanceReport {
        let transport = Answering(capabilities: capabilities, answer: answer)
        return await TransportConformance(
            cases: cases, servers: servers, limit: .seconds(60), proxied: isProxied ? { @Sendable _ in transport } : nil
        ) { transport }.run()
    }

    private static let yes: @Sendable (ServiceRequest) async throws -> TransportResponse = { TransportResponse(status: 200, url: $0.url) }

    @Test func `a transport that lets everybody pass is found out`() async throws {
        let passed = await Self.outcomes(servers: try Self.servers(), Self.yes).passed.map(\.conformanceCase.name)
        // It meets the demands for an answer of 200.
        #expect(
            passed == [
                "trust/right", "pins/chain", "pins/backup", "pins/other-host", "identities/pkcs12", "identities/pem", "identities/unasked",
                "proxies/none", "tunnels/credentials",
            ], "\(passed)")
    }

    @Test func `a transport that lets nobody pass is found out`() async throws {
        let report = await Self.outcomes(servers: try Self.servers()) { request in
            throw TransportError(.tls, "No connection to \(request.url.host() ?? "").")
        }
        // It declares all capabilities that a policy can require, and refuses nothing as unsupported.
        #expect(report.passed.map(\.conformanceCase.name) == ["trust/undeclared", "tunnels/no-tls"])
    }

    @Test func `a transport that cuts policies down is found out`() async throws {
        let report = await Self.outcomes([], servers: nil, Self.yes)
        let outcome = report.entries.first { $0.conformanceCase.name == "trust/undeclared" }?.outcome
        guard case .failed(let sentence) = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        #expect(sentence.contains("unsupported") && sentence.contains("status 200"))
    }

    @Test func `what lacks is named: the servers, one of them, a way to a proxy`() async throws {
        let none = await Self.outcomes(servers: nil, isProxied: false, Self.yes)
        #expect(!none.skipped.isEmpty)
        for entry in none.entries where entry.outcome != .passed {
            // These need no servers.
            guard !["pins/plain", "trust/undeclared", "trust/faulty"].contains(entry.conformanceCase.name) else { continue }
            guard case .skipped(let reason) = entry.outcome else {
                Issue.record("\(entry.conformanceCase): \(entry.outcome)")
                continue
            }
            #expect(["ConformanceServers", "`proxied`"].contains(where: reason.contains), "\(reason)")
        }
        var few = try Self.servers()
        few.notYetValid = nil
        let report = await Self.outcomes(servers: few, Self.yes)
        let outcome = report.entries.first { $0.conformanceCase.name == "trust/not-yet-valid" }?.outcome
        #expect(outcome == .skipped("The TLS servers lack ConformanceServers.notYetValid."))
    }

    @Test func `the servers show no credentials`() throws {
        let servers = try Self.servers()
        var dumped = ""
        dump(servers, to: &dumped)
        for text in ["\(servers)", String(reflecting: servers), dumped] {
            #expect(text.contains("127.0.0.1:9") && !text.contains("c2VjcmV0"), "\(text)")
        }
    }
}

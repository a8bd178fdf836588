import Foundation
import WebServiceClient

/// Whom a secure connection trusts, and how its faults are told apart.
enum TrustCases {
    static let all =
        [
            ConformanceCase(
                "trust/right", "A server is answered for whom the trusted authority vouches, by way of another one.", run: right),
            ConformanceCase(
                "trust/other-authority", "Where other authorities only are trusted, the issuer is unknown.",
                needing: .ownCertificateAuthorities, run: otherAuthority),
            ConformanceCase(
                "trust/added", "Authorities can be trusted beside the system's.", needing: .ownCertificateAuthorities, run: added),
            ConformanceCase(
                "trust/apart", "A connection that one policy lets be made isn't used for another one.",
                needing: .ownCertificateAuthorities, run: apart),
            ConformanceCase(
                "trust/minimum-version", "Below the minimum version of TLS there is no connection.", needing: .minimumTLSVersion,
                run: minimumVersion),
            ConformanceCase(
                "trust/undeclared", "A policy that needs a capability which isn't declared is refused, and never cut down.", run: undeclared
            ),
        ] + faults

    private static let faults = [
        fault("expired", .certificateExpired, \.expired, "expired", "The certificate isn't valid any more: certificateExpired."),
        fault(
            "not-yet-valid", .certificateNotYetValid, \.notYetValid, "notYetValid",
            "The certificate isn't valid yet: certificateNotYetValid."),
        fault(
            "other-host", .certificateForOtherHost, \.otherHost, "otherHost",
            "The certificate is for another host: certificateForOtherHost."),
        fault(
            "unknown-issuer", .unknownIssuer, \.unknownIssuer, "unknownIssuer",
            "Nobody who is trusted vouches for the certificate: unknownIssuer."),
        fault("self-signed", .unknownIssuer, \.selfSigned, "selfSigned", "The certificate vouches for itself: unknownIssuer."),
        fault(
            "incomplete", .unknownIssuer, \.incomplete, "incomplete",
            "A certificate between the server's and the root is missing: unknownIssuer."),
    ]

    private static func fault(
        _ name: String, _ code: TransportError.Code, _ server: any KeyPath<ConformanceServers, URL?> & Sendable, _ property: String,
        _ demand: String
    ) -> ConformanceCase {
        ConformanceCase("trust/\(name)", demand) { subject in
            let url = try subject.need(server, property)
            // Twice: what has failed once isn't known to be good.
            for attempt in 1...2 { try await subject.expectRefusal(code, of: try subject.request(url), "Attempt \(attempt)") }
        }
    }

    @Sendable private static func right(_ subject: ConformanceSubject) async throws {
        let url = try subject.needServers().secure
        for attempt in 1...2 { try await subject.expectAnswer(to: try subject.request(url), "Request \(attempt)") }
    }

    @Sendable private static func otherAuthority(_ subject: ConformanceSubject) async throws {
        let servers = try subject.needServers()
        let other = try subject.request(servers.secure) { $0.authorities = .only([servers.otherAuthority]) }
        try await subject.expectRefusal(.unknownIssuer, of: other)
    }

    @Sendable private static func added(_ subject: ConformanceSubject) async throws {
        let servers = try subject.needServers()
        let added = try subject.request(servers.secure) { $0.authorities = .system(adding: Array(servers.chain.suffix(1))) }
        try await subject.expectAnswer(to: added)
        // Where the system itself trusts them, nothing else is to be seen.
        guard (try? await subject.exchange(ServiceRequest(url: servers.secure))) == nil else { return }
        let other = try subject.request(servers.secure) { $0.authorities = .system(adding: [servers.otherAuthority]) }
        try await subject.expectRefusal(.unknownIssuer, of: other, "With another authority")
    }

    @Sendable private static func apart(_ subject: ConformanceSubject) async throws {
        let servers = try subject.needServers()
        let other = try subject.request(servers.secure) { $0.authorities = .only([servers.otherAuthority]) }
        for _ in 0..<2 {
            try await subject.expectAnswer(to: try subject.request(servers.secure))
            try await subject.expectRefusal(.unknownIssuer, of: other, "Where a connection of the right authority is open")
        }
    }

    @Sendable private static func minimumVersion(_ subject: ConformanceSubject) async throws {
        let url = try subject.need(\.oldTLS, "oldTLS")
        try await subject.expectAnswer(to: try subject.request(url), "Without a minimum")
        try await subject.expectRefusal(.tls, of: try subject.request(url) { $0.minimumTLSVersion = .tlsv13 }, "TLS 1.3 at least")
    }

    @Sendable private static func undeclared(_ subject: ConformanceSubject) async throws {
        var policies: [TrustPolicy] = []
        let pin: PinSet = [.publicKey(sha256: Data(repeating: 1, count: 32).base64EncodedString())]
        policies.append(TrustPolicy(pins: ["127.0.0.1": pin]))
        policies.append(TrustPolicy(minimumTLSVersion: .tlsv13))
        if let servers = subject.servers {
            policies.append(TrustPolicy(authorities: .only([servers.otherAuthority])))
            policies += [servers.identity, servers.identityInPEM].compactMap { $0 }.map { TrustPolicy(identity: $0) }
        }
        let refused = policies.filter { !$0.requiredCapabilities.isSubset(of: subject.transport.capabilities) }
        guard !refused.isEmpty else { throw ConformanceSkip("The transport declares all that these policies need.") }
        try await answering(with: .text("plain")) { server in
            guard let url = URL(string: "https://127.0.0.1:\(server.port)/") else { throw TestingFailure("There is no URL of the server") }
            for policy in refused {
                var request = ServiceRequest(url: url)
                request.trust = policy
                try await subject.expect(.unsupported, for: request, "With \(policy)")
            }
            try demand(server.connectionCount, is: 0, "The connections that were made")
        }
    }
}

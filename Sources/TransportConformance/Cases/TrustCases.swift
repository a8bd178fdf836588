import Foundation
import WebServiceClient
import WebServiceTesting

/// The trust of secure connections, and the codes of its failures.
enum TrustCases {
    static let all =
        [
            ConformanceCase(
                "trust/right", "A certificate that chains to the trusted authority through an intermediate is trusted.", run: right),
            ConformanceCase(
                "trust/other-authority", "If only other authorities are trusted, the issuer is unknown.",
                needing: .ownCertificateAuthorities, run: otherAuthority),
            ConformanceCase(
                "trust/added", "Authorities can be added to the system's.", needing: .ownCertificateAuthorities, run: added),
            ConformanceCase(
                "trust/apart", "A connection made under one policy isn't reused under another.",
                needing: .ownCertificateAuthorities, run: apart),
            ConformanceCase(
                "trust/minimum-version", "Connections below the minimum TLS version fail, others succeed.",
                needing: .minimumTLSVersion,
                run: minimumVersion),
            ConformanceCase("trust/faults", "Nothing is sent to a server with any of these faults.", run: nothingSent),
            ConformanceCase("trust/metrics", "Metrics include the TLS version and when TLS was ready.", needing: .metrics, run: metrics),
        ] + faults

    private static let faults = [
        fault("expired", .certificateExpired, \.expired, "expired", "The certificate has expired: certificateExpired."),
        fault(
            "not-yet-valid", .certificateNotYetValid, \.notYetValid, "notYetValid",
            "The certificate isn't valid yet: certificateNotYetValid."),
        fault(
            "other-host", .certificateForOtherHost, \.otherHost, "otherHost",
            "The certificate is for another host: certificateForOtherHost."),
        fault(
            "unknown-issuer", .unknownIssuer, \.unknownIssuer, "unknownIssuer",
            "No trusted authority issued the certificate: unknownIssuer."),
        fault("self-signed", .unknownIssuer, \.selfSigned, "selfSigned", "The certificate is self-signed: unknownIssuer."),
        fault(
            "incomplete", .unknownIssuer, \.incomplete, "incomplete",
            "An intermediate certificate is missing: unknownIssuer."),
    ]

    private static func fault(
        _ name: String, _ code: TransportError.Code, _ server: any KeyPath<ConformanceServers, URL?> & Sendable, _ property: String,
        _ demand: String
    ) -> ConformanceCase {
        ConformanceCase("trust/\(name)", demand) { subject in
            let url = try subject.need(server, property)
            // Twice: a failed check must not make the certificate trusted.
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
        let plain = ServiceRequest(url: servers.secure)
        let other = try subject.request(servers.secure) { $0.authorities = .system(adding: [servers.otherAuthority]) }
        let added = try subject.request(servers.secure) { $0.authorities = .system(adding: Array(servers.chain.suffix(1))) }
        // If the system itself trusts the root, every request succeeds.
        let isTrusted: Bool
        do {
            isTrusted = try await subject.exchange(plain).response.status == 200
        } catch let error as TransportError where error.code == .unknownIssuer {
            isTrusted = false
        }
        for _ in 0..<2 {
            try await subject.expectAnswer(to: added)
            guard !isTrusted else { throw ConformanceSkip("The system trusts the root of ConformanceServers.chain.") }
            try await subject.expectRefusal(.unknownIssuer, of: other, "With another authority, after one with the right one")
            try await subject.expectRefusal(.unknownIssuer, of: plain, "By the system's authorities, after one with the right one")
        }
    }

    @Sendable private static func apart(_ subject: ConformanceSubject) async throws {
        let servers = try subject.needServers()
        let other = try subject.request(servers.secure) { $0.authorities = .only([servers.otherAuthority]) }
        for _ in 0..<2 {
            try await subject.expectAnswer(to: try subject.request(servers.secure))
            try await subject.expectRefusal(.unknownIssuer, of: other, "With an open connection of the right authority")
        }
    }

    @Sendable private static func minimumVersion(_ subject: ConformanceSubject) async throws {
        let url = try subject.need(\.oldTLS, "oldTLS")
        let secure = try subject.needServers().secure
        try await subject.expectAnswer(to: try subject.request(url), "Without a minimum")
        for version in TLSVersion.allCases {
            try await subject.expectAnswer(to: try subject.request(secure) { $0.minimumTLSVersion = version }, "\(version) of both")
        }
        try await subject.expectAnswer(to: try subject.request(url) { $0.minimumTLSVersion = .tlsv12 }, "TLS 1.2 at least")
        try await subject.expectRefusal(.tls, of: try subject.request(url) { $0.minimumTLSVersion = .tlsv13 }, "TLS 1.3 at least")
    }

    /// Other cases demand the codes. An engine with one error for all faults may declare those as gaps, but must still refuse.
    @Sendable private static func nothingSent(_ subject: ConformanceSubject) async throws {
        let servers = try subject.needServers()
        let faulty = [
            servers.expired, servers.notYetValid, servers.otherHost, servers.unknownIssuer, servers.selfSigned, servers.incomplete,
        ].compactMap { $0 }
        guard !faulty.isEmpty else {
            throw ConformanceSkip("No TLS server has a fault, such as ConformanceServers.expired.")
        }
        try await subject.expectAnswer(to: try subject.request(servers.secure), "The server without a fault")
        for url in faulty {
            let sent = Locked<Int64>(0)
            var request = try subject.request(url, .post, body: .pieces(of: ConformanceBytes.make(100_000), by: 10_000))
            request.uploadProgress = { progress in sent.withLock { $0 = progress.completed } }
            do {
                let (response, _) = try await subject.exchange(request)
                throw TestingFailure("\(url) was accepted, with status \(response.status)")
            } catch let error as TransportError {
                try demand(error.isTrustFailure, "\(url): \(error) doesn't count as a failure of trust")
                try demand(error.message.contains(url.host() ?? ""), "The message “\(error.message)” doesn't name the host")
            }
            try demand(sent.withLock { $0 }, is: 0, "The bytes sent to \(url)")
        }
    }

    @Sendable private static func metrics(_ subject: ConformanceSubject) async throws {
        let response = try await subject.expectAnswer(to: try subject.request(try subject.needServers().secure))
        guard let metrics = response.report?.metrics else { throw TestingFailure("The response has no report") }
        try demand(metrics.tlsVersion?.hasPrefix("TLSv1.") == true, "The version of TLS: \(metrics.tlsVersion ?? "none")")
        guard let ready = metrics.secureConnect, let first = metrics.firstByte else {
            throw TestingFailure("Expected the times until TLS was ready and until the first byte, found \(metrics)")
        }
        try demand(metrics.connect ?? .zero <= ready && ready <= first && ready > .zero, "Expected rising times, found \(metrics)")
    }
}

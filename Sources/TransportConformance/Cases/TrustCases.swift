import Foundation
import WebServiceClient
import WebServiceTesting

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
                "trust/minimum-version", "Below the minimum version of TLS there is no connection, from it on there is one.",
                needing: .minimumTLSVersion,
                run: minimumVersion),
            ConformanceCase("trust/faults", "None of these faults lets anything of a request out, whatever the error.", run: nothingSent),
            ConformanceCase("trust/metrics", "Metrics tell of TLS: its version, and when it was ready.", needing: .metrics, run: metrics),
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
        let plain = ServiceRequest(url: servers.secure)
        let other = try subject.request(servers.secure) { $0.authorities = .system(adding: [servers.otherAuthority]) }
        let added = try subject.request(servers.secure) { $0.authorities = .system(adding: Array(servers.chain.suffix(1))) }
        // Where the system itself trusts the root, everything is answered.
        let isTrusted: Bool
        do {
            isTrusted = try await subject.exchange(plain).response.status == 200
        } catch let error as TransportError where error.code == .unknownIssuer {
            isTrusted = false
        }
        for _ in 0..<2 {
            try await subject.expectAnswer(to: added)
            guard !isTrusted else { throw ConformanceSkip("The system itself trusts the root of ConformanceServers.chain.") }
            try await subject.expectRefusal(.unknownIssuer, of: other, "With another authority, after one with the right one")
            try await subject.expectRefusal(.unknownIssuer, of: plain, "By the system's authorities, after one with the right one")
        }
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
        let secure = try subject.needServers().secure
        try await subject.expectAnswer(to: try subject.request(url), "Without a minimum")
        for version in TLSVersion.allCases {
            try await subject.expectAnswer(to: try subject.request(secure) { $0.minimumTLSVersion = version }, "\(version) of both")
        }
        try await subject.expectAnswer(to: try subject.request(url) { $0.minimumTLSVersion = .tlsv12 }, "TLS 1.2 at least")
        try await subject.expectRefusal(.tls, of: try subject.request(url) { $0.minimumTLSVersion = .tlsv13 }, "TLS 1.3 at least")
    }

    /// The codes are those of other cases, which an engine that has one error for all may declare as gaps: it must refuse all the same.
    @Sendable private static func nothingSent(_ subject: ConformanceSubject) async throws {
        let servers = try subject.needServers()
        let faulty = [
            servers.expired, servers.notYetValid, servers.otherHost, servers.unknownIssuer, servers.selfSigned, servers.incomplete,
        ].compactMap { $0 }
        guard !faulty.isEmpty else {
            throw ConformanceSkip("The servers that speak TLS have no fault, such as ConformanceServers.expired.")
        }
        try await subject.expectAnswer(to: try subject.request(servers.secure), "The server without a fault")
        for url in faulty {
            let sent = Locked<Int64>(0)
            var request = try subject.request(url, .post, body: .pieces(of: ConformanceBytes.make(100_000), by: 10_000))
            request.uploadProgress = { progress in sent.withLock { $0 = progress.completed } }
            do {
                let (response, _) = try await subject.exchange(request)
                throw TestingFailure("\(url) was let pass, with status \(response.status)")
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

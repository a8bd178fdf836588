import Foundation
import WebServiceClient
import WebServiceTesting

/// Client certificates.
enum IdentityCases {
    static let all = [
        ConformanceCase("identities/pkcs12", "An identity in PKCS#12 is presented.", needing: .clientCertificates) { subject in
            try await shown(subject, try subject.need(\.identity, "identity"))
        },
        ConformanceCase(
            "identities/pem", "An identity in PEM is presented.", needing: [.clientCertificates, .clientCertificatesInPEM]
        ) { subject in
            try await shown(subject, try subject.need(\.identityInPEM, "identityInPEM"))
        },
        ConformanceCase(
            "identities/none", "Without an identity, the server refuses with a response, or the error is clientCertificate.",
            needing: .clientCertificates
        ) { subject in
            try await refused(subject, nil)
        },
        ConformanceCase(
            "identities/other", "The server refuses another authority's identity, too.", needing: .clientCertificates
        ) { subject in
            try await refused(subject, try subject.need(\.otherIdentity, "otherIdentity"))
        },
        ConformanceCase(
            "identities/locked", "A wrong passphrase is clientCertificate, and the error doesn't contain it.",
            needing: .clientCertificates, run: locked),
        ConformanceCase(
            "identities/mismatched", "A key of another certificate is clientCertificate, and the error doesn't contain it.",
            needing: [.clientCertificates, .clientCertificatesInPEM], run: mismatched),
        ConformanceCase(
            "identities/apart", "A connection made with an identity isn't reused without it or with another one.",
            needing: .clientCertificates,
            run: apart),
        ConformanceCase(
            "identities/locked-apart", "A connection made with an identity isn't reused for one that can't be opened.",
            needing: .clientCertificates, run: lockedApart),
        ConformanceCase(
            "identities/unasked", "A server that requests no certificate works as well.", needing: .clientCertificates,
            run: unasked),
    ]

    private static func request(_ subject: ConformanceSubject, _ identity: ClientIdentity?) throws -> ServiceRequest {
        try subject.request(try subject.need(\.wantingIdentity, "wantingIdentity")) { $0.identity = identity }
    }

    private static func shown(_ subject: ConformanceSubject, _ identity: ClientIdentity) async throws {
        for attempt in 1...2 { try await subject.expectAnswer(to: try request(subject, identity), "Request \(attempt)") }
    }

    private static func refused(_ subject: ConformanceSubject, _ identity: ClientIdentity?, _ what: String = "The exchange") async throws {
        do {
            let (response, _) = try await subject.exchange(try request(subject, identity))
            try demand(response.status >= 400, "\(what): the server accepted an unknown client, with status \(response.status)")
        } catch let error as TransportError {
            // In TLS 1.3 the server refuses the client after the handshake, and an engine may see only the connection's end.
            try demand([.clientCertificate, .connectionLost].contains(error.code), "\(what): expected clientCertificate, found \(error)")
        }
    }

    @Sendable private static func locked(_ subject: ConformanceSubject) async throws {
        let identity = try subject.need(\.lockedIdentity, "lockedIdentity")
        let error = try await subject.expect(.clientCertificate, for: try request(subject, identity))
        try demand(!"\(error) \(String(reflecting: error.underlying))".contains("wrong-passphrase"), "The error contains the passphrase")
    }

    @Sendable private static func mismatched(_ subject: ConformanceSubject) async throws {
        let identity = try subject.need(\.mismatchedIdentity, "mismatchedIdentity")
        guard case .pem(_, let key) = identity.content else { throw TestingFailure("ConformanceServers.mismatchedIdentity isn't in PEM") }
        // Alone, and with an open connection that uses the right key of these certificates.
        for isOpen in [false, true] {
            if isOpen { try await shown(subject, try subject.need(\.identityInPEM, "identityInPEM")) }
            let error = try await subject.expect(.clientCertificate, for: try request(subject, identity))
            let text = "\(error) \(String(reflecting: error.underlying))"
            for line in String(decoding: key, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("-----") {
                try demand(!text.contains(line), "The error contains parts of the key")
            }
        }
    }

    @Sendable private static func lockedApart(_ subject: ConformanceSubject) async throws {
        let (identity, locked) = (try subject.need(\.identity, "identity"), try subject.need(\.lockedIdentity, "lockedIdentity"))
        for _ in 0..<2 {
            try await shown(subject, identity)
            try await subject.expect(.clientCertificate, for: try request(subject, locked), "With an open connection that uses it")
        }
    }

    @Sendable private static func apart(_ subject: ConformanceSubject) async throws {
        let identity = try subject.need(\.identity, "identity")
        for _ in 0..<2 {
            try await shown(subject, identity)
            try await refused(subject, nil, "With an open connection that has an identity")
            guard let other = subject.servers?.otherIdentity else { continue }
            try await refused(subject, other, "With another one, while a connection with an identity is open")
        }
    }

    @Sendable private static func unasked(_ subject: ConformanceSubject) async throws {
        let (url, identity) = (try subject.needServers().secure, try subject.need(\.identity, "identity"))
        try await subject.expectAnswer(to: try subject.request(url) { $0.identity = identity })
    }
}

import Foundation
import WebServiceClient
import WebServiceTesting

/// Trust policies that can't be enforced: they are refused, and never weakened.
enum PolicyCases {
    static let all = [
        ConformanceCase(
            "trust/undeclared",
            "A policy that needs an undeclared capability is refused as unsupported, without a connection; others aren't.",
            run: undeclared),
        ConformanceCase("trust/faulty", "A policy that no server can meet is refused without a connection.", run: faulty),
    ]

    @Sendable private static func undeclared(_ subject: ConformanceSubject) async throws {
        let identity = try ClientIdentity.pkcs12(Data([0x30, 0x06, 0x02, 0x01, 0x03, 0x30, 0x00, 0x00]), passphrase: "hidden")
        try await speakingNoTLS { server, url in
            for policy in [
                TrustPolicy(authorities: .only([try .conformance()])), TrustPolicy(authorities: .system(adding: [try .conformance()])),
                TrustPolicy(identity: identity), TrustPolicy(pins: ["127.0.0.1": [.conformance]]),
                TrustPolicy(minimumTLSVersion: .tlsv13),
            ] {
                let needed = policy.requiredCapabilities
                let isDeclared = needed.isSubset(of: subject.transport.capabilities)
                let before = server.connectionCount
                var request = ServiceRequest(url: url)
                request.trust = policy
                let error = try await failure(of: request, subject, isDeclared ? "no TLS" : "the error unsupported")
                try demand(!"\(error)".contains("hidden"), "With \(policy): the error contains the passphrase")
                // A declared policy fails at the handshake, or at the invalid identity.
                try demand(
                    (error.code == .unsupported) != isDeclared,
                    "\(isDeclared ? "Declared" : "Not declared"): \(needed.descriptions.joined(separator: ", ")). With \(policy): \(error)")
                if !isDeclared { try demand(server.connectionCount, is: before, "With \(policy): the connections") }
            }
        }
    }

    @Sendable private static func faulty(_ subject: ConformanceSubject) async throws {
        try await speakingNoTLS { server, url in
            for policy in [
                TrustPolicy(authorities: .only([])), TrustPolicy(pins: ["127.0.0.1": []]),
                TrustPolicy(pins: ["127.0.0.1": [.publicKey(sha256: "no hash")]]),
            ] {
                var request = ServiceRequest(url: url)
                request.trust = policy
                try await subject.expect(.badRequest, .unsupported, for: request, "With \(policy)")
            }
            try demand(server.connectionCount, is: 0, "The connections")
        }
    }

    /// Runs a body with a server without TLS and an `https` URL for it, so that no handshake can succeed.
    private static func speakingNoTLS(_ body: (LoopbackServer, URL) async throws -> Void) async throws {
        try await answering(with: .text("plain")) { server in
            guard let url = URL(string: "https://127.0.0.1:\(server.port)/") else { throw TestingFailure("The server has no URL") }
            try await body(server, url)
        }
    }

    private static func failure(
        of request: ServiceRequest, _ subject: ConformanceSubject, _ expected: String
    ) async throws -> TransportError {
        do {
            let (response, _) = try await subject.exchange(request)
            let policy = request.trust.map { " with \($0)" } ?? ""
            throw TestingFailure("Expected \(expected)\(policy), found status \(response.status)")
        } catch let error as TransportError {
            return error
        }
    }
}

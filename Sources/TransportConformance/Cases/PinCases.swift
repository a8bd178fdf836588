import Foundation
import WebServiceClient
import WebServiceTesting

/// Pins are checked in addition to certificates, and report the certificates seen.
enum PinCases {
    static let all = [
        ConformanceCase("pins/chain", "A pin of any certificate of the chain, or of its key, matches.", needing: .pinning, run: chain),
        ConformanceCase("pins/backup", "One of several pins is enough.", needing: .pinning, run: backup),
        ConformanceCase(
            "pins/wrong", "Without a match nothing is sent, and pinMismatch contains the pins seen.", needing: .pinning, run: wrong),
        ConformanceCase("pins/on-top", "A matching pin doesn't make a bad certificate valid.", needing: .pinning, run: onTop),
        ConformanceCase("pins/other-host", "Pins apply to their host only.", needing: .pinning, run: otherHost),
        ConformanceCase(
            "pins/apart", "A connection made without pins, or with others, isn't reused unchecked.", needing: .pinning, run: apart),
        ConformanceCase(
            "pins/plain", "A request without TLS to a pinned host is badRequest, and nothing is sent.", needing: .pinning, run: plain),
    ]

    /// Returns a request to the secure server with pins for its host.
    private static func request(_ subject: ConformanceSubject, _ pins: PinSet) throws -> ServiceRequest {
        let url = try subject.needServers().secure
        let host = try host(of: url)
        return try subject.request(url) { $0.pins = [host: pins] }
    }

    private static func host(of url: URL) throws -> HostPattern {
        guard let host = url.host() else { throw TestingFailure("\(url) has no host") }
        return HostPattern(stringLiteral: host)
    }

    @Sendable private static func chain(_ subject: ConformanceSubject) async throws {
        for certificate in try subject.needServers().chain {
            for pin in [CertificatePin.publicKey(of: certificate), .certificate(certificate)] {
                try await subject.expectAnswer(to: try request(subject, [pin]), "With the pin \(pin)")
            }
        }
    }

    @Sendable private static func backup(_ subject: ConformanceSubject) async throws {
        let servers = try subject.needServers()
        guard let own = servers.chain.first else { throw TestingFailure("ConformanceServers.chain is empty") }
        try await subject.expectAnswer(to: try request(subject, [.publicKey(of: servers.otherAuthority), .publicKey(of: own)]))
    }

    @Sendable private static func wrong(_ subject: ConformanceSubject) async throws {
        let servers = try subject.needServers()
        let sent = Locked<Int64>(0)
        var refused = try request(subject, [.publicKey(of: servers.otherAuthority), .certificate(servers.otherAuthority)])
        refused.method = .post
        refused.body = .pieces(of: ConformanceBytes.make(100_000), by: 10_000)
        refused.uploadProgress = { progress in sent.withLock { $0 = progress.completed } }
        let error = try await subject.expectRefusal(.pinMismatch, of: refused)
        guard let mismatch = error.underlying as? PinMismatch else {
            throw TestingFailure("Expected PinMismatch as the underlying error, found \(String(describing: error.underlying))")
        }
        try demand(mismatch.seen.map(\.publicKeyPin), is: servers.chain.map(\.publicKeyPin), "The pins that were seen")
        try demand(mismatch.expected.count, is: 2, "The pins that were expected")
        try demand(sent.withLock { $0 }, is: 0, "The bytes that were sent")
        // A request with a pin that was seen must succeed.
        guard let seen = mismatch.seen.first else { throw TestingFailure("No certificate was seen") }
        try await subject.expectAnswer(to: try request(subject, [.publicKey(sha256: seen.publicKeyPin)]), "With the pin that was seen")
    }

    @Sendable private static func onTop(_ subject: ConformanceSubject) async throws {
        let url = try subject.need(\.expired, "expired")
        let (host, chain) = (try host(of: url), try subject.needServers().chain)
        let pins = PinSet(chain.map { .publicKey(of: $0) })
        try await subject.expectRefusal(.certificateExpired, of: try subject.request(url) { $0.pins = [host: pins] })
    }

    @Sendable private static func otherHost(_ subject: ConformanceSubject) async throws {
        let servers = try subject.needServers()
        let other: PinSet = [.publicKey(of: servers.otherAuthority)]
        try await subject.expectAnswer(to: try subject.request(servers.secure) { $0.pins = ["other.example": other] })
    }

    @Sendable private static func apart(_ subject: ConformanceSubject) async throws {
        let servers = try subject.needServers()
        let (wrong, right) = (PinSet([.publicKey(of: servers.otherAuthority)]), PinSet(servers.chain.map { .publicKey(of: $0) }))
        for _ in 0..<2 {
            try await subject.expectAnswer(to: try subject.request(servers.secure), "Without pins")
            try await subject.expectRefusal(.pinMismatch, of: try request(subject, wrong), "With an open connection without pins")
            try await subject.expectAnswer(to: try request(subject, right), "With the right pins")
            try await subject.expectRefusal(.pinMismatch, of: try request(subject, wrong), "With an open connection with right pins")
        }
    }

    @Sendable private static func plain(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("plain")) { server in
            var request = try server.request()
            request.trust = TrustPolicy(pins: ["127.0.0.1": [.conformance]])
            try await subject.expect(.badRequest, for: request)
            try demand(server.requests.count, is: 0, "The requests that reached the server")
            request.trust = TrustPolicy(pins: ["other.example": [.conformance]])
            try await subject.expect(200, "plain", for: request, "With pins of another host")
        }
    }
}

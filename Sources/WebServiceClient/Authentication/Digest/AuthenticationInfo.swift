/// What a server adds to the answer to an authorized request (RFC 7615; for Digest RFC 7616 §3.5): `Authentication-Info`, or a
/// proxy's `Proxy-Authentication-Info`.
struct AuthenticationInfo: Hashable, Sendable {
    /// The nonce to be used from now on.
    let nextNonce: QuotedText?

    /// The server's digest of its answer.
    let proof: String?

    /// What the server's digest protects, if it says so.
    let quality: DigestQuality?

    private let clientNonce: String?
    private let nonceCount: String?

    /// What the field's lines say; what isn't theirs to say is left out.
    init(lines: [String]) {
        self.init(bytes: lines.map { Array($0.utf8) })
    }

    /// The same, of the lines' bytes as they came.
    init(bytes lines: [[UInt8]]) {
        let parameters = ChallengeScanner.parameters(in: lines)
        func parameter(_ name: String) -> AuthenticationChallenge.Parameter? { parameters.first { $0.name.lowercased() == name } }
        func value(_ name: String) -> String? { parameter(name)?.value }
        nextNonce = parameter("nextnonce").flatMap { !$0.value.isEmpty && QuotedString.canCarry($0.quoted) ? $0.quoted : nil }
        proof = value("rspauth")
        quality = value("qop").flatMap { DigestQuality(rawValue: $0.lowercased()) }
        clientNonce = value("cnonce")
        nonceCount = value("nc")
    }

    /// What the answer's digest protects: what the server says, else what the request's did.
    func quality(after exchange: DigestExchange) -> DigestQuality? {
        quality ?? exchange.quality
    }

    /// Throws ``AuthenticationError/Kind/serverNotProven`` if the server sent a digest and it isn't that of someone who knows the password.
    /// - Parameter bodyDigest: the digest of the answer's body, for `auth-int` only.
    func verify(_ exchange: DigestExchange, bodyDigest: String) throws(AuthenticationError) {
        guard let proof else { return }
        if let clientNonce, clientNonce != exchange.clientNonce {
            throw Self.failure("its cnonce isn't the one that was sent")
        }
        if let nonceCount, UInt32(nonceCount, radix: 16) != exchange.nonceCount {
            throw Self.failure("its nc isn't the one that was sent")
        }
        guard proof.lowercased() == exchange.proof(quality: quality(after: exchange), bodyDigest: bodyDigest) else {
            throw Self.failure("its rspauth is wrong")
        }
    }

    private static func failure(_ reason: String) -> AuthenticationError {
        AuthenticationError(
            .serverNotProven,
            message: """
                    The server failed to prove that it knows the password: it sent Authentication-Info, but \(reason). Somebody may be answering \
                    in its place or changing its answers; check the address, and prefer https.
                """)
    }
}

import Foundation

/// Writes the value of `Authorization` for Digest (RFC 7616 §3.4).
///
/// The RFC defines which parameters are quoted: all except `algorithm`, `qop`, `nc` and `userhash`; `username*` is an extended value.
enum DigestAuthorization {
    /// Returns the bytes of the field's value: UTF-8, except for the server's own bytes.
    /// - Parameters:
    ///   - response: The request's digest in hexadecimal digits.
    static func value(user: String, challenge: DigestChallenge, exchange: DigestExchange, response: String) -> [UInt8] {
        var value: [UInt8] = []
        func append(_ parameter: String, _ quoted: QuotedText? = nil) {
            value += Array((value.isEmpty ? "Digest " : ", ").utf8)
            value += Array(parameter.utf8)
            if let quoted { value += QuotedString.quoted(quoted) }
        }
        if challenge.hashesUserName {
            append("username=\"\(exchange.function.digest(of: Array(user.utf8), challenge.realm.bytes))\"")
        } else if needsExtendedValue(user, challenge) {
            append("username*=\(ExtendedValue.encoded(user))")
        } else {
            append("username=\(QuotedString.quoted(user))")
        }
        append("realm=", challenge.realm)
        append("uri=\(QuotedString.quoted(exchange.target))")
        if let name = challenge.algorithmName { append("algorithm=\(name)") }
        append("nonce=", exchange.nonce)
        if let quality = exchange.quality {
            append("nc=\(Hexadecimal.text(of: exchange.nonceCount))")
            append("cnonce=\(QuotedString.quoted(exchange.clientNonce))")
            append("qop=\(quality.rawValue)")
        }
        append("response=\"\(response)\"")
        if let opaque = challenge.opaque { append("opaque=", opaque) }
        if challenge.hashesUserName { append("userhash=true") }
        return value
    }

    /// Whether the name is sent as `username*`: it has characters that a quoted string can't contain, or characters beyond ASCII. Servers
    /// of RFC 2617 don't know `username*` and get UTF-8 bytes in the quoted string instead.
    private static func needsExtendedValue(_ user: String, _ challenge: DigestChallenge) -> Bool {
        guard QuotedString.canCarry(user) else { return true }
        let isOldServer = challenge.algorithm.function == .md5 && !challenge.announcesUTF8
        return !isOldServer && !user.utf8.allSatisfy { $0 < 0x80 }
    }
}

/// One use of a nonce: the inputs of the digests of a request and of the response to it (RFC 7616 §3.4 and §3.5).
struct DigestExchange: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let function: DigestAlgorithm.Function

    /// `H(A1)` in hexadecimal digits. It is equivalent to the password, so it is never shown.
    let sessionKey: String

    /// The server's nonce.
    let nonce: QuotedText

    /// The number of uses of the nonce, including this one.
    let nonceCount: UInt32

    /// The client's nonce.
    let clientNonce: String

    /// The protected parts; `nil` for servers of RFC 2069.
    let quality: DigestQuality?

    /// The request's target in its transmitted form: path and query.
    let target: String

    /// Returns the `response` of the request.
    /// - Parameter bodyDigest: The digest of the request's body, for `auth-int` only.
    func response(method: String, bodyDigest: String) -> String {
        digest(quality == .integrity ? function.digest(of: method, target, bodyDigest) : function.digest(of: method, target), quality)
    }

    /// Returns the `rspauth` of the response: like the request's digest, but without a method.
    /// - Parameters:
    ///   - quality: The parts that the response's digest protects.
    ///   - bodyDigest: The digest of the response's body, for `auth-int` only.
    func proof(quality: DigestQuality?, bodyDigest: String) -> String {
        digest(quality == .integrity ? function.digest(of: "", target, bodyDigest) : function.digest(of: "", target), quality)
    }

    private func digest(_ message: String, _ quality: DigestQuality?) -> String {
        let (key, message) = (Array(sessionKey.utf8), Array(message.utf8))
        guard let quality else { return function.digest(of: key, nonce.bytes, message) }
        let count = Array(Hexadecimal.text(of: nonceCount).utf8)
        return function.digest(of: key, nonce.bytes, count, Array(clientNonce.utf8), Array(quality.rawValue.utf8), message)
    }

    /// Returns `H(A1)` (RFC 7616 §3.4.2).
    /// - Parameters:
    ///   - nonce: The session's first server nonce; used only by `-sess` algorithms.
    ///   - clientNonce: The session's first client nonce; used only by `-sess` algorithms.
    static func sessionKey(
        algorithm: DigestAlgorithm, user: UserCredentials, realm: QuotedText, nonce: QuotedText, clientNonce: String
    ) -> String {
        let key = algorithm.function.digest(of: Array(user.name.utf8), realm.bytes, Array(user.password.utf8))
        return algorithm.isSession ? algorithm.function.digest(of: Array(key.utf8), nonce.bytes, Array(clientNonce.utf8)) : key
    }

    var description: String { "use \(nonceCount) of a nonce" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// The server's additions to the response to an authorized request (RFC 7615; for Digest RFC 7616 §3.5): `Authentication-Info`, or a
/// proxy's `Proxy-Authentication-Info`.
struct AuthenticationInfo: Hashable, Sendable {
    /// The next nonce to use.
    let nextNonce: QuotedText?

    /// The server's digest of its response.
    let proof: String?

    /// The parts that the server's digest protects, if specified.
    let quality: DigestQuality?

    private let clientNonce: String?
    private let nonceCount: String?

    /// Parses the field's lines, ignoring parameters that don't belong there.
    init(lines: [String]) {
        self.init(bytes: lines.map { Array($0.utf8) })
    }

    /// Parses the raw bytes of the field's lines.
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

    /// The parts that the response's digest protects: the server's specification, else the request's.
    func quality(after exchange: DigestExchange) -> DigestQuality? {
        quality ?? exchange.quality
    }

    /// Throws ``AuthenticationError/Kind/serverNotProven`` if the server sent a digest that doesn't prove knowledge of the password.
    /// - Parameter bodyDigest: The digest of the response's body, for `auth-int` only.
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
                The server failed to prove that it knows the password. It sent Authentication-Info, but \(reason). An attacker may \
                be answering in its place or changing its responses; check the address, and prefer https.
                """)
    }
}

/// Hashes bodies for `auth-int` (RFC 7616 §3.4.3) piece by piece, so that a file needn't fit into memory.
enum BodyDigest {
    /// Returns the digest of a request's body; of no bytes if there is none.
    /// - Throws: ``AuthenticationError`` if the body can be read only once.
    static func text(of body: RequestBody?, _ function: DigestAlgorithm.Function) async throws -> String {
        var hash = function.makeHash()
        guard let body else { return Hexadecimal.text(of: hash.finalize()) }
        guard body.isReplayable else {
            throw AuthenticationError(
                .bodyNotReplayable,
                message: """
                    The server requires a signed request body (Digest qop=auth-int), but this body is a stream that can be read only \
                    once: create the body from Data, from a file or from a replayable stream.
                    """)
        }
        for try await chunk in body.chunks() {
            try Task.checkCancellation()
            chunk.withUnsafeBytes { hash.update($0) }
        }
        return Hexadecimal.text(of: hash.finalize())
    }

    /// Returns the digest of bytes in memory.
    static func text(of data: Data, _ function: DigestAlgorithm.Function) -> String {
        var hash = function.makeHash()
        data.withUnsafeBytes { hash.update($0) }
        return Hexadecimal.text(of: hash.finalize())
    }
}

/// Creates client nonces (RFC 7616 §3.4, `cnonce`).
enum ClientNonce {
    /// Returns 128 bits of the system's secure random numbers as 32 hexadecimal digits.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return withUnsafeBytes(of: (generator.next() as UInt64, generator.next() as UInt64)) { Hexadecimal.text(of: Array($0)) }
    }
}

/// One use of a nonce: everything that goes into the digest of a request and of the answer to it (RFC 7616 §3.4 and §3.5).
struct DigestExchange: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let function: DigestAlgorithm.Function

    /// `H(A1)` in hexadecimal digits: as good as the password, so it doesn't show anywhere.
    let sessionKey: String

    /// The server's nonce.
    let nonce: QuotedText

    /// How often the nonce has been used, this time included.
    let nonceCount: UInt32

    /// Our own nonce.
    let clientNonce: String

    /// What is protected. Nil for servers of RFC 2069.
    let quality: DigestQuality?

    /// The request's target as it is sent: path and query.
    let target: String

    /// `response` of the request.
    /// - Parameter bodyDigest: the digest of the request's body, for `auth-int` only.
    func response(method: String, bodyDigest: String) -> String {
        digest(quality == .integrity ? function.digest(of: method, target, bodyDigest) : function.digest(of: method, target), quality)
    }

    /// `rspauth` of the answer: like the request's digest with no method.
    /// - Parameters:
    ///   - quality: what the answer's digest protects.
    ///   - bodyDigest: the digest of the answer's body, for `auth-int` only.
    func proof(quality: DigestQuality?, bodyDigest: String) -> String {
        digest(quality == .integrity ? function.digest(of: "", target, bodyDigest) : function.digest(of: "", target), quality)
    }

    private func digest(_ message: String, _ quality: DigestQuality?) -> String {
        let (key, message) = (Array(sessionKey.utf8), Array(message.utf8))
        guard let quality else { return function.digest(of: key, nonce.bytes, message) }
        let count = Array(Hexadecimal.text(of: nonceCount).utf8)
        return function.digest(of: key, nonce.bytes, count, Array(clientNonce.utf8), Array(quality.rawValue.utf8), message)
    }

    /// `H(A1)` (RFC 7616 §3.4.2).
    /// - Parameters:
    ///   - nonce: the session's first nonce; used by `-sess` algorithms only.
    ///   - clientNonce: the session's first nonce of ours; used by `-sess` algorithms only.
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

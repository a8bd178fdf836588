/// Writes the value of `Authorization` for Digest (RFC 7616 §3.4).
///
/// Which parameters are quoted isn't ours to choose: `algorithm`, `qop`, `nc` and `userhash` are not, `username*` is an extended value,
/// all others are.
enum DigestAuthorization {
    /// The field's value.
    /// - Parameters:
    ///   - response: the request's digest in hexadecimal digits.
    static func value(user: String, challenge: DigestChallenge, exchange: DigestExchange, response: String) -> String {
        var parameters: [String] = []
        if challenge.hashesUserName {
            parameters.append("username=\"\(exchange.function.digest(of: user, challenge.realm))\"")
        } else if needsExtendedValue(user, challenge) {
            parameters.append("username*=\(ExtendedValue.encoded(user))")
        } else {
            parameters.append("username=\(QuotedString.quoted(user))")
        }
        parameters.append("realm=\(QuotedString.quoted(challenge.realm))")
        parameters.append("uri=\(QuotedString.quoted(exchange.target))")
        if let name = challenge.algorithmName { parameters.append("algorithm=\(name)") }
        parameters.append("nonce=\(QuotedString.quoted(exchange.nonce))")
        if let quality = exchange.quality {
            parameters.append("nc=\(Hexadecimal.text(of: exchange.nonceCount))")
            parameters.append("cnonce=\(QuotedString.quoted(exchange.clientNonce))")
            parameters.append("qop=\(quality.rawValue)")
        }
        parameters.append("response=\"\(response)\"")
        if let opaque = challenge.opaque { parameters.append("opaque=\(QuotedString.quoted(opaque))") }
        if challenge.hashesUserName { parameters.append("userhash=true") }
        return "Digest " + parameters.joined(separator: ", ")
    }

    /// Names with characters that no quoted string holds go as `username*`. So do names beyond ASCII, unless the server's challenge is
    /// one of RFC 2617: such servers don't know `username*`, and take the UTF-8 bytes in the quoted string.
    private static func needsExtendedValue(_ user: String, _ challenge: DigestChallenge) -> Bool {
        guard QuotedString.canCarry(user) else { return true }
        let isOldServer = challenge.algorithm.function == .md5 && !challenge.announcesUTF8
        return !isOldServer && !user.utf8.allSatisfy { $0 < 0x80 }
    }
}

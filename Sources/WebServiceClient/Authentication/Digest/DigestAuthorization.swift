/// Writes the value of `Authorization` for Digest (RFC 7616 §3.4).
///
/// Which parameters are quoted isn't ours to choose: `algorithm`, `qop`, `nc` and `userhash` are not, `username*` is an extended value,
/// all others are.
enum DigestAuthorization {
    /// The bytes of the field's value: UTF-8, but for what the server sent otherwise.
    /// - Parameters:
    ///   - response: the request's digest in hexadecimal digits.
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

    /// Names with characters that no quoted string holds go as `username*`. So do names beyond ASCII, unless the server's challenge is
    /// one of RFC 2617: such servers don't know `username*`, and take the UTF-8 bytes in the quoted string.
    private static func needsExtendedValue(_ user: String, _ challenge: DigestChallenge) -> Bool {
        guard QuotedString.canCarry(user) else { return true }
        let isOldServer = challenge.algorithm.function == .md5 && !challenge.announcesUTF8
        return !isOldServer && !user.utf8.allSatisfy { $0 < 0x80 }
    }
}

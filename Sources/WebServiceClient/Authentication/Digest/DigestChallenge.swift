/// A Digest challenge that can be answered (RFC 7616 §3.3).
struct DigestChallenge: Hashable, Sendable {
    /// The realm.
    let realm: QuotedText

    /// The server's nonce.
    let nonce: QuotedText

    /// What the server wants to be given back as it is.
    let opaque: QuotedText?

    /// The algorithm; MD5 if the server named none.
    let algorithm: DigestAlgorithm

    /// The algorithm's name as the server spelled it, to be given back so. Nil if it named none.
    let algorithmName: String?

    /// What the digest shall protect: `auth` where that is offered. Nil for servers of RFC 2069, which don't know the choice.
    let quality: DigestQuality?

    /// Whether only the nonce of the refused request was too old, and not the password wrong.
    let isStale: Bool

    /// Whether the user's name is to be sent as a hash.
    let hashesUserName: Bool

    /// Whether the server says that it takes names and passwords in UTF-8.
    let announcesUTF8: Bool

    /// Nil if the challenge is of another scheme, is broken, or wants an algorithm or a quality that we don't have.
    init?(_ challenge: AuthenticationChallenge) {
        guard challenge.isScheme("Digest"), let realm = challenge.parameter("realm")?.quoted,
            let nonce = challenge.parameter("nonce")?.quoted
        else { return nil }
        let opaque = challenge.parameter("opaque")?.quoted
        // They are sent back: a line break in one of them would be the start of another field.
        guard [realm, nonce, opaque ?? ""].allSatisfy(QuotedString.canCarry) else { return nil }

        let algorithmName = challenge["algorithm"]
        guard let algorithm = DigestAlgorithm(name: algorithmName ?? "MD5") else { return nil }

        let offers = (challenge["qop"] ?? "").lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        if offers.isEmpty {
            // A session key is made of a client nonce, which a server that knows no quality isn't told.
            guard !algorithm.isSession else { return nil }
            quality = nil
        } else if offers.contains("auth") {
            quality = .authentication
        } else if offers.contains("auth-int") {
            quality = .integrity
        } else {
            return nil
        }

        self.realm = realm
        self.nonce = nonce
        self.opaque = opaque
        self.algorithm = algorithm
        self.algorithmName = algorithmName
        isStale = challenge["stale"]?.lowercased() == "true"
        hashesUserName = challenge["userhash"]?.lowercased() == "true"
        announcesUTF8 = challenge["charset"]?.lowercased() == "utf-8"
    }

    /// The challenge with the strongest hash of those we can answer; of two with the same hash the one that the server named first.
    static func strongest(of challenges: [AuthenticationChallenge]) -> DigestChallenge? {
        var best: DigestChallenge?
        for challenge in challenges.compactMap(DigestChallenge.init)
        where best.map({ $0.algorithm.function < challenge.algorithm.function }) ?? true {
            best = challenge
        }
        return best
    }
}

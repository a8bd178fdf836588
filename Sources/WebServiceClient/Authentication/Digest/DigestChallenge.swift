/// A Digest challenge that can be answered (RFC 7616 §3.3).
struct DigestChallenge: Hashable, Sendable {
    /// The realm.
    let realm: QuotedText

    /// The server's nonce.
    let nonce: QuotedText

    /// A value that the client must return unchanged.
    let opaque: QuotedText?

    /// The algorithm; MD5 if the server named none.
    let algorithm: DigestAlgorithm

    /// The algorithm's name in the server's spelling, which the client returns; `nil` if the server named none.
    let algorithmName: String?

    /// The parts to protect: `auth` if the server offers it; `nil` for servers of RFC 2069, which don't have this parameter.
    let quality: DigestQuality?

    /// Whether the refused request's nonce was stale, rather than the password wrong.
    let isStale: Bool

    /// Whether the user's name is sent as a hash.
    let hashesUserName: Bool

    /// Whether the server announces that it accepts names and passwords in UTF-8.
    let announcesUTF8: Bool

    /// Returns `nil` if the challenge has another scheme, is malformed, or requires an unsupported algorithm or quality.
    init?(_ challenge: AuthenticationChallenge) {
        guard challenge.isScheme("Digest"), let realm = challenge.parameter("realm")?.quoted,
            let nonce = challenge.parameter("nonce")?.quoted
        else { return nil }
        let opaque = challenge.parameter("opaque")?.quoted
        // They are sent back: a line break in one of them would start another field.
        guard [realm, nonce, opaque ?? ""].allSatisfy(QuotedString.canCarry) else { return nil }

        let algorithmName = challenge["algorithm"]
        guard let algorithm = DigestAlgorithm(name: algorithmName ?? "MD5") else { return nil }

        let offers = (challenge["qop"] ?? "").lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        if offers.isEmpty {
            // A session key requires a client nonce, which isn't sent to a server without a quality.
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

    /// Creates a preserved challenge; `nil` if its parts don't fit together, or can't be sent back.
    init?(
        realm: QuotedText, nonce: QuotedText, opaque: QuotedText?, algorithmName: String?, quality: DigestQuality?, hashesUserName: Bool,
        announcesUTF8: Bool
    ) {
        guard [realm, nonce, opaque ?? ""].allSatisfy(QuotedString.canCarry), let algorithm = DigestAlgorithm(name: algorithmName ?? "MD5"),
            quality != nil || !algorithm.isSession
        else { return nil }
        self.realm = realm
        self.nonce = nonce
        self.opaque = opaque
        self.algorithm = algorithm
        self.algorithmName = algorithmName
        self.quality = quality
        isStale = false
        self.hashesUserName = hashesUserName
        self.announcesUTF8 = announcesUTF8
    }

    /// Returns the supported challenge with the strongest hash; the first one if several have the same hash.
    static func strongest(of challenges: [AuthenticationChallenge]) -> DigestChallenge? {
        var best: DigestChallenge?
        for challenge in challenges.compactMap(DigestChallenge.init)
        where best.map({ $0.algorithm.function < challenge.algorithm.function }) ?? true {
            best = challenge
        }
        return best
    }
}

/// The parts of a message that a digest protects (RFC 7616 §3.3, `qop`).
enum DigestQuality: String, Hashable, Sendable {
    /// The method and the target.
    case authentication = "auth"

    /// The body as well.
    case integrity = "auth-int"
}

/// Writes quoted strings (RFC 9110 §5.6.4).
enum QuotedString {
    /// Returns the text in quotes, with quotes and backslashes escaped.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }

    /// Returns the unchanged content of a quoted string in quotes.
    static func quoted(_ text: QuotedText) -> [UInt8] {
        [UInt8(ascii: "\"")] + text.content + [UInt8(ascii: "\"")]
    }

    /// Whether a quoted string can contain the text.
    static func canCarry(_ text: QuotedText) -> Bool {
        text.content.allSatisfy { ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }
    }

    /// Whether a quoted string can contain the text, which must have no control characters except tabs.
    static func canCarry(_ text: String) -> Bool {
        text.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }
    }
}

/// The raw bytes of a challenge parameter's value. RFC 7616 doesn't define the charset of a realm, and the server hashes its own bytes,
/// so they are also sent back unchanged.
struct QuotedText: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The text between the quotes, with its escapes.
    let content: [UInt8]

    /// Creates a text from the content of a quoted string.
    init(content: [UInt8]) {
        self.content = content
    }

    /// Creates a text from unquoted bytes.
    init(_ bytes: [UInt8]) {
        content = bytes.flatMap { $0 == Self.quote || $0 == Self.backslash ? [Self.backslash, $0] : [$0] }
    }

    init(stringLiteral text: String) {
        self.init(Array(text.utf8))
    }

    /// The unescaped bytes. A backslash escapes only a quote or a backslash, since senders escape nothing else (RFC 9110 §5.6.4), and in
    /// Shift_JIS a backslash byte may be the second one of a character.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in content {
            if !isEscaped, byte == Self.backslash {
                isEscaped = true
                continue
            }
            if isEscaped, byte != Self.quote, byte != Self.backslash { bytes.append(Self.backslash) }
            bytes.append(byte)
            isEscaped = false
        }
        return isEscaped ? bytes + [Self.backslash] : bytes
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
}

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

/// What a digest protects (RFC 7616 §3.3, `qop`).
enum DigestQuality: String, Hashable, Sendable {
    /// The method and the target.
    case authentication = "auth"

    /// The body as well.
    case integrity = "auth-int"
}

/// Writes extended parameter values, which carry any text in ASCII (RFC 8187 §3.2, the successor of the RFC 5987 that RFC 7616 names).
enum ExtendedValue {
    /// The text as `UTF-8''` and its UTF-8 bytes, those that aren't `attr-char` percent-encoded.
    static func encoded(_ text: String) -> String {
        var result = "UTF-8''"
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            case _ where "!#$&+-.^_`|~".utf8.contains(byte):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                result += "%" + Hexadecimal.text(of: [byte]).uppercased()
            }
        }
        return result
    }
}

/// Writes quoted strings (RFC 9110 §5.6.4).
enum QuotedString {
    /// The text in quotes, its quotes and backslashes escaped.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }

    /// The content of a quoted string in quotes, as it came.
    static func quoted(_ text: QuotedText) -> [UInt8] {
        [UInt8(ascii: "\"")] + text.content + [UInt8(ascii: "\"")]
    }

    /// Whether a quoted string can hold the text.
    static func canCarry(_ text: QuotedText) -> Bool {
        text.content.allSatisfy { ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }
    }

    /// Whether a quoted string can hold the text: it has no control characters but tabs.
    static func canCarry(_ text: String) -> Bool {
        text.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }
    }
}

/// The value of a challenge's parameter as its bytes came: RFC 7616 leaves open in which charset a realm is, and the server hashes its own
/// bytes. It is sent back as it came, too.
struct QuotedText: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// What stands between the quotes, with its escapes.
    let content: [UInt8]

    /// The content of a quoted string.
    init(content: [UInt8]) {
        self.content = content
    }

    /// A text that isn't quoted yet.
    init(_ bytes: [UInt8]) {
        content = bytes.flatMap { $0 == Self.quote || $0 == Self.backslash ? [Self.backslash, $0] : [$0] }
    }

    init(stringLiteral text: String) {
        self.init(Array(text.utf8))
    }

    /// What is meant. A backslash before anything but a quote and a backslash means itself: senders escape nothing else (RFC 9110 §5.6.4),
    /// and in Shift_JIS it is the second byte of some characters.
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

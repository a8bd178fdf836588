import Foundation
import TestSupport

/// Random combinations of everything that redaction examines: words, names, signs, secrets, numbers, encodings, at every boundary. They are
/// the same in every run, regardless of the library's random numbers.
struct MixedTexts {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    private static let names = [
        "token", "secret", "Password", "pwd", "apikey", "jwt", "cookie", "authorization", "pass", "auth", "pin", "sid", "key", "sig",
        "code",
        "name", "value", "header", "monkey", "shipping", "compass", "page", "sort", "bearer", "Basic", "digest", "splunk", "ntlm", "DPoP",
        "the", "order", "http.method", "X-Api-Key", "pa-ss", "p_i_n", "to.ken", "é", "🦊",
    ]
    private static let signs = [
        "=", ":", "%", "\\", "&", "<", "@", ">", "/", "//", "://", "-", "--", "_", ".", "~", "+", "?", "#", "\"", "'", "`", "(", ")", "[",
        "]", "{", "}", ",", ";", "|", "!", " ", " ", " ", "\t", "\n", "\r\n", "\0", "%3D", "%20", "%253D", "\\\"", "\\u0022", "&quot;",
        "&amp;",
        "=>", "</", "-----", "-----BEGIN ", "-----END ", "Authorization: ", "token: |\n  ", "<password>", "<key>", "--token ", "https://",
        "@x.example", "{\"name\":\"X-Api-Key\",\"value\":\"",
    ]
    private static let prefixes = [
        "AKIA", "AI" + "za", "ya29.", "1//0", "gh" + "p_", "github_" + "pat_", "xox" + "b-", "sk_" + "live_", "shpat_", "npm_", "sk-",
        "SG.",
        "dapi", "pul-", "eyJ", "eyJhbGciOiJIUzI1NiJ9.",
    ]
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_.~")
    private static let hexadecimal = Array("0123456789abcdef")

    private mutating func below(_ limit: Int) -> Int { Int(generator.next() % UInt64(limit)) }
    private mutating func any<Element>(_ list: [Element]) -> Element { list[below(list.count)] }
    private mutating func run(_ limit: Int, _ letters: some RandomAccessCollection<Character>) -> String {
        let letters = Array(letters)
        return String((0..<1 + below(limit)).map { _ in any(letters) })
    }

    /// A number that is usually a card number, with or without separators.
    private mutating func card() -> String {
        let (start, count) = any([("4", 16), ("4", 13), ("4", 19), ("52", 16), ("37", 15), ("6011", 16), ("30", 14), ("4", 20), ("9", 16)])
        var digits = start.compactMap(\.wholeNumberValue)
        while digits.count < count - 1 { digits.append(below(10)) }
        let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
            let doubled = digit.element * (digit.offset % 2 == 0 ? 2 : 1)
            return sum + doubled / 10 + doubled % 10
        }
        digits.append((10 - sum % 10) % 10)
        let (between, group) = (any(["", " ", "-", "  ", "."]), 3 + below(3))
        return digits.enumerated().map { ($0.offset > 0 && $0.offset % group == 0 ? between : "") + String($0.element) }.joined()
    }

    private mutating func piece() -> String {
        switch below(12) {
        case 0, 1: return any(Self.names)
        case 2, 3, 4: return any(Self.signs)
        case 5: return any(Self.prefixes) + run(70, Self.letters.prefix(62))
        case 6: return run(20, Self.hexadecimal.prefix(10))
        case 7: return card()
        case 8: return run(90, Self.letters)
        case 9: return run(40, Self.hexadecimal)
        case 10: return Data((any(["", ">", "> "]) + pieces(4)).utf8).base64EncodedString()
        default: return pieces(4).utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    private mutating func pieces(_ limit: Int) -> String {
        (0..<below(limit)).map { _ in piece() }.joined()
    }

    mutating func next() -> String {
        pieces(10)
    }
}

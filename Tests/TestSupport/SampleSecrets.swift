import Foundation

/// Random secrets of every kind. None of them is real, and no file of this project contains one.
package struct SampleSecrets {
    /// A secret, and texts in which it must be found, with `%@` in its place.
    package struct Sample: Sendable {
        package let kind: String
        package let secret: String
        package let texts: [String]

        /// The secret part: the address of a webhook begins with the name of its service.
        package var hiddenPart: String {
            kind.hasSuffix("webhook") ? secret.split(separator: "/").last.map(String.init) ?? secret : secret
        }
    }

    private var generator: SeededGenerator

    package init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    private static let alphanumerics = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    private mutating func random(_ count: Int, _ alphabet: [Character] = alphanumerics) -> String {
        let text = String((0..<count).map { _ in alphabet.randomElement(using: &generator) ?? "x" })
        // A token of letters only could be a word.
        return count > 8 ? text.prefix(4) + "7" + text.dropFirst(5) : text
    }

    private mutating func upper(_ count: Int) -> String { random(count, Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")) }
    private mutating func hex(_ count: Int) -> String { random(count, Array("0123456789abcdef")) }
    private mutating func base64(_ bytes: Int) -> String {
        Data((0..<bytes).map { _ in UInt8.random(in: 0...255, using: &generator) }).base64EncodedString()
    }
    private mutating func url64(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private mutating func card() -> String {
        let (start, count) = [("4", 16), ("52", 16), ("37", 15), ("6011", 16), ("3530", 16)].randomElement(using: &generator) ?? ("4", 16)
        var digits = start.compactMap(\.wholeNumberValue)
        while digits.count < count - 1 { digits.append(Int.random(in: 0...9, using: &generator)) }
        let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
            let doubled = digit.element * (digit.offset % 2 == 0 ? 2 : 1)
            return sum + doubled / 10 + doubled % 10
        }
        digits.append((10 - sum % 10) % 10)
        return digits.map(String.init).joined()
    }

    private mutating func formed() -> [(String, String)] {
        let header = url64("{\"alg\":\"HS256\",\"typ\":\"JWT\"}")
        let claims = url64("{\"sub\":\"\(random(8))\",\"iat\":1772357400}")
        return [
            ("AWS key id", "AKIA" + upper(16)), ("AWS temporary key id", "ASIA" + upper(16)), ("Google API key", "AI" + "za" + random(35)),
            ("Google access token", "ya29." + random(60)), ("Google client secret", "GOCSPX-" + random(28)),
            ("GitHub token", "gh" + "p_" + random(36)), ("GitHub app token", "gh" + "s_" + random(36)),
            ("GitHub fine-grained token", "github_" + "pat_" + random(22) + "_" + random(59)), ("GitLab token", "glpat-" + random(20)),
            ("Slack bot token", "xox" + "b-" + hex(12) + "-" + random(24)), ("Slack app token", "xapp-1-" + random(30)),
            ("Slack webhook", "hooks.slack.com/services/T" + upper(8) + "/B" + upper(10) + "/" + random(24)),
            ("Discord webhook", "discord.com/api/webhooks/\(UInt64.random(in: 1 << 59...1 << 60, using: &generator))/" + random(68)),
            ("Stripe key", "sk_" + "live_" + random(24)), ("Stripe restricted key", "rk_" + "live_" + random(24)),
            ("SendGrid key", "SG." + random(22) + "." + random(43)), ("npm token", "npm_" + random(36)),
            ("PyPI token", "pypi-AgEIcHlwaS5vcmc" + random(50)), ("DigitalOcean token", "dop_v1_" + hex(64)),
            ("Vault token", "hvs." + random(90)),
            ("Azure account key", base64(64)), ("AWS secret key", awsSecret()), ("web token", header + "." + claims + "." + random(43)),
            ("card number", card()),
        ]
    }

    private mutating func awsSecret() -> String {
        var text = random(40)
        text.replaceSubrange(text.startIndex..<text.index(text.startIndex, offsetBy: 9), with: "aB3cD4eF5")
        return text
    }

    /// Returns more than two hundred samples.
    package mutating func all() -> [Sample] { samples(rounds: 5) }

    /// Returns one sample of each kind per round, beginning with those that are recognised by their form.
    package mutating func samples(rounds: Int) -> [Sample] {
        var samples: [Sample] = []
        for _ in 0..<rounds {
            for (kind, secret) in formed() {
                samples.append(
                    Sample(kind: kind, secret: secret, texts: ["%@", "Sent %@ to it", "(%@)", "key: %@, n: 1", "id=%@&n=1", "\"%@\""]))
            }
        }
        let named = [
            "Authorization: Bearer %@", "Authorization: Basic %@", "Proxy-Authorization: Digest response=\"%@\"",
            "Cookie: sid=%@; theme=dark",
            "Set-Cookie: sid=%@; Path=/; HttpOnly", "X-Api-Key: %@", "https://api.example/v1?api_key=%@&page=2",
            "https://api.example/cb?code=%@",
            "https://blob.example/c?sv=1&sig=%@&se=2", "{\"password\":\"%@\",\"user\":\"ada\"}", "{\"client_secret\" : \"%@\"}",
            "{\"refreshToken\":[\"%@\"]}", "password=%@", "pwd: '%@'", "DB_PASSWORD=%@", "https://ada:%@@db.example/shop",
            "ftp://%@@x.example/",
            "bearer %@", "<apiKey>%@</apiKey>", "-----BEGIN PRIVATE KEY-----\n%@\n-----END PRIVATE KEY-----", "--token %@ --verbose",
            "curl -u ada:%@ https://api.example/", "curl --user 'ada:%@' https://api.example/",
            "curl --proxy-user=ada:%@ https://api.example/",
            "AccountName=shop;AccountKey=%@;EndpointSuffix=core.example", "db:\n  password: |\n    %@\n    %@\n  user: ada",
        ]
        for _ in 0..<rounds {
            for text in named { samples.append(Sample(kind: text, secret: random(20), texts: [text])) }
        }
        return samples
    }
}

/// Token prefixes, indexed by their first two bytes.
struct TokenPrefixes: Sendable {
    private let table: [[TokenPrefix]]

    init(_ prefixes: [TokenPrefix]) {
        var table = [[TokenPrefix]](repeating: [], count: prefixes.isEmpty ? 0 : 1_024)
        for prefix in prefixes {
            guard let first = prefix.bytes.first else { continue }
            let seconds = prefix.bytes.count > 1 ? [prefix.bytes[1]] : Array(0..<32)
            for second in seconds { table[Self.index(first, second)].append(prefix) }
        }
        self.table = table
    }

    private static func index(_ first: UInt8, _ second: UInt8) -> Int {
        Int(first & 31) << 5 | Int(second & 31)
    }

    /// Returns the end of the token that begins at a position; `nil` if there is none.
    func end(from start: Int, to limit: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard !table.isEmpty, limit - start >= SecretSearch.shortestRun else { return nil }
        let candidates = table[Self.index(bytes[start], bytes[start + 1])]
        guard !candidates.isEmpty else { return nil }
        for prefix in candidates where prefix.bytes.count + prefix.count <= limit - start {
            guard prefix.bytes.indices.allSatisfy({ bytes[start + $0].lowercased == prefix.bytes[$0] }) else { continue }
            let content = start + prefix.bytes.count
            // A sample is enough to recognize a token.
            let sample = content..<Self.end(of: prefix, from: content, to: min(limit, content + 64), in: bytes)
            guard sample.count >= prefix.count, Self.isRandom(bytes, sample) else { continue }
            return Self.end(of: prefix, from: content, to: limit, in: bytes)
        }
        return nil
    }

    private static func end(of prefix: TokenPrefix, from start: Int, to limit: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var end = start
        while end < limit,
            bytes[end].isAlphanumeric || bytes[end] == UInt8(ascii: "-") || bytes[end] == UInt8(ascii: "_")
                || bytes[end] == UInt8(ascii: ".") || prefix.isPath && bytes[end] == UInt8(ascii: "/")
        {
            end += 1
        }
        return end
    }

    /// Whether a range looks random. Words joined by dashes don't: tokens contain digits.
    private static func isRandom(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Bool {
        range.contains { bytes[$0].isDigit } || range.allSatisfy { bytes[$0].isAlphanumeric }
    }
}

/// The prefix of a service's tokens, and their minimum length.
package struct TokenPrefix: Sendable {
    /// The prefix in lower case.
    package let bytes: [UInt8]
    /// The minimum number of letters, digits, `-`, `_` and `.` that follow.
    package let count: Int
    /// Whether the token is the path of a URL, whose knowledge suffices to send.
    package let isPath: Bool

    package init(_ prefix: String, _ count: Int, isPath: Bool = false) {
        bytes = Array(prefix.lowercased().utf8)
        self.count = min(64, max(0, count, SecretSearch.shortestRun - bytes.count))
        self.isPath = isPath
    }

    /// Tokens whose form is published by their services, or that scanners of code repositories recognize.
    package static let known: [TokenPrefix] =
        ([
            // Amazon Web Services: access key ids, long-term and temporary, and those of users, roles and groups.
            ("AKIA", 16), ("ASIA", 16), ("ABIA", 16), ("ACCA", 16), ("AROA", 16), ("AIDA", 16), ("AGPA", 16), ("ANPA", 16), ("ANVA", 16),
            ("AIPA", 16),
            // Google: API keys, access tokens, client secrets, refresh tokens.
            ("AIza", 35), ("ya29.", 20), ("GOCSPX-", 20), ("1//0", 30),
            // GitHub, GitLab.
            ("ghp_", 30), ("gho_", 30), ("ghu_", 30), ("ghs_", 30), ("ghr_", 30), ("github_pat_", 22), ("glpat-", 16), ("gldt-", 16),
            ("glrt-", 16), ("glptt-", 16), ("glcbt-", 16), ("gloas-", 16),
            // Slack.
            ("xoxb-", 10), ("xoxp-", 10), ("xoxa-", 10), ("xoxr-", 10), ("xoxs-", 10), ("xoxo-", 10), ("xoxe-", 10), ("xoxe.xoxp-", 10),
            ("xoxc-", 10), ("xoxd-", 10), ("xapp-", 10),
            // Stripe, Square, Shopify, PayPal.
            ("sk_live_", 10), ("sk_test_", 10), ("rk_live_", 10), ("rk_test_", 10), ("whsec_", 16), ("sq0atp-", 20), ("sq0csp-", 20),
            ("EAAAE", 40), ("shpat_", 24), ("shpss_", 24), ("shpca_", 24), ("shppa_", 24), ("access_token$production$", 20),
            // Packages.
            ("npm_", 30), ("pypi-AgE", 30), ("rubygems_", 30), ("dckr_pat_", 20),
            // Models.
            ("sk-proj-", 20), ("sk-ant-", 20), ("sk-svcacct-", 20), ("sk-or-", 20), ("sk-", 32), ("hf_", 30), ("r8_", 30), ("gsk_", 30),
            // Mail and messages.
            ("SG.", 40), ("EAACEdEose0cBA", 10),
            // Hosting, infrastructure, databases.
            ("dop_v1_", 40), ("doo_v1_", 40), ("dor_v1_", 40), ("hvs.", 20), ("hvb.", 20), ("hvr.", 20), ("dapi", 32), ("HRKU-", 20),
            ("glsa_", 20), ("glc_", 20), ("NRAK-", 20), ("NRJS-", 15), ("sntrys_", 20), ("sntryu_", 20), ("dp.pt.", 30), ("dp.st.", 30),
            ("dp.ct.", 30), ("pscale_tkn_", 20), ("pscale_pw_", 20), ("pscale_oauth_", 20), ("pul-", 40), ("sbp_", 40), ("tfp_", 40),
            ("AKCp", 40), ("FlyV1", 20), ("fo1_", 30), ("rnd_", 24), ("ATATT3", 40), ("ATBB", 24), ("ATCTT3", 40), ("lin_api_", 30),
            ("figd_", 30), ("ntn_", 30), ("PMAK-", 30), ("tskey-", 16), ("AGE-SECRET-KEY-1", 40),
        ] as [(String, Int)]).map { (prefix: String, count: Int) in TokenPrefix(prefix, count) } + webhooks

    /// Slack, Discord, Microsoft's Office.
    private static let webhooks: [TokenPrefix] = [
        TokenPrefix("hooks.slack.com/services/", 20, isPath: true), TokenPrefix("hooks.slack.com/workflows/", 20, isPath: true),
        TokenPrefix("hooks.slack.com/triggers/", 20, isPath: true), TokenPrefix("discord.com/api/webhooks/", 30, isPath: true),
        TokenPrefix("discordapp.com/api/webhooks/", 30, isPath: true), TokenPrefix("webhook.office.com/webhookb2/", 30, isPath: true),
        TokenPrefix("outlook.office.com/webhook/", 30, isPath: true),
    ]
}

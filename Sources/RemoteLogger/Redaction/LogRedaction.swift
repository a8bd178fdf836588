import Foundation
import WebServiceClient

/// What is masked in records before any sink sees them, so that no secret reaches console, spool or wire. On by default.
///
/// Two things are looked for. *Names*: the value beside a name such as `Authorization`, `password`, or anything that contains `token` or
/// `secret` is masked, be it metadata, a header line, a query, JSON, XML or `name=value` in a message. *Forms*: what looks like a secret
/// wherever it stands: user info in URLs, bearer tokens, JWTs, the keys of cloud services, PEM blocks, card numbers. Case doesn't
/// matter, and text that is percent-encoded, escaped, or Base64 is looked into, too.
///
///     LogRedaction(alsoHiding: ["IBAN"], exceptFor: ["code"])
///     LogRedaction(rules: RedactionRule.standard + [.prefix("acme_", atLeast: 20)])
///
/// Just `code`, `key` and `sig` are masked as names of metadata and in queries, since they carry secrets in sign-in flows; where they
/// don't, show them by `exceptFor`. The time it takes grows with the length of a text only, whatever is in it.
public struct LogRedaction: Sendable {
    /// Masks by the standard names and rules.
    public static let standard = LogRedaction()
    /// Masks nothing.
    public static let none = LogRedaction(names: nil, rules: [])

    /// What stands in place of a secret.
    public static let mask = SecretMask.mask

    /// What texts are searched for.
    public var rules: [RedactionRule] { search.rules }

    /// What is looked for. In a box: each text that is looked through takes it along.
    private final class Search: Sendable {
        let rules: [RedactionRule]
        let secrets: SecretRules
        let finders: [@Sendable (String) -> [Range<String.Index>]]

        init(rules: [RedactionRule], secrets: SecretRules, finders: [@Sendable (String) -> [Range<String.Index>]]) {
            self.rules = rules
            self.secrets = secrets
            self.finders = finders
        }
    }

    private let search: Search

    private var secrets: SecretRules { search.secrets }
    private var finders: [@Sendable (String) -> [Range<String.Index>]] { search.finders }
    var forms: SecretForms { secrets.forms }
    var hasNames: Bool { secrets.names != nil }

    /// Masks by the standard names and some more, and by rules.
    ///
    /// - Parameters:
    ///   - hiding: names whose values are masked, too, in any case.
    ///   - showing: names that are never masked, in any case. They win.
    ///   - rules: what texts are searched for; leave some out to switch them off, add your own.
    public init(
        alsoHiding hiding: [String] = [], exceptFor showing: [String] = [], rules: [RedactionRule] = RedactionRule.standard
    ) {
        self.init(names: SecretNames(hidden: hiding, shown: showing), rules: rules)
    }

    private init(names: SecretNames?, rules: [RedactionRule]) {
        var forms: SecretForms = []
        var prefixes: [TokenPrefix] = []
        var finders: [@Sendable (String) -> [Range<String.Index>]] = []
        for rule in rules {
            switch rule.kind {
            case .form(let form): forms.formUnion(form)
            case .prefix(let prefix): prefixes.append(prefix)
            case .finder(let finder): finders.append(finder)
            }
        }
        search = Search(rules: rules, secrets: SecretRules(names: names, forms: forms, prefixes: prefixes), finders: finders)
    }

    /// Whether the value of a name is masked.
    public func hides(_ name: String) -> Bool { secrets.hides(name) }

    var masksNothing: Bool { secrets.names == nil && rules.isEmpty }

    /// The text with the secrets in it masked.
    public func masked(_ text: String) -> String {
        guard !masksNothing else { return text }
        return replacement(of: text) ?? text
    }

    /// The masked text; `nil` when there is nothing to mask.
    func replacement(of text: String) -> String? {
        guard !finders.isEmpty else { return secrets.replacement(of: text) }
        var found: [Range<Int>] = []
        for finder in finders {
            for range in SinkMark.find({ finder(text) }) {
                found.append(
                    text.utf8.distance(
                        from: text.startIndex, to: range.lowerBound)..<text.utf8.distance(from: text.startIndex, to: range.upperBound))
            }
        }
        return secrets.replacement(of: text, adding: found)
    }
}

extension LogRedaction {
    /// The least number of 13 digits.
    private static let smallestCard: Int64 = 1_000_000_000_000

    /// The metadata with the values of secret names, and secrets in other values and in the names themselves, masked.
    public func masked(_ metadata: LogMetadata) -> LogMetadata {
        guard !masksNothing, !metadata.isEmpty else { return metadata }
        return masked(metadata, depth: 0)
    }

    private func masked(_ metadata: LogMetadata, depth: Int) -> LogMetadata {
        var result: LogMetadata?
        // Each record comes here: once through its pairs, and again only where there is something.
        var (namesSecret, mayNeedNames) = (false, false)
        for index in metadata.indices {
            let pair = metadata[index]
            mayNeedNames = mayNeedNames || pair.key.utf8.count >= Self.shortestName
            namesSecret = namesSecret || names(pair)
            guard let value = hides(pair.key) ? .string(Self.mask) : replacement(of: pair.value, depth: depth) else { continue }
            if result == nil { result = metadata }
            result?.setValue(value, at: index)
        }
        if namesSecret {
            for index in metadata.indices where Self.isValuing(metadata[index].key) {
                if result == nil { result = metadata }
                result?.setValue(.string(Self.mask), at: index)
            }
        }
        return mayNeedNames ? maskedNames(of: result ?? metadata) : result ?? metadata
    }

    /// Whether a value is the name of a secret, which then stands beside it.
    ///
    /// - Parameter isMasked: whether the name may be masked itself, as that of `key` is.
    private func names(_ pair: LogMetadata.Pair, isMasked: Bool = false) -> Bool {
        guard case .string(let name) = pair.value, Self.isNaming(pair.key) else { return false }
        return hides(name) || isMasked && hasNames && name == Self.mask
    }

    private func namesSecret(_ metadata: LogMetadata) -> Bool {
        metadata.contains { names($0, isMasked: true) }
    }

    /// Masks what a secret's name stands beside only now that both have come together; each side was masked by itself.
    ///
    /// - Parameters:
    ///   - metadata: `other` laid over `base`.
    func maskedPairs(_ metadata: LogMetadata, of base: LogMetadata, and other: LogMetadata) -> LogMetadata {
        let (isNamedBefore, isNamedNow) = (namesSecret(base), namesSecret(other))
        guard isNamedBefore || isNamedNow else { return metadata }
        var result = metadata
        for (index, pair) in metadata.enumerated() where Self.isValuing(pair.key) {
            if other[pair.key] == nil ? isNamedNow : isNamedBefore { result.setValue(.string(Self.mask), at: index) }
        }
        return result
    }

    /// No name that is shorter is a secret itself.
    private static let shortestName = 12

    /// Secrets may be names, too: of a table of sessions by token, for one.
    private func maskedNames(of metadata: LogMetadata) -> LogMetadata {
        let isMasked = metadata.contains { $0.key.utf8.count >= Self.shortestName && replacement(of: $0.key) != nil }
        guard isMasked else { return metadata }
        let keys = metadata.map { masked($0.key) }
        // A name without a secret stays as it is, hence it isn't free for others.
        var taken = Set(zip(metadata, keys).lazy.filter { $0.key == $1 }.map(\.1))
        var number = 0
        return LogMetadata(
            zip(metadata, keys).map { pair, key in
                guard key != pair.key, !taken.insert(key).inserted else { return (key, pair.value) }
                var other: String
                repeat {
                    number += 1
                    other = "\(key) \(number)"
                } while !taken.insert(other).inserted
                return (other, pair.value)
            })
    }

    /// The masked value; `nil` when there is nothing to mask. Below the depth that formats write nothing is kept, hence nothing needs a
    /// mask there.
    private func replacement(of value: LogValue, depth: Int) -> LogValue? {
        switch value {
        case .null, .bool, .date: return nil
        case .string(let text): return replacement(of: text).map { .string($0) }
        case .int(let number):
            guard number >= Self.smallestCard, forms.contains(.cardNumbers) else { return nil }
            return CardNumber.isWhole(String(number)) ? .string(Self.mask) : nil
        case .double(let number):
            guard number >= Double(Self.smallestCard), forms.contains(.cardNumbers), let whole = Int64(exactly: number) else { return nil }
            return CardNumber.isWhole(String(whole)) ? .string(Self.mask) : nil
        case .data(let data):
            return replacement(of: String(decoding: data, as: UTF8.self)).map { _ in .string(Self.mask) }
        case .dictionary(let values):
            guard depth < LogValue.maximumDepth else { return .string(LogValue.tooDeep) }
            let masked = masked(values, depth: depth + 1)
            return masked == values ? nil : .dictionary(masked)
        case .array(let values):
            guard depth < LogValue.maximumDepth else { return .string(LogValue.tooDeep) }
            return replacement(ofElements: values, depth: depth)
        }
    }

    /// An array that names a secret and has it behind, as the arguments of a command do: `["--password", "…"]`.
    private func replacement(ofElements values: [LogValue], depth: Int) -> LogValue? {
        var result: [LogValue]?
        var isBehindName = false
        for (index, value) in values.enumerated() {
            let replaced = isBehindName ? .string(Self.mask) : replacement(of: value, depth: depth + 1)
            if let replaced {
                if result == nil { result = values }
                result?[index] = replaced
            }
            guard !isBehindName, index + 1 < values.count, case .string(let name) = value else {
                isBehindName = false
                continue
            }
            isBehindName = name.utf8.count <= SecretNames.longest && !name.contains(" ") && hides(name)
        }
        return result.map { .array($0) }
    }

    private static func isNaming(_ key: String) -> Bool {
        SecretNames.isNaming(key)
    }

    private static func isValuing(_ key: String) -> Bool {
        SecretNames.isValuing(key)
    }
}

extension LogMetadata {
    /// Lays values over these, both masked, and masks what makes a secret only together.
    func merging(_ other: LogMetadata, _ redaction: LogRedaction) -> LogMetadata {
        let merged = merging(other)
        return isEmpty || other.isEmpty ? merged : redaction.maskedPairs(merged, of: self, and: other)
    }
}

/// Something that texts are searched for, to be masked: see ``LogRedaction``.
public struct RedactionRule: Sendable {
    enum Kind: Sendable {
        case form(SecretForms)
        case prefix(TokenPrefix)
        case finder(@Sendable (String) -> [Range<String.Index>])
    }

    let kind: Kind

    /// What is searched for unless something else is said: everything here but ``emailAddresses``.
    public static let standard: [RedactionRule] = [
        .namedValues, .urlUserInfo, .bearerTokens, .webTokens, .serviceKeys, .pemBlocks, .cardNumbers,
    ]

    /// The values beside secret names within texts: `password=…`, `"password": "…"`, `Authorization: …`, `?token=…`,
    /// `<password>…</password>`, `--password …`.
    public static let namedValues = RedactionRule(kind: .form(.namedValues))
    /// What stands before the `@` of a URL's authority (RFC 3986 §3.2.1).
    public static let urlUserInfo = RedactionRule(kind: .form(.urlUserInfo))
    /// What stands behind `Bearer` (RFC 6750), `Basic` (RFC 7617) and the like.
    public static let bearerTokens = RedactionRule(kind: .form(.bearerTokens))
    /// JSON Web Tokens (RFC 7519).
    public static let webTokens = RedactionRule(kind: .form(.webTokens))
    /// Keys and tokens of services, by their forms: AWS, Google Cloud, Azure, GitHub, GitLab, Slack, Stripe, npm, and many more.
    public static let serviceKeys = RedactionRule(kind: .form(.serviceKeys))
    /// PEM blocks (RFC 7468), whatever is in them, and single lines of them.
    public static let pemBlocks = RedactionRule(kind: .form(.pemBlocks))
    /// Numbers of payment cards (ISO/IEC 7812): 13 to 19 digits, also in groups, that begin as an issuer's and whose check digit is right.
    public static let cardNumbers = RedactionRule(kind: .form(.cardNumbers))
    /// E-mail addresses. Not searched for unless asked.
    public static let emailAddresses = RedactionRule(kind: .form(.emailAddresses))

    /// Tokens that begin in a certain way, in any case: `.prefix("acme_", atLeast: 20)`.
    ///
    /// - Parameters:
    ///   - prefix: how they begin; ASCII.
    ///   - count: how many letters, digits, `-`, `_` and `.` follow at least. Together with the prefix no less than 12.
    public static func prefix(_ prefix: String, atLeast count: Int) -> RedactionRule {
        RedactionRule(kind: .prefix(TokenPrefix(prefix, count)))
    }

    /// Whatever a closure finds. It is called with every text, on the thread that logs, so it must be quick whatever the text is; texts
    /// aren't decoded for it. What it logs itself makes no record: see ``LogPipeline/suppressed``.
    public static func matching(_ find: @escaping @Sendable (String) -> [Range<String.Index>]) -> RedactionRule {
        RedactionRule(kind: .finder(find))
    }
}

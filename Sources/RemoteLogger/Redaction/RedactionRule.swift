import HTTPTransport

/// A rule that finds secrets in texts: see ``LogRedaction``.
public struct RedactionRule: Sendable {
    enum Kind: Sendable {
        case form(SecretForms)
        case prefix(TokenPrefix)
        case finder(@Sendable (String) -> [Range<String.Index>])
    }

    let kind: Kind

    /// The default rules: all rules here except ``emailAddresses``.
    public static let standard: [RedactionRule] = [
        .namedValues, .urlUserInfo, .bearerTokens, .webTokens, .serviceKeys, .pemBlocks, .cardNumbers,
    ]

    /// The values of secret names within texts: `password=…`, `"password": "…"`, `Authorization: …`, `?token=…`, `<password>…</password>`,
    /// `--password …`.
    public static let namedValues = RedactionRule(kind: .form(.namedValues))
    /// The text before the `@` of a URL's authority (RFC 3986 §3.2.1).
    public static let urlUserInfo = RedactionRule(kind: .form(.urlUserInfo))
    /// The credentials after `Bearer` (RFC 6750), `Basic` (RFC 7617) and similar schemes.
    public static let bearerTokens = RedactionRule(kind: .form(.bearerTokens))
    /// JSON Web Tokens (RFC 7519).
    public static let webTokens = RedactionRule(kind: .form(.webTokens))
    /// Keys and tokens of services, recognized by their forms: AWS, Google Cloud, Azure, GitHub, GitLab, Slack, Stripe, npm, and many more.
    public static let serviceKeys = RedactionRule(kind: .form(.serviceKeys))
    /// PEM blocks (RFC 7468) with any content, and single lines of them.
    public static let pemBlocks = RedactionRule(kind: .form(.pemBlocks))
    /// Payment card numbers (ISO/IEC 7812): 13 to 19 digits, also in groups, with an issuer's prefix and a valid check digit.
    public static let cardNumbers = RedactionRule(kind: .form(.cardNumbers))
    /// E-mail addresses. Not among the default rules.
    public static let emailAddresses = RedactionRule(kind: .form(.emailAddresses))

    /// Tokens with a prefix, in any case: `.prefix("acme_", atLeast: 20)`.
    ///
    /// - Parameters:
    ///   - prefix: The prefix, in ASCII.
    ///   - count: The minimum number of letters, digits, `-`, `_` and `.` that follow. Together with the prefix at least 12.
    public static func prefix(_ prefix: String, atLeast count: Int) -> RedactionRule {
        RedactionRule(kind: .prefix(TokenPrefix(prefix, count)))
    }

    /// The ranges that a closure finds. It is called with every text, on the logging thread, so it must be fast for any text; texts aren't
    /// decoded for it. Its own log calls make no records: see ``LogPipeline/suppressed``.
    public static func matching(_ find: @escaping @Sendable (String) -> [Range<String.Index>]) -> RedactionRule {
        RedactionRule(kind: .finder(find))
    }
}

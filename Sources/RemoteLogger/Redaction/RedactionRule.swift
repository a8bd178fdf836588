import WebServiceClient

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

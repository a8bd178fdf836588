/// The header fields that contain no secrets. All other fields are masked in errors, dumps and logs, and are sent only to the service's
/// origin.
///
///     $0.headerRules = HeaderRules(harmless: ["X-Team"], secret: ["X-Request-Id"])
///
/// The library knows the common harmless fields of HTTP, such as `Accept`, `Content-Type`, `ETag` and `Retry-After`, and shows them.
/// Requests to another origin keep only the fields that a server needs to understand the request: `Accept`, `Accept-Language`,
/// `User-Agent`, the fields of the body, ranges, preconditions and the protocol's version. All other fields count as credentials, because
/// services invent names for their credentials: `X-Tableau-Auth`, `Fastly-Key`, `DPoP`.
public struct HeaderRules: Sendable, Hashable {
    /// Additional names of harmless fields. Their values are shown, and they are also sent to other origins. `Authorization`,
    /// `Proxy-Authorization` and cookies are always secret.
    public var harmless: Set<HTTPFields.Name>
    /// Names of fields that are secret even if the library or ``harmless`` lists them as harmless.
    public var secret: Set<HTTPFields.Name>

    /// Creates rules that extend the built-in rules.
    public init(harmless: Set<HTTPFields.Name> = [], secret: Set<HTTPFields.Name> = []) {
        self.harmless = harmless
        self.secret = secret
    }

    /// The built-in rules.
    package static let standard = HeaderRules()

    /// Whether a field may be sent to an origin other than the service's.
    package func travels(_ name: HTTPFields.Name) -> Bool {
        !isSecret(name) && (Self.crossOrigin.contains(name.canonicalName) || harmless.contains(name))
    }

    /// Whether texts show a field's value.
    package func shows(_ name: HTTPFields.Name) -> Bool {
        guard !isSecret(name) else { return false }
        let text = name.canonicalName
        return Self.crossOrigin.contains(text) || Self.shown.contains(text) || harmless.contains(name)
            || Self.families.contains { text.hasPrefix($0) && !SecretMask.hidesParameter(named: text) }
    }

    private func isSecret(_ name: HTTPFields.Name) -> Bool {
        Self.credentials.contains(name.canonicalName) || secret.contains(name)
    }

    /// Fields that are always credentials (RFC 9110 §11, RFC 6265).
    private static let credentials: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "cookie2", "set-cookie", "set-cookie2",
    ]

    /// Fields that are sent to other origins. Without its preconditions, method override or protocol version, a request would change its
    /// meaning there.
    private static let crossOrigin: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "user-agent", "content-type", "content-length",
        "content-encoding", "content-language", "content-disposition", "content-digest", "content-md5", "digest", "repr-digest",
        "transfer-encoding", "te", "expect", "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
        "cache-control", "pragma", "prefer", "odata-version", "odata-maxversion", "dataserviceversion", "maxdataserviceversion",
        "mindataserviceversion", "x-http-method", "x-http-method-override", "x-method-override", "x-requested-with", "traceparent",
    ]

    /// Fields that are shown but not sent to other origins.
    private static let shown: Set<String> = [
        "accept-ch", "accept-patch", "accept-post", "accept-ranges", "age", "allow", "alt-svc", "api-version", "cf-cache-status", "cf-ray",
        "chargebee-idempotency-key", "connection", "content-location", "content-range", "content-security-policy",
        "cross-origin-embedder-policy", "cross-origin-opener-policy", "cross-origin-resource-policy", "date", "deprecation", "dnt", "etag",
        "expires", "host", "idempotency-key", "keep-alive", "last-modified", "link", "location", "max-forwards", "odata-entityid", "origin",
        "paypal-request-id", "permissions-policy", "preference-applied", "priority", "proxy-authenticate", "proxy-connection", "referer",
        "referrer-policy", "repeatability-first-sent", "repeatability-request-id", "repeatability-result", "request-id", "retry-after",
        "sap-client", "sap-language", "sap-message", "sap-server", "server",
        "server-timing", "strict-transport-security", "sunset", "surrogate-control", "surrogate-key", "timing-allow-origin", "trailer",
        "upgrade", "vary", "via", "warning", "www-authenticate", "x-amz-id-2", "x-amz-request-id", "x-amzn-requestid", "x-amzn-trace-id",
        "x-cache", "x-cache-hits", "x-content-type-options", "x-correlation-id", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto",
        "x-frame-options", "x-github-api-version", "x-github-media-type", "x-github-request-id", "x-idempotency-key",
        "x-ms-client-request-id", "x-ms-request-id", "x-ms-version", "x-payout-idempotency", "x-powered-by", "x-request-id", "x-robots-tag",
        "x-runtime", "x-served-by", "x-timer", "x-total-count", "x-trace-id", "x-xss-protection",
    ]

    /// The names that services give to an idempotency key, which must be known to repeat a call by hand, and isn't secret.
    package static let idempotencyKeys: [HTTPFields.Name] = [
        "Idempotency-Key", "X-Idempotency-Key", "PayPal-Request-Id", "chargebee-idempotency-key", "X-Payout-Idempotency",
        "Repeatability-Request-ID",
    ]

    /// Prefixes of names that are shown, unless the name contains a word such as `token`.
    private static let families = ["access-control-", "ratelimit", "x-ratelimit-", "x-rate-limit-", "sec-ch-", "sec-fetch-"]
}

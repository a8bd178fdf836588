/// What happens to a redirect. It is a client's setting and an attribute of endpoints; the endpoint's wins.
public struct RedirectPolicy: EndpointAttribute, Hashable {
    /// Which redirects are followed.
    public enum Rule: Sendable, Hashable {
        /// All of them.
        case follow
        /// Those that stay on the origin of the first request; another one is an error.
        case sameOrigin
        /// None: the 3xx is delivered as the response.
        case stop
    }

    /// Which redirects are followed.
    public var rule: Rule
    /// The most redirects of a call. Default 10.
    public var limit: Int

    /// A policy.
    public init(_ rule: Rule = .follow, limit: Int = 10) {
        self.rule = rule
        self.limit = limit
    }

    /// Follows up to 10 redirects: the default of a client.
    public static let follow = RedirectPolicy(.follow)
    /// Follows redirects on the same origin only.
    public static let sameOrigin = RedirectPolicy(.sameOrigin)
    /// Follows none.
    public static let stop = RedirectPolicy(.stop)
}

/// Why a redirect was not followed.
public struct RedirectError: DescribedError, Sendable, Hashable {
    /// The kinds of reasons.
    public enum Reason: String, Sendable {
        /// More redirects than the policy allows.
        case tooMany
        /// The same request came again.
        case loop
        /// The policy allows the same origin only.
        case otherOrigin
        /// `Location` isn't there or names no http or https URL.
        case badLocation
        /// The body would have to be sent again and can't be.
        case bodyNotReplayable
        /// A secure request would have become an insecure one.
        case insecure
    }

    /// The kind of reason.
    public let reason: Reason
    /// What happened and what to do, as a sentence.
    public let message: String

    init(reason: Reason, message: String) {
        self.reason = reason
        self.message = VisibleText.of(message)
    }

    /// The message.
    public var description: String { message }
}

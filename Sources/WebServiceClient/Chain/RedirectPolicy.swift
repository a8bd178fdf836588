/// How redirects are handled. The policy is a client setting and an endpoint attribute; the endpoint's takes precedence.
public struct RedirectPolicy: EndpointAttribute, PortableAttribute, Hashable, Codable {
    /// Which redirects are followed.
    public enum Rule: String, Sendable, Hashable, Codable {
        /// All redirects.
        case follow
        /// Redirects to the origin of the first request; any other redirect is an error.
        case sameOrigin
        /// None: the 3xx is returned as the response.
        case stop
    }

    /// Which redirects are followed.
    public var rule: Rule
    /// The maximum number of redirects of a call. Default 10.
    public var limit: Int

    /// Creates a policy.
    public init(_ rule: Rule = .follow, limit: Int = 10) {
        self.rule = rule
        self.limit = limit
    }

    /// The problems of the policy, each with its fix.
    var faults: [(problem: String, fix: String)] {
        limit < 0 ? [("the redirect policy has the limit \(limit)", "use zero or more, or .stop to follow none")] : []
    }

    package init?(described text: String) {
        guard let members = DescribedMembers(text, of: "RedirectPolicy"), let limit = members.integer("limit"),
            let rule = members["rule"].flatMap({ Rule(rawValue: $0.caseName) })
        else { return nil }
        self.init(rule, limit: limit)
    }

    /// A document can't follow more than the program does, because a redirect may lead to another service.
    package var leastTrustedSource: AttributeSource {
        switch rule {
        case .stop: .profile
        case .sameOrigin: limit <= RedirectPolicy().limit ? .exportedTable : .program
        case .follow: .program
        }
    }

    /// Follows up to 10 redirects: the default of a client.
    public static let follow = RedirectPolicy(.follow)
    /// Follows redirects on the same origin only.
    public static let sameOrigin = RedirectPolicy(.sameOrigin)
    /// Follows no redirects.
    public static let stop = RedirectPolicy(.stop)
}

/// The error of a redirect that wasn't followed.
public struct RedirectError: DescribedError, Sendable, Hashable {
    /// The kinds of reasons.
    public enum Reason: String, Sendable {
        /// The call exceeded the policy's limit.
        case tooMany
        /// A redirect led to a request that was already sent with the same cookies.
        case loop
        /// The policy allows the same origin only.
        case otherOrigin
        /// `Location` is missing or isn't an http or https URL.
        case badLocation
        /// The body must be sent again but can't be replayed.
        case bodyNotReplayable
        /// The redirect leads from https to http.
        case insecure
    }

    /// The kind of reason.
    public let reason: Reason
    /// What happened and how to fix it, as a sentence.
    public let message: String

    init(reason: Reason, message: String) {
        self.reason = reason
        self.message = VisibleText.of(message)
    }

    /// The message.
    public var description: String { message }
}

import Foundation

/// The stage of the chain that follows redirects (RFC 9110 §15.4), whatever engine is underneath.
///
/// Each hop is a request of its own: its `Location` is resolved by RFC 3986 §5 against the URL that answered, a fragment is dropped, a
/// credential goes on only by the authentication stage, which sees the new origin. On another origin only harmless headers go along.
/// 303 turns every method but HEAD into GET, 301 and 302 turn POST into GET (§15.4.2, note), 307 and 308 keep method and body.
struct Redirects: Interceptor {
    /// What applies where the endpoint has no policy of its own.
    let policy: RedirectPolicy
    /// What keeps credentials with their origin.
    var boundary = OriginBoundary()

    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        let first = request.url
        var request = request
        var context = context
        var seen: Set<String> = []
        while true {
            // The only place that goes on: what follows can be inlined here.
            let response = try await next(request, context)
            guard Self.isRedirect(response.status) else { return response }
            let policy = context.attributes[RedirectPolicy.self] ?? policy
            guard policy.rule != .stop, let location = response.headers.reference(.location) else { return response }
            response.body.cancel()
            seen.insert(Self.mark(of: request))
            let origin = request.origin
            request = try Self.request(after: request, status: response.status, location: location, from: response.url)
            request = boundary.afterRedirect(request, from: origin, context)
            guard !seen.contains(Self.mark(of: request)) else {
                throw RedirectError(reason: .loop, message: "The redirects run in a circle: \(Self.place(request)) came again.")
            }
            guard context.hop < policy.limit else {
                throw RedirectError(
                    reason: .tooMany, message: "There were more than \(policy.limit) redirects, the last to \(Self.place(request)).")
            }
            if policy.rule == .sameOrigin, request.origin != Origin(first) {
                throw RedirectError(
                    reason: .otherOrigin,
                    message: "The redirect to \(Self.place(request)) leaves the origin; allow it with .redirects(.follow) if it is right.")
            }
            context.hop += 1
            context.record.countRedirect()
        }
    }

    private static func isRedirect(_ status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// Fields that tell of the body and go with it.
    private static let bodyFields: [HTTPFields.Name] = [
        .contentType, .contentLength, .contentEncoding, "Content-Language", "Content-Location", "Transfer-Encoding", "Digest",
        "Content-MD5",
    ]

    private static func mark(of request: ServiceRequest) -> String {
        "\(request.method) \(request.url.absoluteString)"
    }

    private static func place(_ request: ServiceRequest) -> String {
        SecretMask.text(of: request)
    }

    /// The request of the next hop.
    private static func request(after request: ServiceRequest, status: Int, location: String, from base: URL) throws -> ServiceRequest {
        guard let url = resolve(location, against: base), let origin = Origin(url), origin.scheme == "http" || origin.scheme == "https"
        else {
            let shown = SecretMask.text(ofURL: location, of: request.secrets)
            throw RedirectError(
                reason: .badLocation, message: "The redirect's Location \"\(shown)\" is no http or https URL.")
        }
        if request.url.scheme?.lowercased() == "https", origin.scheme == "http" {
            throw RedirectError(
                reason: .insecure,
                message: "The redirect to \(SecretMask.text(of: url, of: request.secrets)) leaves https for http; it is never followed.")
        }
        var result = request
        result.url = url
        let becomesGet = status == 303 ? request.method != .head : (status == 301 || status == 302) && request.method == .post
        if becomesGet {
            result.method = .get
            result.body = nil
            for name in bodyFields { result.headers[name] = nil }
        } else if let body = request.body, !body.isReplayable {
            throw RedirectError(
                reason: .bodyNotReplayable,
                message: "The redirect \(status) asks for the body again, and the body is a stream that can be read only once.")
        }
        return result
    }

    private static func resolve(_ location: String, against base: URL) -> URL? {
        var text = URLText.resolve(URLText.repaired(location), against: base.absoluteString)
        if let hash = text.firstIndex(of: "#") { text.removeSubrange(hash...) }
        return URL(string: text)
    }
}

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

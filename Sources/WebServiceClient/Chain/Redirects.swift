import Foundation

/// The stage of the chain that follows redirects (RFC 9110 §15.4) for every engine.
///
/// Each hop is a separate request. Its `Location` is resolved against the URL that answered (RFC 3986 §5), and a fragment is dropped. Only
/// the authentication stage, which checks the new origin, adds credentials again. On another origin only harmless headers are kept. 303
/// changes every method but HEAD into GET, 301 and 302 change POST into GET (§15.4.2, note), 307 and 308 keep method and body.
///
/// A request that was sent before with the same cookies is a loop. With new cookies it isn't: a sign-in leads back to the first URL with
/// its session.
struct Redirects: Interceptor {
    /// The policy of endpoints without their own.
    let policy: RedirectPolicy
    /// Removes credentials when a redirect leaves the origin.
    var boundary = OriginBoundary()
    /// The stage that adds cookies; `nil` without a jar.
    var cookies: Cookies?

    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        var hops = Hops(request)
        var context = context
        while true {
            // A single call site for `next`, so that later stages can be inlined.
            let response = try await next(hops.request, context)
            guard Self.isRedirect(response.status), try hops.follow(response, by: self, &context) else { return response }
        }
    }

    /// The requests of one pass through the stage.
    private struct Hops {
        private(set) var request: ServiceRequest
        private let first: URL
        /// The requests before this one, with their cookies.
        private var seen: Set<String> = []
        /// This request with its cookies. `nil` for the first one, so that calls without redirects don't look for cookies twice.
        private var mark: String?
        /// The fix for cookies that a response has set and the call doesn't keep.
        private var fixOfCookies: String?

        init(_ request: ServiceRequest) {
            self.request = request
            first = request.url
        }

        /// Makes the request of the next hop.
        ///
        /// - Returns: Whether the redirect is followed; otherwise its response is delivered.
        @inline(never)
        mutating func follow(_ response: TransportResponse, by stage: Redirects, _ context: inout CallContext) throws -> Bool {
            let policy = context.attributes[RedirectPolicy.self] ?? stage.policy
            guard policy.rule != .stop, let location = response.headers.reference(.location) else { return false }
            response.body.cancel()
            note(response, stage, context)
            let origin = request.origin
            request = try Redirects.request(after: request, status: response.status, location: location, from: response.url)
            request = stage.boundary.afterRedirect(request, from: origin, context)
            let mark = mark(of: request, stage, context)
            guard !seen.contains(mark) else {
                let fix = fixOfCookies.map { " A response sets cookies, which the call doesn't keep: \($0)." } ?? ""
                throw RedirectError(reason: .loop, message: "The redirects form a loop: \(place(request)) was requested before.\(fix)")
            }
            self.mark = mark
            guard context.hop < policy.limit else {
                throw RedirectError(
                    reason: .tooMany, message: "There were more than \(policy.limit) redirects, the last to \(place(request)).")
            }
            if policy.rule == .sameOrigin, request.origin != Origin(first) {
                throw RedirectError(
                    reason: .otherOrigin,
                    message: "The redirect to \(place(request)) leaves the origin; allow it with .redirects(.follow) if it is right.")
            }
            context.hop += 1
            context.record.countRedirect()
            return true
        }

        /// Notes the present request, and cookies of its response that aren't kept.
        private mutating func note(_ response: TransportResponse, _ stage: Redirects, _ context: CallContext) {
            let setsCookie = response.headers.contains(.setCookie)
            let fix = setsCookie ? Cookies.fix(for: request, stage.cookies, context) : nil
            if let fix { fixOfCookies = fix }
            // The cookies of the first request aren't known any more if its response has changed them.
            if let mark = mark ?? (setsCookie && fix == nil ? nil : mark(of: request, stage, context)) { seen.insert(mark) }
        }

        private func mark(of request: ServiceRequest, _ stage: Redirects, _ context: CallContext) -> String {
            "\(request.method) \(request.url.absoluteString)\n\(stage.cookies?.field(for: request, context) ?? "")"
        }

        private func place(_ request: ServiceRequest) -> String { SecretMask.text(of: request) }
    }

    private static func isRedirect(_ status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// Fields that describe the body and are removed with it.
    private static let bodyFields: [HTTPFields.Name] = [
        .contentType, .contentLength, .contentEncoding, "Content-Language", "Content-Location", "Transfer-Encoding", "Digest",
        "Content-MD5", .contentDigest, .reprDigest, .expect,
    ]

    /// The request of the next hop.
    fileprivate static func request(after request: ServiceRequest, status: Int, location: String, from base: URL) throws -> ServiceRequest {
        guard let url = resolve(location, against: base), let origin = Origin(url), origin.scheme == "http" || origin.scheme == "https"
        else {
            let shown = SecretMask.text(ofURL: location, of: request.secrets)
            throw RedirectError(
                reason: .badLocation, message: "The redirect's Location \"\(shown)\" isn't an http or https URL.")
        }
        guard url.user(percentEncoded: true) == nil, url.password(percentEncoded: true) == nil else {
            throw RedirectError(
                reason: .badLocation,
                message: """
                    The redirect's Location \(SecretMask.text(of: url, of: request.secrets)) contains user info, which isn't used: the service \
                    must send it without (RFC 9110 §4.2.4).
                    """)
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
                message: "The redirect \(status) requires the body again, but the body is a stream that can be read only once.")
        }
        return result
    }

    private static func resolve(_ location: String, against base: URL) -> URL? {
        var text = URLText.resolve(URLText.repaired(location), against: base.absoluteString)
        if let hash = text.firstIndex(of: "#") { text.removeSubrange(hash...) }
        return URL(string: text)
    }
}

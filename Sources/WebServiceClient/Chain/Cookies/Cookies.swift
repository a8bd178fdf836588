/// The stage of the chain that adds a jar's cookies to each request and keeps the cookies of each response (RFC 6265bis §5.3, §5.8).
///
/// It runs for each hop, attempt and round of authentication, next to the transport, so that a login that answers 302 or 401 sets its
/// cookies too. Responses of all final statuses count; those of interim responses (1xx) don't reach it. A `Cookie` field that the program
/// sets stays: the jar's cookies of other names are appended to it, because a request has one field.
struct Cookies: Interceptor {
    let jar: CookieJar
    let boundary: OriginBoundary
    let clock: CallClock

    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        var request = request
        let place = request.origin.flatMap { applies(to: $0, context) ? CookiePlace(request.url, $0) : nil }
        if let place {
            let omitted = jar.add(to: &request, for: place, at: clock.date())
            if omitted > 0 { reportOmitted(omitted, context) }
        }
        let response = try await next(request, context)
        if let place, response.headers.contains(.setCookie), !response.isTunnelRefusal { await keep(response, place, context) }
        return response
    }

    private func applies(to origin: Origin, _ context: CallContext) -> Bool {
        switch context.attributes[CookiePolicy.self] ?? .service {
        case .off: false
        case .service: boundary.isService(origin, context)
        case .matchingHosts: true
        }
    }

    /// The `Cookie` field that a request will have; `nil` for none.
    func field(for request: ServiceRequest, _ context: CallContext) -> String? {
        guard let origin = request.origin, applies(to: origin, context) else { return request.headers[.cookie] }
        return jar.field(for: request, at: clock.date())
    }

    /// Returns what lets a call keep the cookies of a request's response; `nil` if it keeps them.
    static func fix(for request: ServiceRequest, _ stage: Cookies?, _ context: CallContext) -> String? {
        guard context.attributes[CookiePolicy.self] != .off else { return "remove .cookies(.off)" }
        guard let stage else { return "set Configuration.cookies" }
        guard let origin = request.origin, !stage.applies(to: origin, context) else { return nil }
        return "use .cookies(.matchingHosts), if \(origin) may have cookies"
    }

    private func keep(_ response: TransportResponse, _ place: CookiePlace, _ context: CallContext) async {
        for refusal in jar.receive(response.headers, from: place, at: clock.date()) {
            context.diagnostics.report(.init(.notice, refusal, call: context.identity))
        }
        guard let file = jar.file, let failure = await file.save(unless: context.record.cancellation) else { return }
        context.diagnostics.report(.init(.warning, "\(failure) The calls go on with the cookies in memory.", call: context.identity))
    }

    private func reportOmitted(_ omitted: Int, _ context: CallContext) {
        context.diagnostics.report(
            .init(
                .warning,
                "\(omitted) cookies aren't sent: a request carries at most \(CookieStore.sentLimit.cookies) cookies and "
                    + "\(CookieStore.sentLimit.bytes) bytes. Remove those that the service doesn't need from the jar.",
                call: context.identity))
    }
}

extension HTTPFields {
    /// The `Cookie` field of a request, which has one field only (RFC 6265bis §5.8.1), although a program may have set several; empty
    /// without cookies.
    var cookieField: [UInt8] { Array(bytes(of: .cookie).joined(separator: [UInt8(ascii: ";"), UInt8(ascii: " ")])) }

    /// Adds a cookie after the others of a request.
    ///
    /// - Parameters:
    ///   - pair: The name and the value, such as `sid=1`.
    ///   - name: The name of cookies to remove; `nil` keeps all.
    mutating func addCookie(_ pair: String, replacing name: String? = nil) {
        let semicolon = UInt8(ascii: ";")
        var pairs = cookieField.split(separator: semicolon).map { SetCookieParser.trimmed($0) }.filter { !$0.isEmpty }
        if let name { pairs.removeAll { $0.starts(with: "\(name)=".utf8) } }
        pairs.append(Array(pair.utf8)[...])
        set(.cookie, bytes: Array(pairs.joined(separator: [semicolon, UInt8(ascii: " ")])))
    }
}

/// Which calls use the client's ``CookieJar``: an attribute of an endpoint, a class, a client or a call.
///
///     "health()": .get("/health").cookies(.off),
///
/// Without a jar in ``WebServiceClient/WebServiceClient/Configuration/cookies``, no call does.
public enum CookiePolicy: String, EndpointAttribute, PortableAttribute, Hashable, Codable, CaseIterable, CustomStringConvertible {
    /// None: cookies are neither sent nor kept.
    case off
    /// Calls to the service: to the origin of the service root and to
    /// ``WebServiceClient/WebServiceClient/Configuration/allowedOrigins``. The default: cookies are credentials, and a redirect or link
    /// must not decide where they go.
    case service
    /// All calls, as in a browser: redirects to other hosts and calls outside the service send the cookies that belong to their host, and
    /// keep new ones. A single sign-on on another host may need this.
    case matchingHosts

    /// The policy as written in a table, such as `cookies(.off)`.
    public var description: String { "cookies(.\(rawValue))" }

    package static let firstWords = ["cookies"]

    package init?(described text: String) {
        guard let policy = text.inside("cookies(.").flatMap({ Self(rawValue: String($0)) }) else { return nil }
        self = policy
    }

    /// Cookies are credentials, so a document can't decide where they go.
    package var leastTrustedSource: AttributeSource { self == .off ? .profile : .program }
}

extension EndpointAttribute where Self == CookiePolicy {
    /// Sets whether calls use the client's cookies:
    ///
    ///     try await shop.with(.cookies(.off)) { try await $0.prices() }
    public static func cookies(_ policy: CookiePolicy) -> CookiePolicy { policy }
}

import Foundation

/// The identity whose responses a call gets: the part of a cache's key that keeps the responses of one identity from all others.
///
/// Authentication and cookies add their fields after the cache's lookup. The partition therefore contains the identity that the provider
/// reports or, without one, what the provider would add. It also contains the request's own credentials, and the fields that
/// lead a request to another host or path.
struct CachePartitions: Sendable {
    /// The identity of an authentication provider.
    enum Identity: Sendable, Hashable {
        /// A digest of a name that the provider gives.
        case named(String)
        /// A digest of the sign-in that its tokens come from. A later sign-in has another one.
        case signIn(String)
        /// A digest of the fields and the URL that it sets now, and its cookies.
        case additions(String, cookies: Set<String>)
    }

    /// The partition of one call.
    struct Partition: Sendable {
        /// The text in the key; empty without any identity.
        let text: String
        let identity: Identity?
        /// The `Cookie` that the jar adds.
        let cookies: String?
        let rules: HeaderRules
        /// The identifying parts that the request has before the provider adds its own.
        let own: [String]
        /// The provider's current sign-in; `nil` without one.
        let signIn: (@Sendable () -> String?)?
        /// The jar's cookies that may name the user, and what they are now; `nil` without a jar.
        let credentials: (known: String, now: @Sendable () -> String)?

        var isAuthenticated: Bool { identity != nil }

        /// Whether a request was sent with the credentials that the partition is for. It wasn't if the provider has since obtained a new
        /// token or answered a challenge.
        func covers(prepared: ServiceRequest, sent: HTTPFields, to url: URL) -> Bool {
            // An interceptor of single attempts may have added credentials.
            guard CachePartitions.ownParts(prepared, rules) == own else { return false }
            // Another user may have signed in since.
            if let credentials, credentials.now() != credentials.known { return false }
            switch identity {
            case nil, .named?: return true
            case .signIn(let digest)?: return signIn?().map { SHA256.hexadecimal(of: $0) == digest } ?? false
            case .additions(let digest, let cookies)?:
                return CachePartitions.digest(ofAdded: sent, url, to: prepared) == digest
                    && (cookies.isEmpty || cookies.isSubset(of: CachePartitions.cookies(in: sent)))
            }
        }
    }

    let boundary: OriginBoundary
    /// The identity of the provider's credentials; `nil` if the client has no provider.
    var identity: (@Sendable (ServiceRequest, CallContext) async throws -> Identity)?
    /// The current sign-in of the provider's tokens; `nil` if the provider has none.
    var signIn: (@Sendable () -> String?)?
    /// The client's cookie jar: a text that distinguishes the jar from others, the cookies of a request that may name its user, and the
    /// field that the jar will add; `nil` without a jar.
    var cookies: (@Sendable (ServiceRequest) -> (jar: String, credentials: @Sendable () -> String, field: String?))?
    /// A text that distinguishes the client's environment and session from others; empty without both.
    var state = ""

    /// The partition of a call; `nil` if the provider can't identify the credentials that it will add.
    func partition(of request: ServiceRequest, _ context: CallContext) async -> Partition? {
        let own = Self.ownParts(request, boundary.rules)
        var parts = own
        if !state.isEmpty, boundary.isService(request.origin, context) { parts.append("state:" + state) }
        var provided: Identity?
        if let identity, boundary.isService(request.origin, context) {
            // The provider's error is ignored here: it ends the call when the authentication stage calls the provider.
            guard let known = try? await identity(request, context) else { return nil }
            provided = known
            switch known {
            case .named(let text): parts.append("named:" + text)
            case .signIn(let text): parts.append("sign-in:" + text)
            case .additions(let text, let cookies):
                parts.append("fields:" + text)
                parts += cookies.sorted().map { "cookie:" + $0 }
            }
        }
        var field: String?
        var credentials: (known: String, now: @Sendable () -> String)?
        if let cookies, context.attributes[CookiePolicy.self] != .off {
            let jar = cookies(request)
            let known = jar.credentials()
            parts += ["jar:" + jar.jar, "credentials:" + known]
            field = jar.field
            credentials = (known, jar.credentials)
        }
        let text = parts.isEmpty ? "" : SHA256.hexadecimal(of: parts.joined(separator: "\n"))
        return Partition(
            text: text, identity: provided, cookies: field, rules: boundary.rules, own: own, signIn: signIn, credentials: credentials)
    }

    /// Fields that make servers and proxies answer for another host or path.
    private static let leading: Set<String> = [
        "host", "forwarded", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-scheme", "x-forwarded-port", "x-host",
        "x-original-host", "x-original-url", "x-rewrite-url",
    ]

    /// The request's own fields that name an identity, or lead elsewhere.
    private static func ownParts(_ request: ServiceRequest, _ rules: HeaderRules) -> [String] {
        var parts: [String] = []
        for field in request.headers where isIdentifying(field.name, rules) {
            parts.append("\(field.name.canonicalName): \(field.value)")
        }
        switch request.trust?.identity?.content {
        case .pem(let chain, _)?: parts.append("certificate:" + SHA256.hexadecimal(of: chain.first?.bytes ?? []))
        case .pkcs12(let bytes)?: parts.append("certificate:" + SHA256.hexadecimal(of: bytes))
        case nil: break
        }
        return parts
    }

    private static func isIdentifying(_ name: HTTPFields.Name, _ rules: HeaderRules) -> Bool {
        if rules.travels(name) { return false }
        return leading.contains(name.canonicalName) || name == .authorization || name == .cookie || name == .proxyAuthorization
            || rules.secret.contains(name) || SecretMask.namesSecret(name)
    }

    /// The changes of a provider to a request. Its key may be in a field, in the URL or in a cookie.
    static func additions(of request: ServiceRequest, to before: ServiceRequest) -> Identity {
        .additions(
            digest(ofAdded: request.headers, request.url, to: before),
            cookies: cookies(in: request.headers).subtracting(cookies(in: before.headers)))
    }

    /// A digest of the fields that a request has and another one doesn't have, without cookies, and of its URL if that differs.
    private static func digest(ofAdded fields: HTTPFields, _ url: URL, to before: ServiceRequest) -> String {
        var added = fields.filter { field in
            field.name != .cookie && !before.headers[values: field.name].contains(field.value)
        }
        .map { "\($0.name.canonicalName): \($0.value)" }.sorted()
        if url != before.url { added.append("url: \(url.absoluteString)") }
        return SHA256.hexadecimal(of: added.joined(separator: "\n"))
    }

    private static func cookies(in fields: HTTPFields) -> Set<String> {
        guard fields.contains(.cookie) else { return [] }
        return Set(fields.cookieField.split(separator: UInt8(ascii: ";")).map { Cookie.text(Array(SetCookieParser.trimmed($0))) })
    }
}

/// Requests that no caller waits for. They end with their client.
final class BackgroundCalls: Sendable {
    private struct State {
        var tasks: [Int: Task<Void, Never>] = [:]
        var count = 0
        var hasEnded = false
    }

    private let state = Locked(State())

    /// Runs a body in a separate task.
    ///
    /// - Returns: Whether it was started: not after the end.
    func start(_ body: @escaping @Sendable () async -> Void) -> Bool {
        // The task is registered before it can end and remove itself.
        state.withLock { state in
            guard !state.hasEnded else { return false }
            state.count += 1
            let number = state.count
            state.tasks[number] = Task.detached { [weak self] in
                await body()
                _ = self?.state.withLock { $0.tasks.removeValue(forKey: number) }
            }
            return true
        }
    }

    /// Cancels all tasks, and starts no more.
    func end() {
        let tasks = state.withLock { state in
            state.hasEnded = true
            defer { state.tasks = [:] }
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
    }

    /// Waits until no task is running.
    func idle() async {
        while let task = state.withLock({ $0.tasks.values.first }) { await task.value }
    }
}

/// The identity whose responses a call gets: the part of a cache's key that keeps the responses of one identity from all others.
///
/// Authentication and cookies add their fields after the cache's lookup. The partition therefore contains the identity that the provider
/// reports or, without one, the fields that the provider would add. It also contains the request's own credentials, and the fields that
/// lead a request to another host or path.
struct CachePartitions: Sendable {
    /// The identity of an authentication provider.
    enum Identity: Sendable, Hashable {
        /// A digest of a name that the provider gives.
        case named(String)
        /// A digest of the sign-in that its tokens come from. A later sign-in has another one.
        case signIn(String)
        /// A digest of the fields that it adds now.
        case fields(String)
    }

    /// The partition of one call.
    struct Partition: Sendable {
        /// The text in the key; empty without any identity.
        let text: String
        let identity: Identity?
        /// The `Cookie` that the jar adds.
        let cookies: String?
        let rules: HeaderRules
        /// The provider's current sign-in; `nil` without one.
        let signIn: (@Sendable () -> String?)?

        var isAuthenticated: Bool { identity != nil }

        /// Whether a request was sent with the credentials that the partition is for. It wasn't if the provider has since obtained a new
        /// token or answered a challenge.
        func covers(prepared: HTTPFields, sent: HTTPFields) -> Bool {
            switch identity {
            case nil, .named?: true
            case .signIn(let digest)?: signIn?().map { SHA256.hexadecimal(of: $0) == digest } ?? false
            case .fields(let digest)?: CachePartitions.digest(ofFieldsAdded: sent, to: prepared) == digest
            }
        }
    }

    let boundary: OriginBoundary
    /// The identity of the provider's credentials; `nil` if the client has no provider.
    var identity: (@Sendable (ServiceRequest, CallContext) async throws -> Identity)?
    /// The current sign-in of the provider's tokens; `nil` if the provider has none.
    var signIn: (@Sendable () -> String?)?
    /// The client's cookie jar: the field that it will add to a request, and a text that distinguishes the jar from others; `nil` without a
    /// jar.
    var cookies: (@Sendable (ServiceRequest) async -> (jar: String, field: String?))?
    /// A text that distinguishes the client's environment and session from others; empty without both.
    var state = ""

    /// The partition of a call; `nil` if the provider can't identify the credentials that it will add.
    func partition(of request: ServiceRequest, _ context: CallContext) async -> Partition? {
        var parts = ownParts(request)
        if !state.isEmpty, boundary.isService(request.origin, context) { parts.append("state:" + state) }
        var provided: Identity?
        if let identity, boundary.isService(request.origin, context) {
            // The provider's error is ignored here: it ends the call when the authentication stage calls the provider.
            guard let known = try? await identity(request, context) else { return nil }
            provided = known
            switch known {
            case .named(let text): parts.append("named:" + text)
            case .signIn(let text): parts.append("sign-in:" + text)
            case .fields(let text): parts.append("fields:" + text)
            }
        }
        var field: String?
        if let jar = await cookies?(request) {
            parts.append("jar:" + jar.jar)
            field = jar.field
        }
        let text = parts.isEmpty ? "" : SHA256.hexadecimal(of: parts.joined(separator: "\n"))
        return Partition(text: text, identity: provided, cookies: field, rules: boundary.rules, signIn: signIn)
    }

    /// Fields that make servers and proxies answer for another host or path.
    private static let leading: Set<String> = [
        "host", "forwarded", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-scheme", "x-forwarded-port", "x-host",
        "x-original-host", "x-original-url", "x-rewrite-url",
    ]

    /// The request's own fields that name an identity, or lead elsewhere.
    private func ownParts(_ request: ServiceRequest) -> [String] {
        var parts: [String] = []
        for field in request.headers where isIdentifying(field.name) {
            parts.append("\(field.name.canonicalName): \(field.value)")
        }
        return parts
    }

    private func isIdentifying(_ name: HTTPFields.Name) -> Bool {
        if boundary.rules.travels(name) { return false }
        return Self.leading.contains(name.canonicalName) || name == .authorization || name == .cookie || name == .proxyAuthorization
            || boundary.rules.secret.contains(name) || SecretMask.namesSecret(name)
    }

    /// A digest of the fields that a request has and another request doesn't have, without cookies.
    static func digest(ofFieldsAdded fields: HTTPFields, to before: HTTPFields) -> String {
        let added = fields.filter { field in
            field.name != .cookie && !before[values: field.name].contains(field.value)
        }
        return SHA256.hexadecimal(of: added.map { "\($0.name.canonicalName): \($0.value)" }.sorted().joined(separator: "\n"))
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

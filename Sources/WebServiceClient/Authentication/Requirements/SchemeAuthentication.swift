/// Authenticates calls by the ``SecurityRequirements`` of their endpoints, with the client's credentials by the names of the schemes.
struct SchemeAuthentication: AuthenticationProvider {
    private let credentials: [String: SecurityCredential]
    /// Authorizes the calls of endpoints without requirements, and of those for which there are no credentials.
    private let fallback: (any AuthenticationProvider)?
    /// The providers of the credentials, which keep state such as nonces.
    private let made = Locked<[SecurityScheme: any AuthenticationProvider]>([:])

    init(_ credentials: [String: SecurityCredential], fallback: (any AuthenticationProvider)?) {
        self.credentials = credentials
        self.fallback = fallback
    }

    /// A provider with the name of its scheme; the fallback has none.
    private struct Member: Sendable {
        let name: String
        let provider: any AuthenticationProvider
    }

    /// The state of an attempt's providers, by the names of their schemes.
    private struct Memos: Sendable {
        var members: [Member] = []
        var values: [String: any Sendable] = [:]
    }

    /// The providers of a call.
    private func members(of context: CallContext) throws -> [Member] {
        let own = fallback.map { [Member(name: "", provider: $0)] } ?? []
        guard let requirements = context.attributes[SecurityRequirements.self] else { return own }
        // The endpoint needs no credentials.
        if requirements.alternatives.isEmpty { return [] }
        for alternative in requirements.alternatives where !alternative.isEmpty {
            guard alternative.allSatisfy({ credentials[$0.scheme.name] != nil }) else { continue }
            return try alternative.compactMap { requirement in
                try provider(for: requirement.scheme).map { Member(name: requirement.scheme.name, provider: $0) }
            }
        }
        return own
    }

    private func provider(for scheme: SecurityScheme) throws -> (any AuthenticationProvider)? {
        if let known = made.withLock({ $0[scheme] }) { return known }
        guard let new = try credentials[scheme.name]?.provider(for: scheme) else { return nil }
        return made.withLock { made in
            if let known = made[scheme] { return known }
            made[scheme] = new
            return new
        }
    }

    /// Calls a provider with its own memo.
    private func with<Result>(
        _ member: Member, _ attempt: inout AuthenticationAttempt, _ body: (inout AuthenticationAttempt) async throws -> Result
    ) async throws -> Result {
        var memos = attempt.memo as? Memos ?? Memos()
        attempt.memo = memos.values[member.name]
        do {
            let result = try await body(&attempt)
            memos.values[member.name] = attempt.memo
            if !memos.members.contains(where: { $0.name == member.name }) { memos.members.append(member) }
            attempt.memo = memos
            return result
        } catch {
            attempt.memo = memos
            throw error
        }
    }

    func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
        guard context.attributes[SecurityRequirements.self] != nil else {
            try await fallback?.authorize(&attempt, context: context)
            return
        }
        let members = try members(of: context)
        for member in members {
            try await with(member, &attempt) { try await member.provider.authorize(&$0, context: context) }
        }
        guard members.isEmpty, let requirements = context.attributes[SecurityRequirements.self] else { return }
        reportMissing(requirements, context)
    }

    /// Reports that a call has no credentials although the service requires some. The call is sent: preparers and headers may have
    /// authorized it.
    private func reportMissing(_ requirements: SecurityRequirements, _ context: CallContext) {
        guard !requirements.alternatives.isEmpty, !requirements.areOptional else { return }
        let isElsewhere = requirements.alternatives.contains { $0.allSatisfy { credentials[$0.scheme.name] != nil } }
        guard !isElsewhere else { return }
        context.diagnostics.report(
            .init(
                .warning,
                "The call has no credentials, and the service requires \(requirements): give them to Configuration.credentials by the scheme's "
                    + "name, or a provider to Configuration.authenticationProvider.", call: context.identity))
    }

    func respond(
        to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt, context: CallContext
    ) async throws -> Bool {
        guard context.attributes[SecurityRequirements.self] != nil else {
            return try await fallback?.respond(to: challenges, response: response, attempt: &attempt, context: context) ?? false
        }
        for member in try members(of: context) {
            let repeats = try await with(member, &attempt) {
                try await member.provider.respond(to: challenges, response: response, attempt: &$0, context: context)
            }
            if repeats { return true }
        }
        return false
    }

    func check(_ response: TransportResponse, attempt: AuthenticationAttempt, context: CallContext) async throws -> TransportResponse {
        guard context.attributes[SecurityRequirements.self] != nil else {
            return try await fallback?.check(response, attempt: attempt, context: context) ?? response
        }
        var response = response
        for member in try members(of: context) {
            var own = attempt
            own.memo = (attempt.memo as? Memos)?.values[member.name]
            response = try await member.provider.check(response, attempt: own, context: context)
        }
        return response
    }

    func isRefusal(_ response: TransportResponse, of attempt: AuthenticationAttempt) -> Bool {
        // Only the providers that authorized the attempt judge it.
        guard let memos = attempt.memo as? Memos else {
            return fallback?.isRefusal(response, of: attempt) ?? (attempt.target.status == response.status)
        }
        return memos.members.contains { member in
            var own = attempt
            own.memo = memos.values[member.name]
            return member.provider.isRefusal(response, of: own)
        }
    }

    private var providers: [any AuthenticationProvider] {
        let made = made.withLock { Array($0.values) }
        let given = credentials.values.compactMap { if case .provider(let provider) = $0.kind { provider } else { nil } }
        return made + given + [fallback].compactMap(\.self)
    }

    var isSessionOpened: Bool {
        get async {
            for provider in providers where await provider.isSessionOpened { return true }
            return false
        }
    }

    func invalidate() async {
        for provider in providers { await provider.invalidate() }
    }
}

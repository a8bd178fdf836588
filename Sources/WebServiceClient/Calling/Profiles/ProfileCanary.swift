/// Watches the first calls of the endpoints that a new profile changes, and decides whether the profile stays.
final class ProfileCanary: Sendable {
    private struct State {
        var calls = 0
        var failures = 0
        var isOver = false
    }

    private let changes: ProfileChanges
    private let calls: Int
    /// The most failures of ``calls`` calls.
    private let allowed: Int
    private let fail: @Sendable (_ generation: Int, _ calls: Int, _ failures: Int) -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - changes: The endpoints to watch.
    ///   - trial: The number of calls and the allowed rate.
    ///   - fail: Called once if too many calls fail, with the number of the profile's generation.
    init(
        _ changes: ProfileChanges, _ trial: RemoteProfile.Canary,
        fail: @escaping @Sendable (_ generation: Int, _ calls: Int, _ failures: Int) -> Void
    ) {
        self.changes = changes
        calls = trial.calls
        allowed = trial.allowedFailures
        self.fail = fail
    }

    /// Notes the end of a call.
    ///
    /// - Parameter error: The error of the call; `nil` for a success.
    func note(_ key: MethodName, error: (any Error)?, generation: Int) {
        guard let error else { return count(key, isFailure: false, generation) }
        if Self.isFailure(error) { count(key, isFailure: true, generation) }
    }

    /// Notes a call whose arguments don't fit the endpoint.
    func noteUnbound(_ key: MethodName, generation: Int) {
        count(key, isFailure: true, generation)
    }

    private func count(_ key: MethodName, isFailure: Bool, _ generation: Int) {
        guard changes.include(key) else { return }
        let failed: State? = state.withLock { state in
            guard !state.isOver else { return nil }
            state.calls += 1
            if isFailure { state.failures += 1 }
            let hasFailed = state.failures > allowed
            state.isOver = hasFailed || state.calls >= calls
            return hasFailed ? state : nil
        }
        if let failed { fail(generation, failed.calls, failed.failures) }
    }

    /// Whether an error may be due to the endpoint: the server answered, and the answer isn't the one that the method expects. Without an
    /// answer, and with statuses that concern credentials or load, nothing is known about the endpoint.
    private static func isFailure(_ error: any Error) -> Bool {
        guard let error = error as? ServiceError else { return false }
        switch error.kind {
        case .status: return error.status.map { ![401, 407, 408, 425, 429, 503].contains($0) } ?? false
        case .refused: return error.response != nil
        case .emptyBody, .format, .decoding, .redirect: return true
        default: return false
        }
    }
}

/// The endpoints in which two profiles of a client differ.
struct ProfileChanges: Sendable, Equatable {
    /// Whether all endpoints differ, since the service roots do.
    private(set) var areAll = false
    /// The keys, and the bare names of methods.
    private(set) var keys: Set<String> = []

    /// Compares the class's endpoints with one profile and with another one.
    init(of endpoints: EndpointTable, from old: ServiceProfile?, to new: ServiceProfile) {
        areAll = (old?.baseURL ?? "") != new.baseURL
        let before = old.map { endpoints.overlaid(byProfile: $0.endpoints) } ?? endpoints
        let after = endpoints.overlaid(byProfile: new.endpoints)
        for (table, other) in [(before, after), (after, before)] {
            for entry in table.entries {
                guard let same = other[entry.key], same.differsOnlyInSettings(from: entry.descriptor) else {
                    keys.insert(entry.key)
                    continue
                }
            }
        }
    }

    /// Whether nothing differs.
    var isEmpty: Bool { !areAll && keys.isEmpty }

    /// Whether the endpoint of a method differs.
    func include(_ name: MethodName) -> Bool {
        areAll || keys.contains(name.description) || keys.contains(name.baseName)
    }
}

import Foundation

@testable import WebServiceClient

/// A source that counts its calls, and how many run at once.
final class CountingSource: TokenSource {
    private let state = Locked((calls: 0, active: 0, most: 0, old: [String?]()))
    private let obtain: @Sendable (_ number: Int, BearerToken?) async throws -> BearerToken
    let timeLimit: Duration

    init(
        timeLimit: Duration = .seconds(30), _ obtain: @escaping @Sendable (_ number: Int, BearerToken?) async throws -> BearerToken
    ) {
        self.timeLimit = timeLimit
        self.obtain = obtain
    }

    var calls: Int { state.withLock { $0.calls } }
    /// The most calls at once.
    var most: Int { state.withLock { $0.most } }
    /// The tokens to replace.
    var old: [String?] { state.withLock { $0.old } }

    func token(replacing old: BearerToken?) async throws -> BearerToken {
        let number = state.withLock { state in
            state.calls += 1
            state.active += 1
            state.most = max(state.most, state.active)
            state.old.append(old?.value)
            return state.calls
        }
        defer { state.withLock { $0.active -= 1 } }
        return try await obtain(number, old)
    }
}

/// Keeps the token of a ``BearerTokenProvider``: ``MemoryTokenStore``, ``FileTokenStore``, or a custom one, such as on a keychain.
///
/// A store is for one account at one authorization server. The provider loads the token before its first call, and saves each new one
/// before it uses it, because a refresh token is often valid once only. It saves and removes tokens one after the other, in the order of
/// the sign-ins and sign-outs, also if the store is slow. A store must not call the provider, which waits for it.
public protocol TokenStore: Sendable {
    /// Returns the stored token; `nil` if there is none.
    func load() async throws -> BearerToken?

    /// Replaces the stored token; `nil` removes it. After an error, the previous token must still be there.
    func save(_ token: BearerToken?) async throws

    /// Runs a body while no other process, and no other provider of this one, runs one with the same stored token.
    ///
    /// A store that several processes share must implement this: a server that sees a refresh token twice assumes that it was stolen, and
    /// signs the user out (RFC 9700 §4.14.2). The default runs the body at once.
    func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result
}

extension TokenStore {
    /// Runs the body.
    public func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        try await body()
    }
}

/// Keeps a token in memory. A new process starts without one.
public final class MemoryTokenStore: TokenStore, CustomStringConvertible, CustomReflectable {
    private let token: Locked<BearerToken?>

    /// Creates a store, with a token if there is one from elsewhere.
    public init(_ token: BearerToken? = nil) {
        self.token = Locked(token)
    }

    /// Returns the token.
    public func load() async -> BearerToken? { token.withLock { $0 } }

    /// Replaces the token.
    public func save(_ token: BearerToken?) async { self.token.withLock { $0 = token } }

    /// The type, without the token.
    public var description: String { "token store in memory" }

    /// Hides the token.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The operations of one session on its store: one at a time, in the order in which they were begun. Otherwise a slow removal could remove
/// the token of the next sign-in.
final class TokenStoreLine: Sendable {
    private let store: any TokenStore
    private let last = Locked<Task<Void, Never>?>(nil)

    init(_ store: any TokenStore) {
        self.store = store
    }

    /// Takes the next place in the line.
    ///
    /// - Returns: The operation, which runs even if nothing waits for it.
    func begin<Result: Sendable>(
        _ operation: @escaping @Sendable (any TokenStore) async throws -> Result
    ) -> Task<Result, any Error> {
        last.withLock { [store] last in
            let previous = last
            let task = Task {
                await previous?.value
                return try await operation(store)
            }
            last = Task { _ = await task.result }
            return task
        }
    }

    /// Runs an operation after those that were begun before. The caller's cancellation is passed on to it.
    func run<Result: Sendable>(_ operation: @escaping @Sendable (any TokenStore) async throws -> Result) async throws -> Result {
        try await wait(for: begin(operation))
    }

    /// Waits for an operation, and passes the caller's cancellation on to it.
    func wait<Result: Sendable>(for task: Task<Result, any Error>) async throws -> Result {
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

/// A token can't be read from or written to its store. It never contains a token.
public struct TokenStoreError: DescribedError, Sendable, Hashable {
    /// What happened and how to fix it, as a sentence.
    public let message: String

    /// Creates an error; custom stores create their own.
    public init(message: String) {
        self.message = VisibleText.of(message)
    }

    /// The message.
    public var description: String { message }
}

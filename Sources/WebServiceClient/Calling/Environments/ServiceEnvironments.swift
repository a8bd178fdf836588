public import Foundation

/// The environments of a program. One of them is current, and clients follow it:
/// ``WebServiceClient/WebServiceClient/init(environments:configure:)``.
///
///     let environments = try ServiceEnvironments(contentsOf: file, choice: .file(folder.appending(path: "environment")))
///     let shop = Shop(environments: environments)
///     try environments.switchTo("staging")
///     for await environment in environments.changes { title = environment.name }
///
/// When the current environment changes, each client has new settings for later calls; calls in flight keep the old ones. The owner of each
/// kind of state decides whether two environments share it:
///
/// | state | belongs to |
/// |---|---|
/// | session, retry budget, responses in the cache, shared exchanges | the environment and the origin |
/// | circuits, latencies, learned rate limits, pauses of the queue, Digest nonces | the origin |
/// | cookies | their host: environments on one host need a jar each |
/// | tokens, user names and passwords, API keys | their authentication provider: environments need a provider each |
/// | limits of the queue, and rate limits that the program sets | the client |
public final class ServiceEnvironments: Sendable {
    private struct State {
        var current: ServiceEnvironment
        /// The number of changes.
        var number = 0
        var clients: [WeakClient] = []
        var observers: [Int: AsyncStream<ServiceEnvironment>.Continuation] = [:]
        var observerCount = 0
        /// Whether a thread keeps the choice. It continues until the latest choice is kept.
        var isKeeping = false
    }

    private struct WeakClient {
        weak var client: WebServiceClient?
    }

    /// The environments, in their order.
    public let all: [ServiceEnvironment]
    /// Why the kept choice isn't used, such as a damaged file or an unknown name; `nil` if it is used, or if none was kept.
    public let choiceFault: ServiceEnvironmentError?
    private let choice: EnvironmentChoice?
    private let state: Locked<State>

    /// Creates environments.
    ///
    /// - Parameters:
    ///   - environments: The environments.
    ///   - initial: The name of the environment that is current at first, if no choice is kept. Default: the first one.
    ///   - choice: Where the name of the current environment is kept. Default: nowhere.
    /// - Throws: ``ServiceEnvironmentError`` with every fault of the environments, or of the kind `unknown` for a wrong `initial`.
    public convenience init(_ environments: [ServiceEnvironment], initial: String? = nil, choice: EnvironmentChoice? = nil)
        throws(ServiceEnvironmentError)
    {
        try self.init(environments, initial: initial, choice: choice, file: nil)
    }

    /// Creates environments.
    ///
    /// - Parameter file: The name of the file that the environments come from, for errors.
    init(
        _ environments: [ServiceEnvironment], initial: String?, choice: EnvironmentChoice?, file: String?
    ) throws(ServiceEnvironmentError) {
        var faults = environments.flatMap(\.faults)
        var names: Set<String> = []
        for environment in environments where !names.insert(environment.name).inserted {
            faults.append("two environments have the name \"\(environment.name)\": rename one of them")
        }
        guard let first = environments.first else {
            throw .invalid(["there are no environments: give at least one"], file: file)
        }
        guard faults.isEmpty else { throw .invalid(faults, file: file) }
        var environments = environments
        for index in environments.indices { environments[index].isAlone = environments.count == 1 }
        all = environments
        self.choice = choice
        var current = environments.first ?? first
        if let initial { current = try Self.find(initial, in: environments, file: file) }
        var fault: ServiceEnvironmentError?
        do {
            if let kept = try choice?.load() { current = try Self.find(kept, in: environments) }
        } catch let error as ServiceEnvironmentError {
            fault = .unusableChoice(error.description, current: current.name)
        } catch {
            fault = .unusableChoice(ServiceError.text(of: error), current: current.name)
        }
        choiceFault = fault
        state = Locked(State(current: current))
    }

    deinit {
        for observer in state.withLock({ $0.observers.values.map(\.self) }) { observer.finish() }
    }

    /// The names, in the environments' order.
    public var names: [String] { all.map(\.name) }

    /// The current environment.
    public var current: ServiceEnvironment { state.withLock { $0.current } }

    /// Returns the environment with a name.
    ///
    /// - Throws: ``ServiceEnvironmentError`` of the kind `unknown`, with the nearest name and all names.
    public func environment(named name: String) throws(ServiceEnvironmentError) -> ServiceEnvironment {
        try Self.find(name, in: all)
    }

    /// Makes an environment the current one. When the method returns, later calls of all clients that follow the environments use it.
    ///
    /// - Throws: ``ServiceEnvironmentError``: of the kind `unknown` if no environment has the name, and nothing changes; of the kind
    ///   `choiceNotKept` if the environment is current now, but the choice can't be kept.
    public func switchTo(_ name: String) throws(ServiceEnvironmentError) {
        let environment = try Self.find(name, in: all)
        let (number, clients) = state.withLock { state in
            guard state.current.name != name else { return (state.number, [WebServiceClient]()) }
            state.current = environment
            state.number += 1
            // Under the lock: of two concurrent changes, observers must get the later one last.
            for observer in state.observers.values { observer.yield(environment) }
            return (state.number, state.clients.compactMap(\.client))
        }
        // Of two concurrent changes, clients take the one with the higher number, whichever arrives last.
        for client in clients { client.apply(environment, number: number, of: self) }
        try keep()
    }

    /// The current environment after each change, as an asynchronous sequence. A slow reader misses environments in between, but always
    /// gets the latest. The sequence doesn't retain the environments, and ends when they are released.
    public var changes: EnvironmentChanges { EnvironmentChanges(environments: self) }

    /// Adds a client that follows the changes.
    ///
    /// - Returns: The current environment.
    func add(_ client: WebServiceClient) -> (environment: ServiceEnvironment, number: Int) {
        // The clients are released after the lock.
        let (current, number, _) = state.withLock { state in
            let known = state.clients.compactMap(\.client)
            state.clients.removeAll { $0.client == nil }
            if !known.contains(where: { $0 === client }) { state.clients.append(WeakClient(client: client)) }
            return (state.current, state.number, known)
        }
        return (current, number)
    }

    /// A stream of the environments from now on.
    func stream() -> AsyncStream<ServiceEnvironment> {
        let (stream, continuation) = AsyncStream.makeStream(of: ServiceEnvironment.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.observerCount += 1
            state.observers[state.observerCount] = continuation
            return state.observerCount
        }
        continuation.onTermination = { [weak self] _ in _ = self?.state.withLock { $0.observers.removeValue(forKey: number) } }
        return stream
    }

    /// Keeps the name of the current environment. If changes are concurrent, one thread keeps the last name.
    private func keep() throws(ServiceEnvironmentError) {
        guard let choice else { return }
        let isFirst = state.withLock { state in
            defer { state.isKeeping = true }
            return !state.isKeeping
        }
        guard isFirst else { return }
        var failure: (any Error)?
        var isLast = false
        while !isLast {
            let (name, number) = state.withLock { ($0.current.name, $0.number) }
            do {
                try choice.save(name)
                failure = nil
            } catch {
                failure = error
            }
            isLast = state.withLock { state in
                guard state.number == number else { return false }
                state.isKeeping = false
                return true
            }
        }
        if let failure { throw .choiceNotKept(current.name, ServiceError.text(of: failure)) }
    }

    private static func find(
        _ name: String, in environments: [ServiceEnvironment], file: String? = nil
    ) throws(ServiceEnvironmentError) -> ServiceEnvironment {
        guard let found = environments.first(where: { $0.name == name }) else {
            throw .unknown(name, names: environments.map(\.name), file: file)
        }
        return found
    }
}

extension ServiceEnvironments: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names.
    public var description: String { "\(current.name) of \(names.joined(separator: ", "))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The names, without settings.
    public var customMirror: Mirror { Mirror(self, children: ["current": current.name, "names": names]) }
}

/// The changes of the current environment: ``ServiceEnvironments/changes``.
public struct EnvironmentChanges: AsyncSequence, Sendable {
    /// An environment.
    public typealias Element = ServiceEnvironment

    // The stream begins with the sequence, so that no change is missed between the sequence and its iterator.
    private let stream: AsyncStream<ServiceEnvironment>

    init(environments: ServiceEnvironments) {
        stream = environments.stream()
    }

    /// Returns an iterator. Each sequence has one reader.
    public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator()) }

    /// An iterator over the changes.
    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncStream<ServiceEnvironment>.AsyncIterator

        /// The environment after the next change; `nil` after the end, and if the task is cancelled.
        public mutating func next() async -> ServiceEnvironment? { await base.next() }
    }
}

/// A place that keeps the name of the current environment between runs of a program.
public struct EnvironmentChoice: Sendable {
    /// Returns the kept name; `nil` if there is none.
    let load: @Sendable () throws -> String?
    /// Keeps a name.
    let save: @Sendable (_ name: String) throws -> Void

    /// Keeps the name with closures of the program. The closures may block; they aren't called concurrently.
    public init(load: @escaping @Sendable () throws -> String?, save: @escaping @Sendable (_ name: String) throws -> Void) {
        self.load = load
        self.save = save
    }

    /// Keeps the name in a file that only the process's user can access. The file is replaced atomically.
    public static func file(_ file: URL) -> EnvironmentChoice {
        let place = PrivateFile(file, sizeLimit: 4_096)
        @Sendable func wrappingErrors<Result>(_ body: () throws(PrivateFile.Failure) -> Result) throws -> Result {
            do {
                return try body()
            } catch {
                throw ServiceEnvironmentError(.choiceNotKept, "the file \(place.name) \(error.reason)")
            }
        }
        return EnvironmentChoice(
            load: {
                guard let data = try wrappingErrors({ () throws(PrivateFile.Failure) in try place.read() }) else { return nil }
                guard let text = String(data: data, encoding: .utf8) else {
                    throw ServiceEnvironmentError(.choiceNotKept, "the file \(place.name) isn't text: remove it.")
                }
                return text.trimmingCharacters(in: .whitespacesAndNewlines)
            },
            save: { name in
                try wrappingErrors { () throws(PrivateFile.Failure) in try place.replace(with: Data((name + "\n").utf8)) }
            })
    }

    /// Keeps the name in the user's defaults.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - suite: The name of the defaults' suite; `nil` for the standard one.
    public static func userDefaults(key: String, suite: String? = nil) -> EnvironmentChoice {
        @Sendable func defaults() throws -> UserDefaults {
            guard let suite else { return .standard }
            guard let defaults = UserDefaults(suiteName: suite) else {
                throw ServiceEnvironmentError(.choiceNotKept, "there are no user defaults of the suite \"\(suite)\": use another name.")
            }
            return defaults
        }
        return EnvironmentChoice(load: { try defaults().string(forKey: key) }, save: { try defaults().set($0, forKey: key) })
    }
}

/// An error of environments.
public struct ServiceEnvironmentError: DescribedError, Sendable, Hashable {
    /// The kinds of errors.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// No environment has the name.
        case unknown
        /// Environments, or their file, have faults.
        case invalid
        /// The choice can't be kept, or the kept choice can't be used.
        case choiceNotKept
    }

    /// The kind of error.
    public let kind: Kind
    /// What happened and how to fix it.
    public let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = VisibleText.of(description)
    }

    static func unknown(_ name: String, names: [String], file: String? = nil) -> Self {
        let hint = NearestName.of(name, among: names).map { "the nearest name is \"\($0)\", and " } ?? ""
        return Self(
            .unknown,
            "\(file.map { "\($0): " } ?? "")There is no environment \"\(name)\": \(hint)the names are \(names.joined(separator: ", ")).")
    }

    static func invalid(_ faults: [String], file: String? = nil) -> Self {
        // VisibleText would replace the line breaks.
        Self(kind: .invalid, lines: ["The environments\(file.map { " in \($0)" } ?? "") can't be used:"] + faults.map { "  - \($0)" })
    }

    static func unusableChoice(_ reason: String, current: String) -> Self {
        Self(.choiceNotKept, "The kept choice of an environment isn't used, and \"\(current)\" is current: \(reason)")
    }

    static func choiceNotKept(_ name: String, _ reason: String) -> Self {
        Self(.choiceNotKept, "The environment \"\(name)\" is current, but the choice isn't kept: \(reason)")
    }

    private init(kind: Kind, lines: [String]) {
        self.kind = kind
        description = lines.map { VisibleText.of($0) }.joined(separator: "\n")
    }
}

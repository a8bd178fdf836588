import Foundation
// Programs import one module: requests, responses, transports and trust come with it.
@_exported public import HTTPTransport

/// A client of a web service: subclass it, declare the service's endpoints in a table, and call methods.
///
///     final class GitHub: WebServiceClient, @unchecked Sendable {
///         override class var endpoints: EndpointTable {
///             ["repository(owner:name:)": .get("/repos/%%0%%/%%1%%")]
///         }
///
///         func repository(owner: String, name: String) async throws -> Repository { try await call(owner, name) }
///     }
///
///     let github = GitHub(serviceRoot: "https://api.github.com")
///     let swift = try await github.repository(owner: "swiftlang", name: "swift")
///
/// A client may be used from any number of tasks at once. The compiler can't check that an open class is `Sendable`, so each subclass
/// restates `@unchecked Sendable`. One lock guards all mutable state of this class; a subclass must guard its own.
open class WebServiceClient: @unchecked Sendable {
    private struct Mutable {
        var configuration: Configuration
        /// The environments that the client follows; their current one; and the number of the change that made it current.
        var environments: ServiceEnvironments?
        var environment: ServiceEnvironment?
        var environmentNumber = 0
        var sessions: [ServicePlace: SessionState] = [:]
        var profiles = ProfileHistory()
        /// Counts changes, so that a state made from old settings isn't stored.
        var generation = 0
        var state: ClientState?

        /// Discards the state, so that the next call makes one from the current settings.
        mutating func renew() {
            generation += 1
            state = nil
        }
    }

    private let mutable: Locked<Mutable>
    /// The state of the chain's stages, which outlives changes of the configuration.
    let runtime = ClientRuntime()

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - serviceRoot: The URL that relative routes are joined to. If empty, the class's ``EndpointDefaults/serviceRoot`` applies.
    ///   - configure: Sets the other settings.
    ///
    /// The initializer checks nothing: ``verify()-instance`` lists every fault, and the first call throws them. Whichever runs first also
    /// reports them to the diagnostics, and in debug builds to standard error.
    public init(serviceRoot: String = "", configure: (inout Configuration) -> Void = { _ in }) {
        var configuration = Configuration()
        configuration.serviceRoot = serviceRoot
        configure(&configuration)
        mutable = Locked(Mutable(configuration: configuration))
        runtime.queue.apply(configuration.queue, number: 0)
        runtime.backgroundKeeper.apply(configuration.backgroundTime, configuration.diagnostics, number: 0)
    }

    /// Creates a client with the endpoints of a profile laid over those of the class.
    public convenience init(profile: ServiceProfile, configure: (inout Configuration) -> Void = { _ in }) {
        self.init(serviceRoot: "", configure: configure)
        let root = ownRoot
        mutable.withLock { $0.profiles = ProfileHistory(profile, root: root) }
    }

    deinit {
        // Background requests hold the chain, and with it the runtime.
        runtime.background.end()
        let released = CallCancelled(.shutdown, reason: "The client was released.")
        runtime.queue.close(with: released)
        runtime.networkWaits.close(with: released)
        runtime.calls.endObservers()
    }

    // MARK: Declarations

    /// The endpoints by method name. A class that inherits endpoints writes `super.endpoints.overlaid(by: […])`.
    open class var endpoints: EndpointTable { [:] }

    /// Defaults for every endpoint.
    open class var defaults: EndpointDefaults { EndpointDefaults() }

    // MARK: Settings

    /// The current settings, without those of the environment that the client follows.
    public var configuration: Configuration {
        mutable.withLock { $0.configuration }
    }

    /// The current settings, and the environment that the client follows at the same moment.
    var configurationAndEnvironment: (Configuration, ServiceEnvironment?) {
        mutable.withLock { ($0.configuration, $0.environment) }
    }

    /// Changes settings atomically for later calls. Calls in flight keep theirs.
    public func configure(_ change: (inout Configuration) -> Void) {
        var (configuration, generation) = mutable.withLock { ($0.configuration, $0.generation) }
        change(&configuration)
        mutable.withLock { mutable in
            if mutable.generation != generation {
                // The settings changed concurrently: apply the change to the new ones, again atomically.
                configuration = mutable.configuration
                generation = -1
            } else {
                mutable.configuration = configuration
                mutable.renew()
            }
        }
        if generation == -1 { return configure(change) }
        applyLimits()
    }

    /// Gives the queue its limits, and the background keeper its settings.
    private func applyLimits() {
        // If two changes are concurrent, the one with the higher number is the later one.
        let (latest, environment, number) = mutable.withLock { ($0.configuration, $0.environment, $0.generation) }
        let applied = environment?.applied(to: latest, of: String(describing: type(of: self))) ?? latest
        runtime.queue.apply(applied.queue, number: number)
        runtime.backgroundKeeper.apply(applied.backgroundTime, applied.diagnostics, number: number)
    }

    /// Follows other environments, or none.
    func replaceEnvironments(_ environments: ServiceEnvironments?, _ current: ServiceEnvironment?, number: Int) {
        // The old environments are released after the lock.
        let _: ServiceEnvironments? = mutable.withLock { mutable in
            let old = mutable.environments
            (mutable.environments, mutable.environment, mutable.environmentNumber) = (environments, current, number)
            mutable.renew()
            return old
        }
        applyLimits()
    }

    /// Uses another environment for later calls, unless a later change came first.
    func apply(_ environment: ServiceEnvironment, number: Int, of environments: ServiceEnvironments) {
        let isNew = mutable.withLock { mutable in
            guard mutable.environments === environments, number > mutable.environmentNumber else { return false }
            (mutable.environment, mutable.environmentNumber) = (environment, number)
            mutable.renew()
            return true
        }
        if isNew { applyLimits() }
    }

    /// Replaces the session of the service that a state is for.
    ///
    /// - Returns: Whether the state was still the current one.
    func replaceSession(_ session: SessionState, of state: ClientState) -> Bool {
        mutable.withLock { mutable in
            guard mutable.state === state else { return false }
            mutable.sessions[state.place] = session == SessionState() ? nil : session
            mutable.renew()
            return true
        }
    }

    /// The profiles that the client had.
    var profiles: ProfileHistory { mutable.withLock { $0.profiles } }

    /// Changes the profiles, unless the client's settings change at the same time.
    ///
    /// - Parameter change: Verifies the new profiles with the current settings. It is repeated if the settings change in the meantime.
    func changeProfiles(_ change: (inout ProfileHistory) throws(TableFaults) -> Void) throws(TableFaults) {
        var isSet = false
        while !isSet {
            let (old, generation) = mutable.withLock { ($0.profiles, $0.generation) }
            var new = old
            // Outside the lock, because it runs code of the subclass.
            try change(&new)
            guard new.current.number != old.current.number else { return }
            isSet = mutable.withLock { mutable in
                guard mutable.generation == generation else { return false }
                mutable.profiles = new
                mutable.renew()
                return true
            }
        }
    }

    /// The circuits of the client's circuit breakers, by origin.
    public var circuits: Circuits { Circuits(registry: runtime.circuits, diagnostics: configuration.diagnostics) }

    /// The current state.
    var state: ClientState {
        // A separate lock scope: every call runs this line, and copying the settings is most of the cost.
        if let known = mutable.withLock({ $0.state }) { return known }
        let (configuration, environment, profiles, sessions, generation) = mutable.withLock {
            ($0.configuration, $0.environment, $0.profiles, $0.sessions, $0.generation)
        }
        // Outside the lock, because it runs code of the subclass.
        let made = ClientState(
            self, configuration: configuration, environment: environment, profile: profiles.current.profile, ownRoot: profiles.root,
            generation: profiles.current, sessions: sessions)
        let isFirst = mutable.withLock { mutable in
            guard mutable.generation == generation, mutable.state == nil else { return false }
            mutable.state = made
            return true
        }
        if isFirst { made.reportFaults() }
        return made
    }
}

extension WebServiceClient {
    /// Calls the endpoint declared for the enclosing method and returns its value.
    ///
    ///     func repository(owner: String, name: String) async throws -> Repository { try await call(owner, name) }
    ///
    /// `Data` and `String` receive the unchanged body (an `ODataClient` reads them from inside OData's JSON). An `Optional` is `nil` for
    /// 204, 205, empty bodies, and a 304 to a conditional GET or HEAD. ``Pages`` and ``Items`` of an endpoint that is
    /// ``EndpointDescriptor/paged(by:)`` send their requests when they are read. Any other type is decoded.
    ///
    /// - Parameters:
    ///   - arguments: All of the method's arguments in order, except those that the descriptor ignores.
    ///   - prepare: Changes the request, after the client's preparers.
    ///   - timeout: The deadline of the whole call.
    ///   - function: The endpoint's key; omit it.
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func call<Value: Decodable>(
        _ arguments: (any Sendable)?..., prepare: (@Sendable (inout ServiceRequest) async throws -> Void)? = nil,
        timeout: Duration? = nil, function: String = #function
    ) async throws -> Value {
        let dispatcher = try dispatcher(function, prepare, timeout)
        if dispatcher.endpoint.isPaged, let pages: Value = series(arguments, prepare, timeout, function).result() { return pages }
        return try await dispatcher.value(arguments)
    }

    /// Calls the endpoint declared for the enclosing method and discards the response's body after reading it.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func call(
        _ arguments: (any Sendable)?..., prepare: (@Sendable (inout ServiceRequest) async throws -> Void)? = nil,
        timeout: Duration? = nil, function: String = #function
    ) async throws {
        let _: NoContent = try await dispatcher(function, prepare, timeout).value(arguments)
    }

    /// Calls the endpoint declared for the enclosing method and returns the value with its response.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func call<Value: Decodable>(
        _ arguments: (any Sendable)?..., prepare: (@Sendable (inout ServiceRequest) async throws -> Void)? = nil,
        timeout: Duration? = nil, function: String = #function
    ) async throws -> ServiceResponse<Value> {
        try await dispatcher(function, prepare, timeout).response(arguments)
    }

    /// Calls the endpoint declared for the enclosing method and returns the body as a stream.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func stream(
        _ arguments: (any Sendable)?..., prepare: (@Sendable (inout ServiceRequest) async throws -> Void)? = nil,
        timeout: Duration? = nil, function: String = #function
    ) async throws -> ServiceResponse<ResponseBody> {
        let dispatcher = try dispatcher(function, prepare, timeout)
        return try await dispatcher.stream(to: dispatcher.bind(arguments))
    }

    @inline(never)
    private func series(
        _ arguments: [(any Sendable)?], _ prepare: (@Sendable (inout ServiceRequest) async throws -> Void)?, _ timeout: Duration?,
        _ function: String
    ) -> SeriesCall {
        SeriesCall(client: self, arguments: arguments) { try self.dispatcher(function, prepare, timeout) }
    }

    @inline(never)
    private func dispatcher(
        _ function: String, _ prepare: (@Sendable (inout ServiceRequest) async throws -> Void)?, _ timeout: Duration?
    ) throws -> Dispatcher {
        let state = state
        return Dispatcher(
            state: state, endpoint: try state.endpoint(for: function), options: CallOptions(prepare: prepare, timeout: timeout))
    }
}

/// Adds the members that need the subclass's type to clients.
public protocol ServiceClient: WebServiceClient {}

extension WebServiceClient: ServiceClient {}

extension ServiceClient {
    /// Gives attributes to the calls that a closure makes with this client. They take precedence over those of the endpoint.
    ///
    ///     let page = try await github.with(.solicited) { try await $0.repository(owner: "swiftlang", name: "swift") }
    ///
    /// Calls of child tasks have the attributes too; calls of detached tasks, and those that interceptors and authentication providers
    /// make, don't.
    ///
    /// - Parameters:
    ///   - attributes: The attributes; of two of one type, the last counts.
    ///   - isolation: The caller's isolation, which the closure shares.
    ///   - body: Makes the calls.
    public func with<Result>(
        _ attributes: any EndpointAttribute..., isolation: isolated (any Actor)? = #isolation, _ body: (Self) async throws -> Result
    ) async rethrows -> Result {
        try await CallAttributes.$current.withValue(CallAttributes(client: self, attributes)) { try await body(self) }
    }

    /// Returns the request that a call would send, without sending it. Preparers and preemptive authentication run; the transport doesn't.
    ///
    /// Captures the first call that the closure makes with this client. Calls that interceptors and authentication providers make are sent:
    /// a request without its token wouldn't be the real one.
    ///
    ///     let request = try await github.dryRun { try await $0.repository(owner: "swiftlang", name: "swift") }
    ///
    /// - Parameters:
    ///   - isolation: The caller's isolation, which the closure shares.
    ///   - body: Makes the call.
    /// - Throws: ``DryRunError`` if the closure makes no call, ``ServiceError`` if the call fails before it would be sent.
    public func dryRun<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (Self) async throws -> Result
    ) async throws -> ServiceRequest {
        let dryRun = DryRun(client: self)
        do {
            _ = try await DryRun.$current.withValue(dryRun) { try await body(self) }
        } catch {
            guard let request = dryRun.request else { throw error }
            return request
        }
        guard let request = dryRun.request else { throw DryRunError() }
        return request
    }
}

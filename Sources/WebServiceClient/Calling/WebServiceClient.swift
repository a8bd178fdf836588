public import Foundation
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
        var profile: ServiceProfile?
        /// The service root of the first profile that has one. Later profiles must keep its origin if neither client nor class has a root.
        var profileRoot = ""
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
        mutable.withLock {
            $0.profile = profile
            $0.profileRoot = profile.baseURL
        }
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

    /// The profile laid over the class's table, or `nil`. See ``replaceProfile(_:)``.
    public var profile: ServiceProfile? {
        mutable.withLock { $0.profile }
    }

    /// Lays another profile over the class's table, or none. Replaces the endpoints atomically for later calls; calls in flight keep
    /// theirs.
    ///
    /// A profile has no faults by itself. If it doesn't fit this client, the method throws and the old profile stays. ``verify(_:)`` lists
    /// the faults without replacing anything.
    ///
    /// - Throws: ``TableFaults``, with every fault that the client would have with the profile and doesn't have without one.
    public func replaceProfile(_ profile: ServiceProfile?) throws(TableFaults) {
        var isSet = false
        while !isSet {
            let generation = mutable.withLock { $0.generation }
            if let profile {
                let faults = verify(profile)
                guard faults.isEmpty else { throw TableFaults(client: String(describing: type(of: self)), faults: faults) }
            }
            isSet = mutable.withLock { mutable in
                // The profile was verified with these settings.
                guard mutable.generation == generation else { return false }
                mutable.profile = profile
                if mutable.profileRoot.isEmpty { mutable.profileRoot = profile?.baseURL ?? "" }
                mutable.renew()
                return true
            }
        }
    }

    /// The circuits of the client's circuit breakers, by origin.
    public var circuits: Circuits { Circuits(registry: runtime.circuits, diagnostics: configuration.diagnostics) }

    /// The service root of the first profile that has one.
    var profileRoot: String { mutable.withLock { $0.profileRoot } }

    /// The current state.
    var state: ClientState {
        // A separate lock scope: every call runs this line, and copying the settings is most of the cost.
        if let known = mutable.withLock({ $0.state }) { return known }
        let (configuration, environment, profile, ownRoot, sessions, generation) = mutable.withLock {
            ($0.configuration, $0.environment, $0.profile, $0.profileRoot, $0.sessions, $0.generation)
        }
        // Outside the lock, because it runs code of the subclass.
        let made = ClientState(
            self, configuration: configuration, environment: environment, profile: profile, ownRoot: ownRoot, sessions: sessions)
        let isFirst = mutable.withLock { mutable in
            guard mutable.generation == generation, mutable.state == nil else { return false }
            mutable.state = made
            return true
        }
        if isFirst { made.tellFaults() }
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
    /// Calls of child tasks have the attributes too; calls of detached tasks, and those that interceptors and authentication providers make,
    /// don't.
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

extension WebServiceClient {
    /// Lists every fault in the class's declarations: its table's keys, placeholders, arguments, bodies and headers, and its default
    /// headers and service root. Empty if there are none.
    ///
    /// A one-line test verifies a table:
    ///
    ///     #expect(GitHub.verify().isEmpty)
    public class func verify() -> [TableFault] {
        let defaults = defaults
        let table = compiledTable(defaults)
        return table.faults + ServiceRoot.faults(in: defaults.serviceRoot) + DefaultsCheck.faults(in: defaults)
            + RetryCheck.faults(table: table, settings: defaults.settings) + SettingsCheck.faults(defaults.settings)
    }

    /// Lists every fault, and every requirement of an endpoint that a transport with these capabilities can't meet.
    public class func verify(for capabilities: TransportCapabilities) -> [TableFault] {
        let defaults = defaults
        return verify()
            + CapabilityCheck.faults(
                table: compiledTable(defaults), settings: defaults.settings, perMethod: defaults.perMethod.mapValues(\.settings),
                capabilities: capabilities)
    }

    /// Lists every fault of this client: its table with its profile, its service root, its trust policy, and the capabilities that its
    /// transport lacks.
    ///
    /// For each configuration, the first call of this method or of an endpoint reports the faults as a warning to
    /// ``Configuration/diagnostics``. Debug builds also print them to standard error, in case the program swallows the error; release
    /// builds print nothing.
    public func verify() -> [TableFault] {
        state.faults
    }

    /// Lists the faults that this client would have with a profile and doesn't have without one. It checks the service root and the
    /// endpoints that profile and class form together, and the origin of the profile's `BaseURL` if the program doesn't list it. Empty if the
    /// profile can be set.
    ///
    /// A bare name of the profile must fit the methods of that name in the class's table. A method that isn't in the table is checked when
    /// it is called. Missing capabilities of the transport for an endpoint don't count as faults of the profile.
    public func verify(_ profile: ServiceProfile) -> [TableFault] {
        let (configuration, environment) = mutable.withLock { ($0.configuration, $0.environment) }
        let known = Set(ClientState(self, configuration: configuration, environment: environment, profile: nil).faults)
        let state = ClientState(self, configuration: configuration, environment: environment, profile: profile, ownRoot: profileRoot)
        return state.faults.filter {
            // Capabilities count for the settings common to all endpoints only: a replaced endpoint may have had its own.
            ($0.kind != .missingCapability || $0.key == nil) && !known.contains($0)
        }
    }

    /// The class's table as a value that can be stored and compared.
    public class func describe() -> ClientDescription {
        ClientDescription(client: String(describing: self), table: endpoints, perMethod: defaults.perMethod)
    }

    /// The class's table. A root and headers with placeholders use arguments, so they belong to it.
    private class func compiledTable(_ defaults: EndpointDefaults) -> CompiledTable {
        let root = ServiceRoot.hasPlaceholders(defaults.serviceRoot) ? defaults.serviceRoot : nil
        return CompiledTable.of(self, root: root, headers: HeaderTemplates(defaults.headers, defaults), endpoints)
    }
}

extension ClientState {
    /// Reports each fault once to the diagnostics, and in debug builds to standard error because an unnoticed fault costs hours.
    func tellFaults() {
        for note in profileNotes { configuration.diagnostics.report(.init(.notice, "The profile of \(clientName): \(note).")) }
        if configuration.proxyAuthenticationProvider != nil, !configuration.transport.capabilities.contains(.proxyAuthentication) {
            configuration.diagnostics.report(
                .init(.warning, "The transport of \(clientName) doesn't deliver a proxy's 407, so proxyAuthenticationProvider is unused."))
        }
        if let trust = configuration.trust, !trust.isStandard, root?.origin.scheme == "http" {
            configuration.diagnostics.report(
                .init(.warning, "The service root of \(clientName) is http, so its trust policy has no effect: use https."))
        }
        if sharesProvider {
            configuration.diagnostics.report(
                .init(
                    .warning,
                    "The current environment of \(clientName) uses the client's own authentication provider, so each environment without a "
                        + "provider gets its credentials: set the provider of each environment in ServiceEnvironment.configure."))
        }
        if let note = DefaultTransport.note(to: clientName, over: configuration.transport) { configuration.diagnostics.report(note) }
        guard !faults.isEmpty else { return }
        let text = TableFaults(client: clientName, faults: faults).description
        configuration.diagnostics.report(.init(.warning, text))
        #if DEBUG
        StandardError.write(text + "\n")
        #endif
    }
}

extension WebServiceClient {
    /// Makes calls without a table: `client.http.get("/users/%%0%%", id)`. The separate namespace lets endpoint methods have names such as
    /// `get` or `delete`.
    public var http: HTTPCalls { HTTPCalls(client: self) }

    /// The origin of the service root; `nil` if the root is missing or its host is an argument.
    package var serviceOrigin: Origin? { state.root?.origin }

    /// The current date on the client's clock.
    package var currentDate: Date { runtime.clock.date() }

    /// Waits on the client's clock.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    package func pause(for duration: Duration) async throws {
        try await runtime.clock.sleep(duration, unless: CallCancellation())
    }
}

/// Makes calls without a table: ``WebServiceClient/WebServiceClient/http``.
///
///     let user: User = try await client.http.get("/users/%%0%%", id).value()
///     try await client.http.delete("/users/%%0%%", id).send()
///
/// Each function creates a ``ServiceCall`` and sends nothing. ``ServiceCall/send()``, ``ServiceCall/value(_:)``,
/// ``ServiceCall/response(_:)`` and ``ServiceCall/stream()`` send it. The compiler warns about an unused call.
public struct HTTPCalls: Sendable {
    let client: WebServiceClient

    /// Creates a call with any method to a route below the service root. `%%N%%` in the route is replaced by the argument at that position.
    public func request(_ method: ServiceRequest.Method, _ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .endpoint(method, route), arguments: arguments)
    }

    /// Creates a GET call: `client.http.get("/users/%%0%%", id).value(User.self)`.
    public func get(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .get(route), arguments: arguments)
    }

    /// Creates a HEAD call.
    public func head(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .head(route), arguments: arguments)
    }

    /// Creates a POST call.
    public func post(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .post(route), arguments: arguments)
    }

    /// Creates a PUT call.
    public func put(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .put(route), arguments: arguments)
    }

    /// Creates a PATCH call.
    public func patch(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .patch(route), arguments: arguments)
    }

    /// Creates a DELETE call.
    public func delete(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .delete(route), arguments: arguments)
    }

    /// Creates a call to a percent-encoded path below the service root, with its query if it has one. The target is sent unchanged. Modules
    /// that print their own URLs use it.
    package func request(_ method: ServiceRequest.Method = .get, encoded target: String) -> ServiceCall {
        var call = ServiceCall(client: client, descriptor: .endpoint(method, ""))
        call.target = .encoded(target)
        call.key = "\(method) encoded"
        return call
    }

    /// Creates a call to a URL from one of the service's responses, such as a next page or a location. If it has the service root's origin,
    /// the call carries the client's headers and credentials. Another origin is an error, because a response must not decide where
    /// credentials go.
    public func request(_ method: ServiceRequest.Method = .get, link: URL) -> ServiceCall {
        var call = ServiceCall(client: client, descriptor: .endpoint(method, ""))
        call.target = .link(link)
        call.key = "\(method) link"
        return call
    }

    /// Creates a call to an absolute URL outside the service. It carries no credentials and no headers of client or class, but runs through
    /// the same chain.
    public func request(_ method: ServiceRequest.Method = .get, outside url: URL) -> ServiceCall {
        var call = ServiceCall(client: client, descriptor: .endpoint(method, ""))
        call.target = .outside(url)
        call.key = "\(method) outside"
        return call
    }
}

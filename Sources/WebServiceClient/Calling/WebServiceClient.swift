public import Foundation

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
/// A client may be used from any number of tasks at once. `@unchecked Sendable` is restated by each subclass since a class that can be
/// subclassed can't be checked: all mutable state here is behind one lock, and a subclass keeps to that.
open class WebServiceClient: @unchecked Sendable {
    private struct Mutable {
        var configuration: Configuration
        var profile: ServiceProfile?
        /// The service root of the first profile that had one: later ones keep its origin where neither client nor class has a root.
        var profileRoot = ""
        /// Counts changes, so that a state made from old settings is not kept.
        var generation = 0
        var state: ClientState?

        /// Lets the next call make a state of what is set now.
        mutating func renew() {
            generation += 1
            state = nil
        }
    }

    private let mutable: Locked<Mutable>

    /// A client.
    ///
    /// - Parameters:
    ///   - serviceRoot: what relative routes are joined to; empty takes the class's ``EndpointDefaults/serviceRoot``.
    ///   - configure: sets what else there is to set.
    ///
    /// Nothing is checked here: ``verify()-instance`` lists every fault, and the first call throws them. Whichever comes first also tells them
    /// to the diagnostics, and in debug builds to standard error.
    public init(serviceRoot: String = "", configure: (inout Configuration) -> Void = { _ in }) {
        var configuration = Configuration()
        configuration.serviceRoot = serviceRoot
        configure(&configuration)
        mutable = Locked(Mutable(configuration: configuration))
    }

    /// A client whose endpoints come from a profile, laid over the class's own.
    public convenience init(profile: ServiceProfile, configure: (inout Configuration) -> Void = { _ in }) {
        self.init(serviceRoot: "", configure: configure)
        mutable.withLock {
            $0.profile = profile
            $0.profileRoot = profile.baseURL
        }
    }

    // MARK: Declarations

    /// The endpoints by method name. A subclass of a subclass writes `super.endpoints.overlaid(by: […])`.
    open class var endpoints: EndpointTable { [:] }

    /// What is said of all endpoints.
    open class var defaults: EndpointDefaults { EndpointDefaults() }

    // MARK: Settings

    /// The settings as they are now.
    public var configuration: Configuration {
        mutable.withLock { $0.configuration }
    }

    /// Changes settings, all at once, for later calls; calls in flight keep theirs.
    public func configure(_ change: (inout Configuration) -> Void) {
        var (configuration, generation) = mutable.withLock { ($0.configuration, $0.generation) }
        change(&configuration)
        mutable.withLock { mutable in
            if mutable.generation != generation {
                // Somebody else changed settings meanwhile; the change is made again on top of theirs, still as one.
                configuration = mutable.configuration
                generation = -1
            } else {
                mutable.configuration = configuration
                mutable.renew()
            }
        }
        if generation == -1 { configure(change) }
    }

    /// The profile laid over the class's table, if there is one: see ``replaceProfile(_:)``.
    public var profile: ServiceProfile? {
        mutable.withLock { $0.profile }
    }

    /// Lays another profile over the class's table, or none. It replaces the endpoints for later calls, all at once; calls in flight keep
    /// theirs.
    ///
    /// A profile that can be made has no faults by itself. One that doesn't fit this client is refused, and the old one stays;
    /// ``verify(_:)`` lists its faults without replacing anything.
    ///
    /// - Throws: ``TableFaults``, every fault that the client would have with the profile and doesn't have without any.
    public func replaceProfile(_ profile: ServiceProfile?) throws(TableFaults) {
        var isSet = false
        while !isSet {
            let generation = mutable.withLock { $0.generation }
            if let profile {
                let faults = verify(profile)
                guard faults.isEmpty else { throw TableFaults(client: String(describing: type(of: self)), faults: faults) }
            }
            isSet = mutable.withLock { mutable in
                // What it was checked with must still hold.
                guard mutable.generation == generation else { return false }
                mutable.profile = profile
                if mutable.profileRoot.isEmpty { mutable.profileRoot = profile?.baseURL ?? "" }
                mutable.renew()
                return true
            }
        }
    }

    /// The service root of the first profile that had one.
    var profileRoot: String { mutable.withLock { $0.profileRoot } }

    /// What the client is now.
    var state: ClientState {
        // By itself: each call comes here, and a copy of the settings is most of what this would cost it.
        if let known = mutable.withLock({ $0.state }) { return known }
        let (configuration, profile, ownRoot, generation) = mutable.withLock {
            ($0.configuration, $0.profile, $0.profileRoot, $0.generation)
        }
        // Made outside the lock: it runs the subclass's code.
        let made = ClientState(self, configuration: configuration, profile: profile, ownRoot: ownRoot)
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
    /// Calls the endpoint of the method that this stands in, and gives its value.
    ///
    ///     func repository(owner: String, name: String) async throws -> Repository { try await call(owner, name) }
    ///
    /// `Data` and `String` get the body as it is (an `ODataClient` reads them inside OData's JSON), an `Optional` is `nil` for 204, 205,
    /// empty bodies, and a 304 to a conditional GET or HEAD; anything else is decoded.
    ///
    /// - Parameters:
    ///   - arguments: the method's arguments, all of them and in their order, but for those that the descriptor ignores.
    ///   - prepare: changes the request, after the client's preparers.
    ///   - timeout: the deadline of the whole call.
    ///   - function: the key; leave it out.
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func call<Value: Decodable>(
        _ arguments: (any Sendable)?..., prepare: (@Sendable (inout ServiceRequest) async throws -> Void)? = nil,
        timeout: Duration? = nil, function: String = #function
    ) async throws -> Value {
        try await dispatcher(function, prepare, timeout).value(arguments)
    }

    /// Calls the endpoint of the method that this stands in, for its effect: the body is read and left.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func call(
        _ arguments: (any Sendable)?..., prepare: (@Sendable (inout ServiceRequest) async throws -> Void)? = nil,
        timeout: Duration? = nil, function: String = #function
    ) async throws {
        let _: NoContent = try await dispatcher(function, prepare, timeout).value(arguments)
    }

    /// Calls the endpoint of the method that this stands in, and gives the value with its response.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func call<Value: Decodable>(
        _ arguments: (any Sendable)?..., prepare: (@Sendable (inout ServiceRequest) async throws -> Void)? = nil,
        timeout: Duration? = nil, function: String = #function
    ) async throws -> ServiceResponse<Value> {
        try await dispatcher(function, prepare, timeout).response(arguments)
    }

    /// Calls the endpoint of the method that this stands in, and gives the body as it arrives.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func stream(
        _ arguments: (any Sendable)?..., prepare: (@Sendable (inout ServiceRequest) async throws -> Void)? = nil,
        timeout: Duration? = nil, function: String = #function
    ) async throws -> ServiceResponse<ResponseBody> {
        let dispatcher = try dispatcher(function, prepare, timeout)
        return try await dispatcher.stream(to: dispatcher.bind(arguments))
    }

    private func dispatcher(
        _ function: String, _ prepare: (@Sendable (inout ServiceRequest) async throws -> Void)?, _ timeout: Duration?
    ) throws -> Dispatcher {
        let state = state
        return Dispatcher(
            state: state, endpoint: try state.endpoint(for: function), options: CallOptions(prepare: prepare, timeout: timeout))
    }
}

/// Gives clients the members that need the subclass's own type.
public protocol ServiceClient: WebServiceClient {}

extension WebServiceClient: ServiceClient {}

extension ServiceClient {
    /// Gives the request that a call would send, without sending it: preparers and pre-emptive authentication run, the transport doesn't.
    ///
    /// Only calls of this client that the closure makes are caught, and the first one counts. What interceptors and authentication providers
    /// call on their way is sent: without a token the request wouldn't be the one that would be sent.
    ///
    ///     let request = try await github.dryRun { try await $0.repository(owner: "swiftlang", name: "swift") }
    ///
    /// - Parameters:
    ///   - isolation: the caller's, which the closure shares.
    ///   - body: makes the call.
    /// - Throws: ``DryRunError`` when the closure makes no call, ``ServiceError`` when the call fails before it would be sent.
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
    /// Lists every fault of what the class declares: its table's keys, placeholders, arguments, bodies and headers, its own headers and service
    /// root. Empty when there is none.
    ///
    /// A test of one line keeps a table right:
    ///
    ///     #expect(GitHub.verify().isEmpty)
    public class func verify() -> [TableFault] {
        let defaults = defaults
        return CompiledTable.of(self, root: rootWithPlaceholders).faults + ServiceRoot.faults(in: defaults.serviceRoot)
            + ClientState.faults(in: defaults.headers) + TrustCheck.faults(defaults.settings, key: nil)
    }

    /// Lists every fault, and what endpoints require that a transport of these capabilities can't do.
    public class func verify(for capabilities: TransportCapabilities) -> [TableFault] {
        let table = CompiledTable.of(self, root: rootWithPlaceholders)
        return verify() + CapabilityCheck.faults(table: table, settings: defaults.settings, capabilities: capabilities)
    }

    /// Lists every fault of this client: its table with its profile, its service root, its trust policy, and what its transport can't do.
    ///
    /// The faults are told once for each configuration, by whichever comes first of this and a call: to ``Configuration/diagnostics`` as a
    /// warning, and where the package is built for debugging to standard error as well, since an error that somebody catches may stay
    /// unseen there. Release builds print nothing.
    public func verify() -> [TableFault] {
        state.faults
    }

    /// Lists the faults that this client would have with a profile, and doesn't have without any: in the service root, in the endpoints that
    /// the profile and the class make together, and in the origin of the profile's `BaseURL` where the program doesn't list it. Empty if the
    /// profile can be set.
    ///
    /// A bare name of the profile must fit the methods of that name in the class's table. A method that isn't in the table is checked when
    /// it is called. What the transport can't do for an endpoint is no fault of the profile.
    public func verify(_ profile: ServiceProfile) -> [TableFault] {
        let known = Set(ClientState(self, configuration: configuration, profile: nil).faults)
        let state = ClientState(self, configuration: configuration, profile: profile, ownRoot: profileRoot)
        return state.faults.filter {
            // Of all endpoints' common settings: one that the profile replaces may have had its own in their place.
            ($0.kind != .missingCapability || $0.key == nil) && !known.contains($0)
        }
    }

    /// What the class's table says, as a value that can be stored and compared.
    public class func describe() -> ClientDescription {
        ClientDescription(client: String(describing: self), table: endpoints)
    }

    /// The root's placeholders use arguments, so a root that has some belongs to the table.
    private class var rootWithPlaceholders: String? {
        ServiceRoot.hasPlaceholders(defaults.serviceRoot) ? defaults.serviceRoot : nil
    }
}

extension ClientState {
    /// Says each fault once: through the diagnostics, and in debug builds on standard error, since an unnoticed fault costs hours.
    func tellFaults() {
        for note in profileNotes { configuration.diagnostics.report(.init(.notice, "The profile of \(clientName): \(note).")) }
        if configuration.proxyAuthenticationProvider != nil, !configuration.transport.capabilities.contains(.proxyAuthentication) {
            configuration.diagnostics.report(
                .init(.warning, "The transport of \(clientName) delivers no proxy's 407, so proxyAuthenticationProvider is never asked."))
        }
        if let trust = configuration.trust, !trust.isStandard, root?.origin.scheme == "http" {
            configuration.diagnostics.report(
                .init(.warning, "The service root of \(clientName) is http, where its trust policy protects nothing: use https."))
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
    /// Makes calls without a table: `client.http.get("/users/%%0%%", id)`. They have a namespace of their own so that endpoint methods can be
    /// called `get` or `delete`.
    public var http: HTTPCalls { HTTPCalls(client: self) }

    /// The origin of the service root; `nil` when there is none, or its host is an argument.
    package var serviceOrigin: Origin? { state.root?.origin }
}

/// Makes calls without a table: ``WebServiceClient/WebServiceClient/http``.
///
///     let user: User = try await client.http.get("/users/%%0%%", id).value()
///     try await client.http.delete("/users/%%0%%", id).send()
///
/// Each function makes a ``ServiceCall`` and sends nothing. ``ServiceCall/send()``, ``ServiceCall/value(_:)``, ``ServiceCall/response(_:)`` and
/// ``ServiceCall/stream()`` send it; the compiler warns about a call that is made and not used.
public struct HTTPCalls: Sendable {
    let client: WebServiceClient

    /// A call of any method to a route beneath the service root; `%%N%%` in it stands for the arguments that follow.
    public func request(_ method: ServiceRequest.Method, _ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .endpoint(method, route), arguments: arguments)
    }

    /// A GET call: `client.http.get("/users/%%0%%", id).value(User.self)`.
    public func get(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .get(route), arguments: arguments)
    }

    /// A HEAD call.
    public func head(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .head(route), arguments: arguments)
    }

    /// A POST call.
    public func post(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .post(route), arguments: arguments)
    }

    /// A PUT call.
    public func put(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .put(route), arguments: arguments)
    }

    /// A PATCH call.
    public func patch(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .patch(route), arguments: arguments)
    }

    /// A DELETE call.
    public func delete(_ route: String, _ arguments: (any Sendable)?...) -> ServiceCall {
        ServiceCall(client: client, descriptor: .delete(route), arguments: arguments)
    }

    /// A call to a path beneath the service root that is percent-encoded already, with its query if it has one: it goes over the wire as
    /// it stands. Modules that print their own URLs use it.
    package func request(_ method: ServiceRequest.Method = .get, encoded target: String) -> ServiceCall {
        var call = ServiceCall(client: client, descriptor: .endpoint(method, ""))
        call.target = .encoded(target)
        call.key = "\(method) encoded"
        return call
    }

    /// A call to a URL that the service itself gave: a next page, a location. It must be of the service root's origin, and then has the
    /// client's headers and credentials; another origin is an error, since a response must not decide where credentials go.
    public func request(_ method: ServiceRequest.Method = .get, link: URL) -> ServiceCall {
        var call = ServiceCall(client: client, descriptor: .endpoint(method, ""))
        call.target = .link(link)
        call.key = "\(method) link"
        return call
    }

    /// A call to an absolute URL outside the service: without credentials and without the client's and the class's headers, but through
    /// the same chain.
    public func request(_ method: ServiceRequest.Method = .get, outside url: URL) -> ServiceCall {
        var call = ServiceCall(client: client, descriptor: .endpoint(method, ""))
        call.target = .outside(url)
        call.key = "\(method) outside"
        return call
    }
}

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
        /// The methods that were served by bare names of earlier profiles: a later one must fit them.
        var calledByBareName: Set<String> = []

        /// Lets the next call make a state of what is set now.
        mutating func renew() {
            generation += 1
            if let state { calledByBareName.formUnion(state.calledByBareName.prefix(1_000 - calledByBareName.count)) }
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

    /// The methods that were served by bare names, those of this moment's profile included; a thousand at most.
    var calledByBareName: [String] {
        let (earlier, state) = mutable.withLock { ($0.calledByBareName, $0.state) }
        return earlier.union(state?.calledByBareName ?? []).sorted()
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

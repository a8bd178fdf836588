/// Settings that many calls without a table share, such as those of a module that prints its own URLs.
///
/// The object's identity represents its settings, which can't be compared by value.
package final class SharedCallSettings: Sendable {
    let settings: EndpointSettings

    /// Creates settings from a closure that changes a descriptor. Only its changes to the settings count.
    package init(_ describe: (EndpointDescriptor) -> EndpointDescriptor) {
        settings = describe(.get("")).settings
    }
}

/// A kind of call without a table: all inputs that its endpoint is compiled from. These exclude the URL and the arguments' values.
///
/// It retains the shared settings, so that no other object gets their identity.
struct CallKind: Hashable, Sendable {
    private let shared: SharedCallSettings
    /// Compared without its settings, which are the shared ones.
    private let descriptor: EndpointDescriptor
    private let labels: [Int: String]
    private let arity: Int
    /// A call outside of the service doesn't bind the service root.
    private let isOutside: Bool
    private let key: String?
    private let route: String?

    init(_ call: ServiceCall, _ shared: SharedCallSettings) {
        self.shared = shared
        descriptor = call.descriptor
        labels = call.labels
        arity = call.arguments.count
        if case .outside = call.target { isOutside = true } else { isOutside = false }
        key = call.key
        route = call.route
    }

    static func == (left: CallKind, right: CallKind) -> Bool {
        left.shared === right.shared && left.arity == right.arity && left.isOutside == right.isOutside && left.route == right.route
            && left.key == right.key && left.labels == right.labels && left.descriptor.differsOnlyInSettings(from: right.descriptor)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(shared))
        hasher.combine(descriptor.method)
        hasher.combine(arity)
        hasher.combine(route)
    }
}

/// Endpoints that are compiled when the first call needs them.
///
/// It belongs to a ``ClientState``, and so ends with the configuration that it was filled from.
struct EndpointCache<Key: Hashable & Sendable>: Sendable {
    /// The number of endpoints that are kept. One more empties the cache, since keys made at run time have no bound.
    private let limit: Int
    private let endpoints = Locked<[Key: ResolvedEndpoint]>([:])

    init(limit: Int) { self.limit = limit }

    /// The number of kept endpoints.
    var count: Int { endpoints.withLock { $0.count } }

    /// Returns the endpoint of a key. Calls that meet at a new key may each compile it; all of them get the same endpoint.
    ///
    /// - Throws: The error of `compile`; nothing is kept then.
    func endpoint(for key: Key, _ compile: () throws -> ResolvedEndpoint) rethrows -> ResolvedEndpoint {
        if let known = endpoints.withLock({ $0[key] }) { return known }
        let made = try compile()
        return endpoints.withLock { endpoints in
            if let known = endpoints[key] { return known }
            if endpoints.count >= limit { endpoints = [:] }
            endpoints[key] = made
            return made
        }
    }
}

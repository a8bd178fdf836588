/// The endpoints of a client, by method name.
///
///     override class var endpoints: EndpointTable {
///         [
///             "repository(owner:name:)": .get("/repos/%%0%%/%%1%%"),
///         ]
///     }
///
/// A table is data and isn't checked on creation. ``WebServiceClient/verify()`` and the first call report all faults.
public struct EndpointTable: Sendable, ExpressibleByDictionaryLiteral {
    struct Entry: Sendable {
        let key: String
        var descriptor: EndpointDescriptor
        /// Whether the entry applies to every method with its base name, as in profiles. Its key is that bare name, or has the labels of
        /// all arguments that a method can pass.
        var isBareName = false
        /// The endpoints of the class that a bare name replaces, by their keys.
        var replaced: [String: EndpointDescriptor] = [:]

        /// The key without labels.
        var baseName: Substring { key.prefix { $0 != "(" } }

        /// The descriptor for a method with a bare name: with the attributes and the trust policy of the endpoint that it replaces.
        func descriptor(for function: String) -> EndpointDescriptor {
            guard let own = replaced[function]?.settings else { return descriptor }
            return descriptor.with {
                $0.settings.attributes = $0.settings.attributes.overlaid(by: own.attributes)
                $0.settings.trust = own.trust ?? $0.settings.trust
            }
        }

        /// Returns whether this entry replaces another one: it has the same key, or its bare name applies to the method of the other entry.
        func replaces(_ other: Entry) -> Bool {
            key == other.key || isBareName && other.baseName == baseName
        }
    }

    let entries: [Entry]

    init(entries: [Entry]) {
        self.entries = entries
    }

    /// Creates a table. A duplicate key is a fault.
    public init(dictionaryLiteral elements: (String, EndpointDescriptor)...) {
        entries = elements.map { Entry(key: $0.0, descriptor: $0.1) }
    }

    /// Returns this table overridden by another: for keys in both, the other's descriptor applies. A subclass of a subclass writes
    /// `super.endpoints.overlaid(by: […])`.
    public func overlaid(by other: EndpointTable) -> EndpointTable {
        EndpointTable(entries: entries.filter { entry in !other.entries.contains { $0.replaces(entry) } } + other.entries)
    }

    /// Returns this table overridden by a profile's. A profile changes methods and routes. The replaced endpoints' required capabilities,
    /// trust policies and attributes stay in effect, since a file or the network must not be able to remove them: the attributes include
    /// how redirects are followed, which cookies are sent, and what is logged.
    func overlaid(byProfile profile: EndpointTable) -> EndpointTable {
        let overlaying = profile.entries.map { entry in
            let replaced = entries.filter { entry.replaces($0) }
            let required = replaced.reduce(into: TransportCapabilities()) { $0.formUnion($1.descriptor.settings.capabilities) }
            var result = Entry(key: entry.key, descriptor: entry.descriptor.requiring(required), isBareName: entry.isBareName)
            result.descriptor.settings.trust = replaced.last { $0.descriptor.settings.trust != nil }?.descriptor.settings.trust
            if replaced.count == 1 || !entry.isBareName, let own = replaced.last {
                result.descriptor.settings.attributes = entry.descriptor.settings.attributes.overlaid(
                    by: own.descriptor.settings.attributes)
            }
            if entry.isBareName {
                result.replaced = Dictionary(replaced.map { ($0.key, $0.descriptor) }, uniquingKeysWith: { $1 })
            }
            return result
        }
        return overlaid(by: EndpointTable(entries: overlaying))
    }

    /// The descriptor of a key; the last one if the key is duplicated.
    public subscript(key: String) -> EndpointDescriptor? {
        entries.last { $0.key == key }?.descriptor
    }

    /// The keys in order.
    public var keys: [String] { entries.map(\.key) }
}

/// The parts of an endpoint that a server sees: for mock servers.
package struct EndpointRoute: Sendable {
    /// The endpoint's key; the bare name for an entry of a profile.
    package let key: String
    package let method: ServiceRequest.Method
    /// The route as declared.
    package let text: String
    /// Whether the route is an RFC 6570 template.
    package let isURITemplate: Bool
    /// The query items whose values don't depend on arguments.
    package let literalQuery: [(name: String, value: String)]
    /// The wire names that lead to the value inside the payload.
    package let root: [String]
    /// The endpoint's own service root: a path, or an absolute URL; `nil` if it has none.
    package let serviceRoot: String?
}

extension EndpointTable {
    /// The routes in table order.
    package var routes: [EndpointRoute] {
        entries.map { entry in
            let descriptor = entry.descriptor
            let query = descriptor.query.compactMap { part -> (name: String, value: String)? in
                guard case .template(let name, let value) = part, name.range(ofMark: "%%") == nil, value.range(ofMark: "%%") == nil else {
                    return nil
                }
                return (name, value)
            }
            let isURITemplate = if case .uriTemplate = descriptor.route { true } else { false }
            return EndpointRoute(
                key: entry.key, method: descriptor.method, text: descriptor.route.text, isURITemplate: isURITemplate, literalQuery: query,
                root: descriptor.root, serviceRoot: descriptor.serviceRoot)
        }
    }
}

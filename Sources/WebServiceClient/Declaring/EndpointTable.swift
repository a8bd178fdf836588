/// The endpoints of a client by the names of its methods.
///
///     override class var endpoints: EndpointTable {
///         [
///             "repository(owner:name:)": .get("/repos/%%0%%/%%1%%"),
///         ]
///     }
///
/// A table is data: nothing is checked while it is made. ``WebServiceClient/verify()`` lists all faults, and so does the first call.
public struct EndpointTable: Sendable, ExpressibleByDictionaryLiteral {
    struct Entry: Sendable {
        let key: String
        let descriptor: EndpointDescriptor
        /// Whether the key is a bare name which stands for every method of that base name, as profiles have them.
        var isBareName = false
    }

    let entries: [Entry]

    init(entries: [Entry]) {
        self.entries = entries
    }

    /// The given endpoints. A key that stands there twice is a fault.
    public init(dictionaryLiteral elements: (String, EndpointDescriptor)...) {
        entries = elements.map { Entry(key: $0.0, descriptor: $0.1) }
    }

    /// This table with another laid over it: keys that both have get the other's descriptor. A subclass of a subclass writes
    /// `super.endpoints.overlaid(by: […])`.
    public func overlaid(by other: EndpointTable) -> EndpointTable {
        let replaced = Set(other.entries.map(\.key))
        let replacedNames = Set(other.entries.filter(\.isBareName).map(\.key))
        let kept = entries.filter { entry in
            // A bare name of a profile stands for every method of that name, so it replaces them all.
            !replaced.contains(entry.key) && !replacedNames.contains(String(entry.key.prefix { $0 != "(" }))
        }
        return EndpointTable(entries: kept + other.entries)
    }

    /// This table with a profile's laid over it. What the replaced endpoints require of the transport stays required, and whom they trust
    /// stays so: a file, or the network, must not take that away.
    func overlaid(byProfile profile: EndpointTable) -> EndpointTable {
        let overlaying = profile.entries.map { entry in
            let replaced = entries.filter { $0.key == entry.key || entry.isBareName && $0.key.prefix { $0 != "(" } == entry.key }
            let required = replaced.reduce(into: TransportCapabilities()) { $0.formUnion($1.descriptor.settings.capabilities) }
            var descriptor = entry.descriptor.requiring(required)
            descriptor.settings.trust = replaced.last { $0.descriptor.settings.trust != nil }?.descriptor.settings.trust
            return Entry(key: entry.key, descriptor: descriptor, isBareName: entry.isBareName)
        }
        return overlaid(by: EndpointTable(entries: overlaying))
    }

    /// The descriptor of a key, the last where it stands there twice.
    public subscript(key: String) -> EndpointDescriptor? {
        entries.last { $0.key == key }?.descriptor
    }

    /// The keys in their order.
    public var keys: [String] { entries.map(\.key) }
}

/// A relation to entities: not loaded, or the first page of them, which knows whether there are more.
///
/// ``ODataClient/entities(of:)`` gives all of them, whichever it is.
public struct ToMany<Entity> {
    /// The entities that came along, in the service's order; `nil` where the relation wasn't expanded.
    public var elements: [Entity]?
    /// The number of all related entities, where the query asked for it.
    public var count: Int64?
    /// The link to the rest as the service wrote it, where ``elements`` aren't all.
    public var nextLink: String?
    /// The link to the collection as the service wrote it: in V2, and in V4 with full metadata or by the service's choice.
    public var navigationLink: String?
    /// The context of the payload it came with, which relative links begin at.
    var origin: ContextURL?
    var context: String? { origin?.text }

    /// A relation that isn't loaded.
    public init() {}

    /// A relation that is loaded.
    public init(_ elements: [Entity], count: Int64? = nil, nextLink: String? = nil) {
        self.elements = elements
        self.count = count
        self.nextLink = nextLink
    }

    /// Whether the relation was expanded.
    public var isLoaded: Bool { elements != nil }

    /// Whether ``elements`` are all there are. Dynamics, for one, gives an empty array and a next link.
    public var isComplete: Bool { isLoaded && nextLink == nil }
}

extension ToMany: ODataCollection {
    /// The related entities.
    public typealias Member = Entity
}

extension ToMany: Sendable where Entity: Sendable {}
extension ToMany: Equatable where Entity: Equatable {}
extension ToMany: Hashable where Entity: Hashable {}

extension ToMany: ExpressibleByArrayLiteral {
    /// A relation that is loaded.
    public init(arrayLiteral elements: Entity...) {
        self.init(elements)
    }
}

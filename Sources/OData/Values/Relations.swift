public import Foundation

/// A relation to entities: not loaded, or the first page of them with a link to the rest.
///
/// ``ODataClient/entities(of:)`` returns all entities in both cases.
public struct ToMany<Entity> {
    /// The loaded entities, in the service's order; `nil` if the relation wasn't expanded.
    public var elements: [Entity]?
    /// The number of all related entities, if the query requested it.
    public var count: Int64?
    /// The link to the rest as the service wrote it, if ``elements`` is incomplete.
    public var nextLink: String?
    /// The link to the collection as the service wrote it: in V2, and in V4 with full metadata or at the service's choice.
    public var navigationLink: String?
    /// The base of relative links.
    var linkBase = LinkBase()
    /// The context of the relation's payload, as the service wrote it.
    var context: String? { linkBase.root?.text }

    /// Creates a relation that isn't loaded.
    public init() {}

    /// Creates a loaded relation.
    public init(_ elements: [Entity], count: Int64? = nil, nextLink: String? = nil) {
        self.elements = elements
        self.count = count
        self.nextLink = nextLink
    }

    /// A Boolean value that indicates whether the relation was expanded.
    public var isLoaded: Bool { elements != nil }

    /// Returns the URL of ``nextLink`` or ``navigationLink``. Relative links are resolved against the context of the relation's payload,
    /// and the context against the URL of the payload. Returns `nil` if the link is missing or not a URL, or if its base isn't known.
    public func url(of link: String?) -> URL? { linkBase.url(of: link) }

    /// A Boolean value that indicates whether ``elements`` is complete. Dynamics, for example, returns an empty array with a next link.
    public var isComplete: Bool { isLoaded && nextLink == nil }
}

extension ToMany: Sendable where Entity: Sendable {}
extension ToMany: Equatable where Entity: Equatable {}
extension ToMany: Hashable where Entity: Hashable {}

extension ToMany: ExpressibleByArrayLiteral {
    /// Creates a loaded relation.
    public init(arrayLiteral elements: Entity...) {
        self.init(elements)
    }
}

/// A relation to at most one entity: not loaded, null, or the entity.
///
/// A relation is loaded if the query expands it. A relation that isn't loaded may still have an entity. It is never written, so an update
/// doesn't remove a relation that wasn't requested.
public indirect enum ToOne<Entity> {
    /// The relation wasn't expanded; includes the link to the entity if the service wrote one. A client resolves a relative link to an
    /// absolute URL (JSON Format 4.01, section 4.4); otherwise the link is as the service wrote it.
    case notLoaded(link: String?)
    /// The related entity doesn't exist.
    case null
    /// The related entity.
    case value(Entity)

    /// The related entity, if it exists and was loaded.
    public var value: Entity? {
        if case .value(let value) = self { value } else { nil }
    }

    /// A Boolean value that indicates whether the relation was expanded.
    public var isLoaded: Bool {
        if case .notLoaded = self { false } else { true }
    }

    /// The link to the entity, if the relation wasn't expanded.
    public var link: String? {
        if case .notLoaded(let link) = self { link } else { nil }
    }
}

extension ToOne: Sendable where Entity: Sendable {}
extension ToOne: Equatable where Entity: Equatable {}
extension ToOne: Hashable where Entity: Hashable {}

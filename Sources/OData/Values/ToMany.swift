public import Foundation

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
    /// What relative links begin at.
    var linkBase = LinkBase()
    /// The context of the payload that the relation came in, as the service wrote it.
    var context: String? { linkBase.root?.text }

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

    /// The URL behind one of the links, ``nextLink`` or ``navigationLink``: relative ones begin at the context of the payload that the relation
    /// came in, and that at the URL of the payload. `nil` where the link is none or no URL, or where it begins isn't known.
    public func url(of link: String?) -> URL? { linkBase.url(of: link) }

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

/// A relation to at most one entity: not loaded, null, or the entity.
///
/// A relation is loaded when the query expands it. That it isn't loaded says nothing about whether there is an entity, and it is never
/// written: so an update doesn't cut a relation that was only not asked for.
public indirect enum ToOne<Entity> {
    /// The relation wasn't expanded; with the link to the entity, where the service wrote one. A relative link that a client read stands as the
    /// absolute URL that it leads to (JSON Format 4.01, section 4.4), otherwise the link is as the service wrote it.
    case notLoaded(link: String?)
    /// There is no related entity.
    case null
    /// The related entity.
    case value(Entity)

    /// The related entity, if it was loaded and there is one.
    public var value: Entity? {
        if case .value(let value) = self { value } else { nil }
    }

    /// Whether the relation was expanded.
    public var isLoaded: Bool {
        if case .notLoaded = self { false } else { true }
    }

    /// The link to the entity of a relation that wasn't expanded.
    public var link: String? {
        if case .notLoaded(let link) = self { link } else { nil }
    }
}

extension ToOne: Sendable where Entity: Sendable {}
extension ToOne: Equatable where Entity: Equatable {}
extension ToOne: Hashable where Entity: Hashable {}

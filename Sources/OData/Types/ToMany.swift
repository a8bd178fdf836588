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

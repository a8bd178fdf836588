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

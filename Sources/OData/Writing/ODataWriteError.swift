public import WebServiceClient

/// Why a change can't be written.
public enum ODataWriteError: DescribedError, Sendable, Hashable {
    /// A draft's relation was changed as if it were a value.
    case relationChanged(String)
    /// What was to be written as an entity, by its type, makes no object.
    case notAnEntity(String)
    /// A relation is bound to an existing entity, and the entity that is written has one in it.
    case boundAndInline(String)

    /// A sentence for people.
    public var description: String {
        switch self {
        case .relationChanged(let name):
            "The relation '\(name)' was changed as a value: bind existing entities with bind(_:to:), or use addReference, setReference and "
                + "removeReference; create new ones by creating them in the relation."
        case .notAnEntity(let type):
            "\(type) isn't written as an object with properties."
        case .boundAndInline(let name):
            "The relation '\(name)' is bound to an existing entity, and has a new one in the entity that is written: leave one of them out."
        }
    }
}

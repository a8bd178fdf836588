import OData

/// The names of a service, which let a parser distinguish functions from keys and reject unknown names.
public protocol QueryModel: Sendable {
    /// Returns the roles of a name without its namespace; empty for an unknown name.
    func roles(of name: String) -> NameRoles
}

/// The model for `$crossjoin(A,B)`, whose instances have a property for each of the sets (URL Conventions, section 4.17).
struct CrossjoinedNames: QueryModel {
    let model: any QueryModel
    let sets: Set<String>

    func roles(of name: String) -> NameRoles {
        sets.contains(name) ? model.roles(of: name).union(.entity) : model.roles(of: name)
    }
}

/// The roles of a name in a service's model. A name may have several roles.
public struct NameRoles: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt32

    /// Creates roles from their bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A navigation property to many entities; as a value, a collection of entities.
    public static let entityCollection = NameRoles(rawValue: 1 << 0)
    /// A navigation property to one entity; as a value, an entity.
    public static let entity = NameRoles(rawValue: 1 << 1)
    /// A property that is a collection of complex values.
    public static let complexCollection = NameRoles(rawValue: 1 << 2)
    /// A complex property.
    public static let complex = NameRoles(rawValue: 1 << 3)
    /// A property that is a collection of primitive values.
    public static let primitiveCollection = NameRoles(rawValue: 1 << 4)
    /// A primitive property, or a custom aggregate.
    public static let primitive = NameRoles(rawValue: 1 << 5)
    /// A stream property.
    public static let stream = NameRoles(rawValue: 1 << 6)
    /// An entity set.
    public static let entitySet = NameRoles(rawValue: 1 << 7)
    /// A singleton.
    public static let singleton = NameRoles(rawValue: 1 << 8)
    /// An entity type.
    public static let entityType = NameRoles(rawValue: 1 << 9)
    /// A complex type.
    public static let complexType = NameRoles(rawValue: 1 << 10)
    /// A bound action.
    public static let action = NameRoles(rawValue: 1 << 11)
    /// An action import.
    public static let actionImport = NameRoles(rawValue: 1 << 12)

    private static let boundShift: UInt32 = 13
    private static let importShift: UInt32 = 20

    /// Returns a bound function with this kind of result.
    public static func function(giving value: NameRoles) -> NameRoles {
        NameRoles(rawValue: value.intersection(.values).rawValue << boundShift)
    }

    /// Returns a function import with this kind of result.
    public static func functionImport(giving value: NameRoles) -> NameRoles {
        NameRoles(rawValue: value.intersection(.values).rawValue << importShift)
    }

    /// Every kind of value.
    static let values: NameRoles = [.entityCollection, .entity, .complexCollection, .complex, .primitiveCollection, .primitive, .stream]
    static let collections: NameRoles = [.entityCollection, .complexCollection, .primitiveCollection]
    static let types: NameRoles = [.entityType, .complexType]

    /// The result kinds of the name's bound functions.
    var functionValues: NameRoles {
        NameRoles(rawValue: rawValue >> Self.boundShift & NameRoles.values.rawValue)
    }

    /// The result kinds of the name's function imports.
    var importValues: NameRoles {
        NameRoles(rawValue: rawValue >> Self.importShift & NameRoles.values.rawValue)
    }
}

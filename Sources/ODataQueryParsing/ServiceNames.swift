import OData

/// The roles of the names in a service, which let the parser distinguish functions from keys and types from properties.
///
/// Names have no owner here: a property of any type may follow any entity. Whether a type has the property is a matter of verification, not
/// of grammar.
package struct ServiceNames: Sendable {
    private var roles: [String: NameRoles]
    /// The roles of all other names.
    private let others: NameRoles
    /// Whether the names include those that queries introduce.
    let includesAliases: Bool

    /// Creates names from their roles. They include those that queries introduce.
    package init(_ roles: [String: NameRoles], others: NameRoles = []) {
        self.init(roles, others: others, includesAliases: true)
    }

    private init(_ roles: [String: NameRoles], others: NameRoles, includesAliases: Bool) {
        self.roles = roles
        self.others = others
        self.includesAliases = includesAliases
    }

    /// Creates the names of a service's model.
    init(_ model: ServiceModel) {
        var roles: [String: NameRoles] = [:]
        var isOpen = false
        func add(_ name: String, _ role: NameRoles) { roles[name, default: []].formUnion(role) }
        func addAggregates(_ annotations: [ServiceModel.Annotation]) {
            for annotation in annotations where annotation.term == Self.customAggregate {
                if let name = annotation.qualifier { add(name, .primitive) }
            }
        }
        for schema in model.schemas + model.includedSchemas {
            for type in schema.entityTypes + schema.complexTypes {
                add(type.name, type.kind == .entity ? .entityType : .complexType)
                isOpen = isOpen || type.isOpen
                for property in type.properties { add(property.name, model.values(of: property.type)) }
                for property in type.navigationProperties {
                    add(property.name, property.isCollection ? .entityCollection : .entity)
                }
                addAggregates(model.annotations(of: type))
            }
            for operation in schema.operations where operation.isBound {
                add(operation.name, operation.kind == .action ? .action : .function(giving: model.results(of: operation)))
            }
            for group in schema.targetedAnnotations { addAggregates(group.annotations) }
        }
        for set in model.entitySets {
            add(set.name, .entitySet)
            addAggregates(set.annotations)
        }
        for singleton in model.singletons { add(singleton.name, .singleton) }
        for item in model.operationImports {
            guard item.kind == .function else {
                add(item.name, .actionImport)
                continue
            }
            for operation in model.operations(item.operation) where !operation.isBound {
                add(item.name, .functionImport(giving: model.results(of: operation)))
            }
        }
        // Instances of open types may have properties that no type declares.
        self.init(roles, others: isOpen ? .values : [], includesAliases: false)
    }

    private static let customAggregate = "Org.OData.Aggregation.V1.CustomAggregate"

    /// Returns the roles of a name without its namespace; empty for an unknown name.
    func roles(of name: String) -> NameRoles { roles[name] ?? others }

    /// Returns the names with further roles for some of them.
    func adding(_ more: some Sequence<String>, as role: NameRoles) -> ServiceNames {
        var copy = self
        for name in more { copy.roles[name] = roles(of: name).union(role) }
        return copy
    }
}

extension ServiceModel {
    /// The kinds of a type's values; all for types that the model doesn't have.
    fileprivate func values(of type: TypeReference) -> NameRoles {
        switch type.name {
        case "Edm.Untyped": return .values
        case "Edm.Stream": return .stream
        case "Edm.EntityType": return type.isCollection ? .entityCollection : .entity
        case "Edm.ComplexType": return type.isCollection ? .complexCollection : .complex
        default: break
        }
        if type.isPrimitive { return type.isCollection ? .primitiveCollection : .primitive }
        switch self.type(type.name) {
        case .structured(let structured):
            if structured.kind == .entity { return type.isCollection ? .entityCollection : .entity }
            return type.isCollection ? .complexCollection : .complex
        case .enumeration, .definition: return type.isCollection ? .primitiveCollection : .primitive
        case nil: return .values
        }
    }

    fileprivate func results(of operation: Operation) -> NameRoles {
        operation.returnType.map { values(of: $0.type) } ?? .values
    }
}

/// The roles of a name in a service's model. A name may have several roles.
package struct NameRoles: OptionSet, Sendable, Hashable {
    /// The bits.
    package let rawValue: UInt32

    /// Creates roles from their bits.
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A navigation property to many entities; as a value, a collection of entities.
    package static let entityCollection = NameRoles(rawValue: 1 << 0)
    /// A navigation property to one entity; as a value, an entity.
    package static let entity = NameRoles(rawValue: 1 << 1)
    /// A property that is a collection of complex values.
    package static let complexCollection = NameRoles(rawValue: 1 << 2)
    /// A complex property.
    package static let complex = NameRoles(rawValue: 1 << 3)
    /// A property that is a collection of primitive values.
    package static let primitiveCollection = NameRoles(rawValue: 1 << 4)
    /// A primitive property, or a custom aggregate.
    package static let primitive = NameRoles(rawValue: 1 << 5)
    /// A stream property.
    package static let stream = NameRoles(rawValue: 1 << 6)
    /// An entity set.
    package static let entitySet = NameRoles(rawValue: 1 << 7)
    /// A singleton.
    package static let singleton = NameRoles(rawValue: 1 << 8)
    /// An entity type.
    package static let entityType = NameRoles(rawValue: 1 << 9)
    /// A complex type.
    package static let complexType = NameRoles(rawValue: 1 << 10)
    /// A bound action.
    package static let action = NameRoles(rawValue: 1 << 11)
    /// An action import.
    package static let actionImport = NameRoles(rawValue: 1 << 12)

    private static let boundShift: UInt32 = 13
    private static let importShift: UInt32 = 20

    /// Returns a bound function with this kind of result.
    package static func function(giving value: NameRoles) -> NameRoles {
        NameRoles(rawValue: value.intersection(.values).rawValue << boundShift)
    }

    /// Returns a function import with this kind of result.
    package static func functionImport(giving value: NameRoles) -> NameRoles {
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

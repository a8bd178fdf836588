extension ServiceModel {
    /// An entity type or a complex type (sections 6 and 9).
    public struct StructuredType: Element, Hashable {
        /// Whether a structured type has identity.
        public enum Kind: String, Sendable, Hashable {
            /// An entity type.
            case entity
            /// A complex type.
            case complex
        }

        /// Whether the type is an entity type or a complex type.
        public var kind: Kind
        /// The namespace.
        public let namespace: String
        /// The simple name.
        public let name: String
        /// The qualified name.
        public let qualifiedName: String
        /// The qualified name of the base type, or `nil`.
        public var baseType: String?
        /// Whether the type has no direct instances.
        public var isAbstract: Bool
        /// Whether instances can have properties that the type doesn't declare, according to the type itself or to a base type with this
        /// attribute in the document. ``ServiceModel/isOpen(_:)`` considers all base types.
        public var isOpen: Bool
        /// Whether instances are media entities. `m:HasStream` in V2 and V3.
        public var hasStream: Bool
        /// The key that the type itself declares (section 6.5); empty if it inherits one or has none.
        public var key: [KeyReference]
        /// The properties that the type itself declares.
        public var properties: [Property]
        /// The navigation properties that the type itself declares.
        public var navigationProperties: [NavigationProperty]
        /// The annotations of the type.
        public var annotations: [Annotation]
        /// Attributes and elements of other namespaces, such as `sap:label`.
        public var extensions: Extensions
        var place = Place.unknown

        /// The qualified name.
        public var target: String { qualifiedName }
        /// The position in the document.
        public var position: Position? { place.position }

        /// Creates a type. It becomes the declaring type of its properties.
        public init(
            kind: Kind, namespace: String, name: String, baseType: String? = nil, isAbstract: Bool = false, isOpen: Bool = false,
            hasStream: Bool = false, key: [KeyReference] = [], properties: [Property] = [],
            navigationProperties: [NavigationProperty] = [], annotations: [Annotation] = [], extensions: Extensions = Extensions()
        ) {
            let qualifiedName = ServiceModel.qualified(name, in: namespace)
            self.kind = kind
            self.namespace = namespace
            self.name = name
            self.qualifiedName = qualifiedName
            self.baseType = baseType
            self.isAbstract = isAbstract
            self.isOpen = isOpen
            self.hasStream = hasStream
            self.key = key
            self.properties = properties
            self.navigationProperties = navigationProperties
            self.annotations = annotations
            self.extensions = extensions
            for index in properties.indices { self.properties[index].declaringType = qualifiedName }
            for index in navigationProperties.indices { self.navigationProperties[index].declaringType = qualifiedName }
        }
    }

    /// A property of a key (section 6.5).
    public struct KeyReference: Sendable, Hashable {
        /// The path of the property: `ID`, or `Address/Code` within a complex property.
        public var path: String
        /// The name of the property in key predicates, which a path of several segments requires, or `nil`.
        public var alias: String?

        /// The name in key predicates: the alias, or else the path.
        public var name: String { alias ?? path }

        /// Creates a reference.
        public init(path: String, alias: String? = nil) {
            self.path = path
            self.alias = alias
        }
    }

    /// A structural property (section 7).
    public struct Property: Element, Hashable {
        /// The name.
        public var name: String
        /// The qualified name of the type that declares the property.
        public internal(set) var declaringType: String = ""
        /// The type with its facets.
        public var type: TypeReference
        /// The default value as text (section 7.2.7), or `nil`.
        public var defaultValue: String?
        /// The annotations of the property.
        public var annotations: [Annotation]
        /// Attributes and elements of other namespaces, and attributes of V2 and V3 such as `ConcurrencyMode`.
        public var extensions: Extensions
        var place = Place.unknown

        /// `Sales.Order/Total`.
        public var target: String { declaringType + "/" + name }
        /// The position in the document.
        public var position: Position? { place.position }

        /// Creates a property.
        public init(
            name: String, type: TypeReference, defaultValue: String? = nil, annotations: [Annotation] = [],
            extensions: Extensions = Extensions()
        ) {
            self.name = name
            self.type = type
            self.defaultValue = defaultValue
            self.annotations = annotations
            self.extensions = extensions
        }
    }

    /// A navigation property (section 8).
    ///
    /// Navigation properties of V2 and V3 get their type, multiplicity and constraints from their association.
    public struct NavigationProperty: Element, Hashable {
        /// What happens to related entities when an entity is deleted (section 8.6).
        public enum DeleteAction: String, Sendable, Hashable, CaseIterable {
            /// Related entities are deleted.
            case cascade = "Cascade"
            /// The entity isn't deleted while there are related entities.
            case none = "None"
            /// Properties of related entities become null.
            case setNull = "SetNull"
            /// Properties of related entities get their default value.
            case setDefault = "SetDefault"
        }

        /// The name.
        public var name: String
        /// The qualified name of the type that declares the property.
        public internal(set) var declaringType: String = ""
        /// The qualified name of the related entity type, `Edm.EntityType` for any, or `Edm.Untyped` if the document doesn't state it.
        public var targetType: String
        /// Whether several entities can be related.
        public var isCollection: Bool
        /// Whether a single related entity can be missing; `false` for collections.
        public var isNullable: Bool
        /// The path of the navigation property in the opposite direction, or `nil`.
        public var partner: String?
        /// Whether related entities are contained in this one.
        public var containsTarget: Bool
        /// The properties that have the same value as properties of the related entity.
        public var referentialConstraints: [ReferentialConstraint]
        /// What happens when an entity is deleted, or `nil`.
        public var onDelete: DeleteAction?
        /// The annotations of the action on deletion.
        public var onDeleteAnnotations: [Annotation]
        /// The annotations of the property.
        public var annotations: [Annotation]
        /// Attributes and elements of other namespaces; in V2 and V3 also `Relationship`, `FromRole` and `ToRole`.
        public var extensions: Extensions
        var place = Place.unknown

        /// `Sales.Order/Items`.
        public var target: String { declaringType + "/" + name }
        /// The position in the document.
        public var position: Position? { place.position }

        /// Creates a navigation property.
        public init(
            name: String, targetType: String, isCollection: Bool = false, isNullable: Bool = true, partner: String? = nil,
            containsTarget: Bool = false, referentialConstraints: [ReferentialConstraint] = [], onDelete: DeleteAction? = nil,
            onDeleteAnnotations: [Annotation] = [], annotations: [Annotation] = [], extensions: Extensions = Extensions()
        ) {
            self.name = name
            self.targetType = targetType
            self.isCollection = isCollection
            self.isNullable = isNullable && !isCollection
            self.partner = partner
            self.containsTarget = containsTarget
            self.referentialConstraints = referentialConstraints
            self.onDelete = onDelete
            self.onDeleteAnnotations = onDeleteAnnotations
            self.annotations = annotations
            self.extensions = extensions
        }
    }

    /// A property that has the same value as a property of the related entity (section 8.5).
    public struct ReferentialConstraint: Sendable, Hashable {
        /// The path of the dependent property.
        public var property: String
        /// The path of the property of the related entity.
        public var referencedProperty: String
        /// The annotations of the constraint.
        public var annotations: [Annotation]

        /// Creates a constraint.
        public init(property: String, referencedProperty: String, annotations: [Annotation] = []) {
            self.property = property
            self.referencedProperty = referencedProperty
            self.annotations = annotations
        }
    }

    static func qualified(_ name: String, in namespace: String) -> String { namespace.isEmpty ? name : namespace + "." + name }
}

extension ServiceModel {
    /// An entity container: the resources of a service (section 13).
    public struct EntityContainer: Element, Hashable {
        /// The namespace.
        public let namespace: String
        /// The simple name.
        public let name: String
        /// The qualified name.
        public let qualifiedName: String
        /// The qualified name of the container that this one extends, or `nil`.
        public var extends: String?
        /// Whether a document of V2 or V3 marks this container as the default one.
        public var isDefault: Bool { extensions["IsDefaultEntityContainer", in: Extensions.dataServicesMetadata] == "true" }
        /// The entity sets.
        public var entitySets: [EntitySet]
        /// The singletons.
        public var singletons: [Singleton]
        /// The action imports and function imports.
        public var operationImports: [OperationImport]
        /// The annotations of the container.
        public var annotations: [Annotation]
        /// Attributes and elements of other namespaces.
        public var extensions: Extensions
        var place = Place.unknown

        /// The qualified name.
        public var target: String { qualifiedName }
        /// The position in the document.
        public var position: Position? { place.position }

        /// Creates a container. It becomes the declaring container of its children.
        public init(
            namespace: String, name: String, extends: String? = nil, entitySets: [EntitySet] = [], singletons: [Singleton] = [],
            operationImports: [OperationImport] = [], annotations: [Annotation] = [], extensions: Extensions = Extensions()
        ) {
            let qualifiedName = ServiceModel.qualified(name, in: namespace)
            self.namespace = namespace
            self.name = name
            self.qualifiedName = qualifiedName
            self.extends = extends
            self.entitySets = entitySets
            self.singletons = singletons
            self.operationImports = operationImports
            self.annotations = annotations
            self.extensions = extensions
            for index in entitySets.indices { self.entitySets[index].declaringContainer = qualifiedName }
            for index in singletons.indices { self.singletons[index].declaringContainer = qualifiedName }
            for index in operationImports.indices { self.operationImports[index].declaringContainer = qualifiedName }
        }
    }

    /// An entity set (section 13.2).
    public struct EntitySet: Element, Hashable {
        /// The name.
        public var name: String
        /// The qualified name of the entity type.
        public var entityType: String
        /// The qualified name of the container.
        public internal(set) var declaringContainer: String = ""
        /// Whether the service document lists the set.
        public var isInServiceDocument: Bool
        /// The bindings of navigation properties to sets.
        public var bindings: [NavigationPropertyBinding]
        /// The annotations of the set.
        public var annotations: [Annotation]
        /// Attributes and elements of other namespaces.
        public var extensions: Extensions
        var place = Place.unknown

        /// `Sales.Container/Orders`.
        public var target: String { declaringContainer + "/" + name }
        /// The position in the document.
        public var position: Position? { place.position }

        /// Creates a set.
        public init(
            name: String, entityType: String, isInServiceDocument: Bool = true, bindings: [NavigationPropertyBinding] = [],
            annotations: [Annotation] = [], extensions: Extensions = Extensions()
        ) {
            self.name = name
            self.entityType = entityType
            self.isInServiceDocument = isInServiceDocument
            self.bindings = bindings
            self.annotations = annotations
            self.extensions = extensions
        }
    }

    /// A singleton: an entity with a name in the container (section 13.3).
    public struct Singleton: Element, Hashable {
        /// The name.
        public var name: String
        /// The qualified name of the entity type.
        public var type: String
        /// The qualified name of the container.
        public internal(set) var declaringContainer: String = ""
        /// Whether the entity may be missing.
        public var isNullable: Bool
        /// The bindings of navigation properties to sets.
        public var bindings: [NavigationPropertyBinding]
        /// The annotations of the singleton.
        public var annotations: [Annotation]
        /// Attributes and elements of other namespaces.
        public var extensions: Extensions
        var place = Place.unknown

        /// `Sales.Container/Me`.
        public var target: String { declaringContainer + "/" + name }
        /// The position in the document.
        public var position: Position? { place.position }

        /// Creates a singleton.
        public init(
            name: String, type: String, isNullable: Bool = false, bindings: [NavigationPropertyBinding] = [],
            annotations: [Annotation] = [], extensions: Extensions = Extensions()
        ) {
            self.name = name
            self.type = type
            self.isNullable = isNullable
            self.bindings = bindings
            self.annotations = annotations
            self.extensions = extensions
        }
    }

    /// The entity set or singleton that a navigation property leads to (section 13.4).
    public struct NavigationPropertyBinding: Sendable, Hashable {
        /// The path to the navigation property, with qualified names of types: `Items`, `Sales.Order/Items`.
        public var path: String
        /// The target: the name of a set, or a path such as `Sales.Container/Items`.
        public var target: String
        /// Attributes and elements of other namespaces. In V2 and V3 they are those of the association set, such as `sap:creatable`.
        public var extensions: Extensions
        var place = Place.unknown

        /// The position in the document.
        public var position: Position? { place.position }

        /// Creates a binding.
        public init(path: String, target: String, extensions: Extensions = Extensions()) {
            self.path = path
            self.target = target
            self.extensions = extensions
        }
    }

    /// An action import or a function import (sections 13.5 and 13.6).
    public struct OperationImport: Element, Hashable {
        /// Whether the operation is an action or a function.
        public var kind: OperationKind
        /// The name.
        public var name: String
        /// The qualified name of the operation.
        public var operation: String
        /// The qualified name of the container.
        public internal(set) var declaringContainer: String = ""
        /// The entity set of returned entities: its name or path, or `nil`.
        public var entitySet: String?
        /// Whether the service document lists the import. Only functions without parameters can be listed.
        public var isInServiceDocument: Bool
        /// The annotations of the import.
        public var annotations: [Annotation]
        /// Attributes and elements of other namespaces, such as `m:HttpMethod`.
        public var extensions: Extensions
        var place = Place.unknown

        /// The HTTP method that a document of V2 or V3 prescribes, or `nil`.
        public var httpMethod: String? { extensions["HttpMethod", in: Extensions.dataServicesMetadata] }
        /// `Sales.Container/Cancel`.
        public var target: String { declaringContainer + "/" + name }
        /// The position in the document.
        public var position: Position? { place.position }

        /// Creates an import.
        public init(
            kind: OperationKind, name: String, operation: String, entitySet: String? = nil, isInServiceDocument: Bool = false,
            annotations: [Annotation] = [], extensions: Extensions = Extensions()
        ) {
            self.kind = kind
            self.name = name
            self.operation = operation
            self.entitySet = entitySet
            self.isInServiceDocument = isInServiceDocument
            self.annotations = annotations
            self.extensions = extensions
        }
    }
}

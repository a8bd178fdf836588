extension ServiceModel {
    /// A schema: a namespace of types, terms, operations and at most one entity container (section 5).
    public struct Schema: Element, Hashable {
        /// The namespace: `microsoft.graph`. A few services of V2 have an empty one.
        public var namespace: String
        /// The alias, or `nil`.
        public var alias: String?
        /// The entity types.
        public var entityTypes: [StructuredType]
        /// The complex types.
        public var complexTypes: [StructuredType]
        /// The enumeration types.
        public var enumTypes: [EnumType]
        /// The type definitions.
        public var typeDefinitions: [TypeDefinition]
        /// The terms.
        public var terms: [Term]
        /// The actions and functions; overloads are adjacent.
        ///
        /// A function import of V2 or V3 becomes an operation here and an ``OperationImport`` in the container.
        public var operations: [Operation]
        /// The entity containers: at most one from V4 on.
        public var containers: [EntityContainer]
        /// The annotations that the schema applies to elements of this and other schemas by their path.
        public var targetedAnnotations: [TargetedAnnotations]
        /// The annotations of the schema itself.
        public var annotations: [Annotation]
        /// Attributes and elements of other namespaces.
        public var extensions: Extensions
        var place = Place.unknown

        /// The namespace.
        public var target: String { namespace }
        /// The position in the document.
        public var position: Position? { place.position }

        /// Creates a schema.
        public init(
            namespace: String, alias: String? = nil, entityTypes: [StructuredType] = [], complexTypes: [StructuredType] = [],
            enumTypes: [EnumType] = [], typeDefinitions: [TypeDefinition] = [], terms: [Term] = [], operations: [Operation] = [],
            containers: [EntityContainer] = [], targetedAnnotations: [TargetedAnnotations] = [], annotations: [Annotation] = [],
            extensions: Extensions = Extensions()
        ) {
            self.namespace = namespace
            self.alias = alias
            self.entityTypes = entityTypes
            self.complexTypes = complexTypes
            self.enumTypes = enumTypes
            self.typeDefinitions = typeDefinitions
            self.terms = terms
            self.operations = operations
            self.containers = containers
            self.targetedAnnotations = targetedAnnotations
            self.annotations = annotations
            self.extensions = extensions
        }
    }

    /// Annotations that are applied to an element by its path (section 14.2).
    public struct TargetedAnnotations: Sendable, Hashable {
        /// The path of the element, with qualified names: `Sales.Container/Orders`, `Sales.Cancel(Sales.Order)/reason`.
        public var target: String
        /// The annotations. Each contains the qualifier of the group.
        public var annotations: [Annotation]
        var place = Place.unknown

        /// The position in the document.
        public var position: Position? { place.position }

        /// Creates a group of annotations.
        public init(target: String, annotations: [Annotation]) {
            self.target = target
            self.annotations = annotations
        }
    }

    /// A reference to another document (section 4.1).
    public struct Reference: Sendable, Hashable {
        /// The address of the document, as written.
        public var uri: String
        /// The schemas that are included.
        public var includes: [Include]
        /// The annotations that are included.
        public var includedAnnotations: [IncludedAnnotations]
        /// The annotations of the reference.
        public var annotations: [Annotation]
        /// Attributes and elements of other namespaces.
        public var extensions: Extensions
        var place = Place.unknown

        /// The position in the document.
        public var position: Position? { place.position }

        /// Creates a reference.
        public init(
            uri: String, includes: [Include] = [], includedAnnotations: [IncludedAnnotations] = [], annotations: [Annotation] = [],
            extensions: Extensions = Extensions()
        ) {
            self.uri = uri
            self.includes = includes
            self.includedAnnotations = includedAnnotations
            self.annotations = annotations
            self.extensions = extensions
        }
    }

    /// A schema of another document that a reference includes (section 4.2).
    public struct Include: Sendable, Hashable {
        /// The namespace of the schema.
        public var namespace: String
        /// The alias of the schema in this document, or `nil`.
        public var alias: String?
        /// The annotations of the inclusion.
        public var annotations: [Annotation]

        /// Creates an inclusion.
        public init(namespace: String, alias: String? = nil, annotations: [Annotation] = []) {
            self.namespace = namespace
            self.alias = alias
            self.annotations = annotations
        }
    }

    /// The annotations of another document that a reference includes (section 4.3).
    public struct IncludedAnnotations: Sendable, Hashable {
        /// The namespace of the terms.
        public var termNamespace: String
        /// The qualifier of the annotations, or `nil` for all.
        public var qualifier: String?
        /// The namespace of the annotated elements, or `nil` for all.
        public var targetNamespace: String?

        /// Creates an inclusion.
        public init(termNamespace: String, qualifier: String? = nil, targetNamespace: String? = nil) {
            self.termNamespace = termNamespace
            self.qualifier = qualifier
            self.targetNamespace = targetNamespace
        }
    }
}

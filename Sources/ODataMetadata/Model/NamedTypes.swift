extension ServiceModel {
    /// An enumeration type (section 10).
    public struct EnumType: Element, Hashable {
        /// A member of an enumeration type.
        public struct Member: Element, Hashable {
            /// The name.
            public var name: String
            /// The value: the written one, or the previous member's value plus 1, beginning with 0.
            public var value: Int64
            /// The qualified name of the enumeration type.
            public internal(set) var declaringType: String = ""
            /// The annotations of the member.
            public var annotations: [Annotation]
            /// Attributes and elements of other namespaces.
            public var extensions: Extensions
            var place = Place.unknown

            /// `Sales.Color/Red`.
            public var target: String { declaringType + "/" + name }
            /// The position in the document.
            public var position: Position? { place.position }

            /// Creates a member.
            public init(name: String, value: Int64, annotations: [Annotation] = [], extensions: Extensions = Extensions()) {
                self.name = name
                self.value = value
                self.annotations = annotations
                self.extensions = extensions
            }
        }

        /// The namespace.
        public let namespace: String
        /// The simple name.
        public let name: String
        /// The qualified name.
        public let qualifiedName: String
        /// The type of the values: `Edm.Int32` by default.
        public var underlyingType: String
        /// Whether values are combinations of members.
        public var isFlags: Bool
        /// The members, in the order of the document. Without members, all values are unknown ones.
        public var members: [Member]
        /// The annotations of the type.
        public var annotations: [Annotation]
        /// Attributes and elements of other namespaces.
        public var extensions: Extensions
        var place = Place.unknown

        /// The qualified name.
        public var target: String { qualifiedName }
        /// The position in the document.
        public var position: Position? { place.position }

        /// Creates a type. It becomes the declaring type of its members.
        public init(
            namespace: String, name: String, underlyingType: String = "Edm.Int32", isFlags: Bool = false, members: [Member] = [],
            annotations: [Annotation] = [], extensions: Extensions = Extensions()
        ) {
            let qualifiedName = ServiceModel.qualified(name, in: namespace)
            self.namespace = namespace
            self.name = name
            self.qualifiedName = qualifiedName
            self.underlyingType = underlyingType
            self.isFlags = isFlags
            self.members = members
            self.annotations = annotations
            self.extensions = extensions
            for index in members.indices { self.members[index].declaringType = qualifiedName }
        }
    }

    /// A type definition: a primitive type under another name, with facets and annotations (section 11).
    public struct TypeDefinition: Element, Hashable {
        /// The namespace.
        public let namespace: String
        /// The simple name.
        public let name: String
        /// The qualified name.
        public let qualifiedName: String
        /// The primitive type with its facets. Its nullability has no meaning.
        public var underlyingType: TypeReference
        /// The annotations of the type.
        public var annotations: [Annotation]
        /// Attributes and elements of other namespaces.
        public var extensions: Extensions
        var place = Place.unknown

        /// The qualified name.
        public var target: String { qualifiedName }
        /// The position in the document.
        public var position: Position? { place.position }

        /// Creates a type.
        public init(
            namespace: String, name: String, underlyingType: TypeReference, annotations: [Annotation] = [],
            extensions: Extensions = Extensions()
        ) {
            self.namespace = namespace
            self.name = name
            qualifiedName = ServiceModel.qualified(name, in: namespace)
            self.underlyingType = underlyingType
            self.annotations = annotations
            self.extensions = extensions
        }
    }

    /// A term of a vocabulary (section 14.1).
    public struct Term: Element, Hashable {
        /// The namespace.
        public let namespace: String
        /// The simple name.
        public let name: String
        /// The qualified name.
        public let qualifiedName: String
        /// The type of the values.
        public var type: TypeReference
        /// The qualified name of the term that must be applied together with this one, or `nil`.
        public var baseTerm: String?
        /// The value of annotations without one, as text, or `nil`.
        public var defaultValue: String?
        /// The kinds of elements that the term applies to, such as `EntitySet`; empty for all.
        public var appliesTo: [String]
        /// The annotations of the term.
        public var annotations: [Annotation]
        /// Attributes and elements of other namespaces.
        public var extensions: Extensions
        var place = Place.unknown

        /// The qualified name.
        public var target: String { qualifiedName }
        /// The position in the document.
        public var position: Position? { place.position }

        /// Creates a term.
        public init(
            namespace: String, name: String, type: TypeReference, baseTerm: String? = nil, defaultValue: String? = nil,
            appliesTo: [String] = [], annotations: [Annotation] = [], extensions: Extensions = Extensions()
        ) {
            self.namespace = namespace
            self.name = name
            qualifiedName = ServiceModel.qualified(name, in: namespace)
            self.type = type
            self.baseTerm = baseTerm
            self.defaultValue = defaultValue
            self.appliesTo = appliesTo
            self.annotations = annotations
            self.extensions = extensions
        }
    }
}

extension ServiceModel {
    /// The parts of a document's element that CSDL 4.01 doesn't define: attributes and elements of other namespaces, such as `sap:label`
    /// and `m:HttpMethod`, attributes that only V2 and V3 have, and unknown ones.
    public struct Extensions: Sendable, Hashable {
        /// An attribute.
        public struct Attribute: Sendable, Hashable {
            /// The URI of the namespace; empty for attributes without a prefix.
            public var namespace: String
            /// The local name.
            public var name: String
            /// The value.
            public var value: String

            /// Creates an attribute.
            public init(namespace: String = "", name: String, value: String) {
                self.namespace = namespace
                self.name = name
                self.value = value
            }
        }

        /// An element of XML.
        public struct Element: Sendable, Hashable {
            /// The URI of the namespace.
            public var namespace: String
            /// The local name.
            public var name: String
            /// The attributes.
            public var attributes: [Attribute]
            /// The text, without blanks at its beginning and its end.
            public var text: String
            /// The elements inside.
            public var children: [Element]

            /// Creates an element.
            public init(namespace: String, name: String, attributes: [Attribute] = [], text: String = "", children: [Element] = []) {
                self.namespace = namespace
                self.name = name
                self.attributes = attributes
                self.text = text
                self.children = children
            }
        }

        /// The namespace of SAP's attributes, `sap:` by convention.
        public static let sap = "http://www.sap.com/Protocols/SAPData"
        /// The namespace of the metadata attributes of V2 and V3, `m:` by convention.
        public static let dataServicesMetadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
        /// The namespace of Microsoft's annotations of V2 and V3, such as `annotation:StoreGeneratedPattern`.
        public static let edmAnnotation = "http://schemas.microsoft.com/ado/2009/02/edm/annotation"

        /// The attributes, ordered by namespace and name.
        public var attributes: [Attribute]
        /// The elements, in the order of the document.
        public var elements: [Element]

        /// Whether there are neither attributes nor elements.
        public var isEmpty: Bool { attributes.isEmpty && elements.isEmpty }

        /// Creates a value.
        public init(attributes: [Attribute] = [], elements: [Element] = []) {
            self.attributes = attributes
            self.elements = elements
        }

        /// The value of an attribute, or `nil`.
        ///
        /// - Parameters:
        ///   - name: The local name: `label`.
        ///   - namespace: The URI of the namespace, by default none.
        public subscript(name: String, in namespace: String = "") -> String? {
            attributes.first { $0.name == name && $0.namespace == namespace }?.value
        }
    }
}

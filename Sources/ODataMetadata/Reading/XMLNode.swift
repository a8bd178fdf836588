/// An element of a metadata document with its content. The reader builds one for each child of a schema, and releases it once it is part of
/// the model, so at most one child is in memory in addition to the model.
final class XMLNode {
    struct Attribute {
        let name: String
        /// The URI of the namespace; empty without a prefix.
        let namespace: String
        let value: String
    }

    /// The local name.
    let name: String
    /// The URI of the namespace.
    let namespace: String
    /// Whether the element belongs to CSDL.
    let isKnown: Bool
    /// Whether the text of the element is part of the model.
    let hasText: Bool
    let place: Place
    /// The attributes that weren't taken, ordered by namespace and name, because the parser's order is undefined.
    private(set) var attributes: [Attribute]
    var children: [XMLNode] = []
    var text = ""

    init(name: String, namespace: String, isKnown: Bool, attributes: [Attribute], place: Place) {
        self.name = name
        self.namespace = namespace
        self.isKnown = isKnown
        hasText = !isKnown || !Self.elementsWithoutText.contains(name)
        self.attributes = attributes.sorted { ($0.namespace, $0.name) < ($1.namespace, $1.name) }
        self.place = place
    }

    /// The name of an element of CSDL or of the document around it; empty for elements of other namespaces.
    var tag: String { isKnown || XMLNamespace.isEDMX(namespace) ? name : "" }

    /// The common elements without text. Blanks in them are ignored.
    private static let elementsWithoutText: Set = [
        "EntityType", "ComplexType", "EnumType", "EntityContainer", "Action", "Function", "Property", "NavigationProperty", "Member",
        "Annotations", "Annotation", "Record", "Collection", "PropertyValue", "EntitySet", "Singleton", "FunctionImport", "Parameter",
        "Key",
        "Association", "AssociationSet",
    ]

    /// Removes an attribute and returns its value. Attributes that remain at the end are unknown.
    func take(_ name: String, in namespace: String = "") -> String? {
        guard let index = attributes.firstIndex(where: { $0.name == name && $0.namespace == namespace }) else { return nil }
        return attributes.remove(at: index).value
    }

    /// Returns the value of an attribute.
    func value(_ name: String, in namespace: String = "") -> String? {
        attributes.first { $0.name == name && $0.namespace == namespace }?.value
    }

    /// The element as an extension, which the model keeps without a meaning.
    var kept: ServiceModel.Extensions.Element {
        ServiceModel.Extensions.Element(
            namespace: namespace, name: name, attributes: keptAttributes, text: ReadingState.trimmed(text), children: children.map(\.kept))
    }

    /// The attributes that weren't taken, as extensions.
    var keptAttributes: [ServiceModel.Extensions.Attribute] {
        attributes.map { ServiceModel.Extensions.Attribute(namespace: $0.namespace, name: $0.name, value: $0.value) }
    }
}

/// The namespaces of metadata documents.
enum XMLNamespace {
    static let edm = "http://docs.oasis-open.org/odata/ns/edm"
    static let edmx = "http://docs.oasis-open.org/odata/ns/edmx"
    static let xml = "http://www.w3.org/XML/1998/namespace"
    private static let microsoft = "http://schemas.microsoft.com/ado/"

    /// Returns whether a namespace is one of CSDL, of any version: services also use unpublished ones such as `…/ado/2008/01/edm`.
    static func isEDM(_ uri: String) -> Bool { uri == edm || uri.hasPrefix(microsoft) && uri.hasSuffix("/edm") }

    /// Returns whether a namespace is one of the document around the schemas, of any version.
    static func isEDMX(_ uri: String) -> Bool { uri == edmx || uri.hasPrefix(microsoft) && uri.hasSuffix("/edmx") }

    /// Returns whether a namespace of CSDL is one of OData 3.0.
    static func isThird(_ uri: String) -> Bool { uri.hasPrefix(microsoft + "2009/11") }
}

/// The content of a document with qualified names, before it is checked.
struct RawDocument {
    var version = ServiceModel.Version.v4
    var schemas: [ServiceModel.Schema] = []
    var references: [ServiceModel.Reference] = []
    var extensions = ServiceModel.Extensions()
    var associations = Associations()
    /// The container that a CSDL JSON document names.
    var containerName: String?
    var containerPlace = Place.unknown
}

/// The associations of V2 and V3. Navigation properties get their types from them, and sets get their bindings.
struct Associations {
    struct End {
        let type: String
        let multiplicity: String
        let onDelete: ServiceModel.NavigationProperty.DeleteAction?
    }

    struct Constraint {
        let principalRole: String
        let principal: [String]
        let dependentRole: String
        let dependent: [String]
    }

    struct Association {
        let name: String
        /// The ends by role. If two have the same role, the first counts.
        let ends: [String: End]
        let constraint: Constraint?
        let annotations: [ServiceModel.Annotation]
        let extensions: ServiceModel.Extensions
        let place: Place
    }

    struct AssociationSet {
        let association: String
        let container: String
        /// Names of entity sets by role, in the order of the document.
        let ends: [(role: String, set: String)]
        let extensions: ServiceModel.Extensions
        let place: Place
    }

    var all: [String: Association] = [:]
    var sets: [AssociationSet] = []
}

extension RawDocument {
    /// The namespaces of the types that the document uses, without `Edm`.
    var usedNamespaces: Set<String> {
        var names: Set<String> = []
        for schema in schemas {
            for type in schema.entityTypes + schema.complexTypes {
                if let base = type.baseType { names.insert(base) }
                names.formUnion(type.properties.map(\.type.name))
                names.formUnion(type.navigationProperties.map(\.targetType))
            }
            for operation in schema.operations {
                names.formUnion(operation.parameters.map(\.type.name))
                if let type = operation.returnType { names.insert(type.type.name) }
            }
            for container in schema.containers { names.formUnion(container.entitySets.map(\.entityType)) }
        }
        for association in associations.all.values { names.formUnion(association.ends.values.map(\.type)) }
        var namespaces = Set(names.compactMap { name in name.utf8.lastIndex(of: UInt8(ascii: ".")).map { String(name[..<$0]) } })
        namespaces.remove("Edm")
        return namespaces
    }
}

extension ServiceModel.Reference {
    /// Whether the reference lists nothing that it includes.
    var isWhole: Bool { includes.isEmpty && includedAnnotations.isEmpty }
}

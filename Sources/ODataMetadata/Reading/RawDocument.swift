/// What a document has, with names in full, before it is checked.
struct RawDocument {
    var version = ServiceModel.Version.v4
    var schemas: [ServiceModel.Schema] = []
    var references: [ServiceModel.Reference] = []
    var extensions = ServiceModel.Extensions()
    var associations = Associations()
    /// The container that CSDL JSON names.
    var containerName: String?
}

/// The associations of V2 and V3, from which navigation properties get their types, and sets their bindings.
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
        /// The ends by role; of two with one role, the first.
        let ends: [String: End]
        let constraint: Constraint?
        let place: Place
    }

    struct AssociationSet {
        let association: String
        let container: String
        /// Names of entity sets by role, in the order of the document.
        let ends: [(role: String, set: String)]
        let place: Place
    }

    var all: [String: Association] = [:]
    var sets: [AssociationSet] = []
}

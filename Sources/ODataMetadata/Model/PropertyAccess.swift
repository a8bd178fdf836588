extension ServiceModel {
    /// What keeps clients from setting a property, according to annotations and to attributes of versions 2 and 3.
    package struct AccessLimit: Sendable, Hashable {
        /// The limits.
        package enum Kind: Sendable, Hashable {
            /// Never: the service sets it when an entity is created or updated.
            case computed
            /// Never: it can only be read.
            case readOnly
            /// Once: in the creation of an entity.
            case immutable
            /// Not in the creation of an entity, but later.
            case notCreatable
        }

        package let kind: Kind
        /// The annotation or attribute and its place: `Core.Computed of Sales.Order/Total`.
        package let source: String
    }

    /// Returns what keeps clients from setting a property, or `nil` if nothing does.
    package func accessLimit(of property: Property) -> AccessLimit? {
        func limit(_ kind: AccessLimit.Kind, _ source: String) -> AccessLimit {
            AccessLimit(kind: kind, source: "\(source) of \(property.target)")
        }
        let isExcluded = { (name: String) in property.extensions[name, in: Extensions.sap] == "false" }
        // The database of a service of version 2 or 3 generates the value.
        let pattern = property.extensions["StoreGeneratedPattern", in: Extensions.edmAnnotation]
        if isTagged("Computed", property) { return limit(.computed, "Core.Computed") }
        if let pattern, pattern == "Identity" || pattern == "Computed" { return limit(.computed, "StoreGeneratedPattern") }
        if !permitsWriting(property) { return limit(.readOnly, "Core.Permissions") }
        switch (isExcluded("creatable"), isExcluded("updatable")) {
        case (true, true): return limit(.readOnly, "sap:creatable and sap:updatable")
        case (false, true) where !isTagged("Immutable", property): return limit(.immutable, "sap:updatable")
        case (true, false) where !isTagged("Immutable", property): return limit(.notCreatable, "sap:creatable")
        default: return isTagged("Immutable", property) ? limit(.immutable, "Core.Immutable") : nil
        }
    }

    /// Returns whether the service sets a property if a client doesn't when it creates an entity: `Core.ComputedDefaultValue`.
    package func hasComputedDefault(_ property: Property) -> Bool { isTagged("ComputedDefaultValue", property) }

    /// Returns whether `Core.Permissions` of an element, if it has any, include writing.
    package func permitsWriting(_ element: some Element) -> Bool {
        guard let value = annotation("Org.OData.Core.V1.Permissions", of: element)?.value else { return true }
        if let number = value.intValue { return number & 2 != 0 }
        guard let permissions = value.text?.split(separator: ",") else { return true }
        return permissions.contains { $0.contains("Write") }
    }

    private func isTagged(_ term: String, _ property: Property) -> Bool {
        annotation("Org.OData.Core.V1." + term, of: property)?.isTrue ?? false
    }
}

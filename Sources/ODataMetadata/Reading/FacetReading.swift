extension ReadingState {
    /// The types whose precision is 0 by default.
    private static let temporalTypes: Set = ["Edm.DateTimeOffset", "Edm.Duration", "Edm.TimeOfDay", "Edm.DateTime", "Edm.Time"]

    /// Splits `Collection(Sales.Order)` into the qualified name and whether it is a collection.
    func typeName(_ raw: String) -> (name: String, isCollection: Bool) {
        let text = Self.trimmed(raw)
        guard text.utf8.last == UInt8(ascii: ")"), text.hasPrefix("Collection(") else { return (name(text), false) }
        return (name(String(text.dropFirst(11).dropLast())), true)
    }

    func bool(_ text: String?, default fallback: Bool, of attribute: String, at place: Place) -> Bool {
        guard let text else { return fallback }
        switch Self.trimmed(text) {
        case "true", "1", "True", "TRUE": return true
        case "false", "0", "False", "FALSE": return false
        default:
            invalid(attribute, text, assuming: "\(fallback) is assumed", at: place)
            return fallback
        }
    }

    func maxLength(_ text: String?, at place: Place) -> ServiceModel.TypeReference.MaxLength? {
        guard let text else { return nil }
        if Self.trimmed(text).lowercased() == "max" { return .max }
        return count("MaxLength", text, at: place).map { .fixed($0) }
    }

    /// Returns a precision; `nil` for the default, which is 0 for times.
    func precision(_ text: String?, of type: String, at place: Place) -> Int? {
        guard let text, let value = count("Precision", text, at: place) else { return nil }
        return value == 0 && Self.temporalTypes.contains(type) ? nil : value
    }

    /// Returns a scale; `nil` for the default, 0.
    func scale(_ text: String?, at place: Place) -> ServiceModel.TypeReference.Scale? {
        guard let text else { return nil }
        switch Self.trimmed(text).lowercased() {
        case "variable": return .variable
        case "floating": return .floating
        default: return count("Scale", text, at: place).flatMap { $0 == 0 ? nil : .fixed($0) }
        }
    }

    func srid(_ text: String?, at place: Place) -> ServiceModel.TypeReference.SRID? {
        guard let text else { return nil }
        if Self.trimmed(text).lowercased() == "variable" { return .variable }
        return count("SRID", text, at: place).map { .fixed($0) }
    }

    private func count(_ facet: String, _ text: String, at place: Place) -> Int? {
        if let value = Int(Self.trimmed(text)), value >= 0 { return value }
        invalid(facet, text, assuming: "the facet is ignored", at: place)
        return nil
    }

    func invalid(_ attribute: String, _ text: String, assuming assumption: String, at place: Place) {
        report(.invalidValue, "\(attribute) can't be '\(text.prefix(100))'", assuming: assumption, at: place)
    }

    /// Returns whether a name is an identifier of OData: letters, digits and connecting characters, not beginning with a digit, at most 128
    /// (section 15.2).
    static func isIdentifier(_ name: String) -> Bool {
        var isFirst = true
        var count = 0
        for scalar in name.unicodeScalars {
            count += 1
            switch scalar {
            case "a"..."z", "A"..."Z", "_": break
            case "0"..."9": if isFirst { return false }
            default:
                guard scalar.value > 0x7F else { return false }
                switch scalar.properties.generalCategory {
                case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber: break
                case .decimalNumber, .nonspacingMark, .spacingMark, .connectorPunctuation, .format: if isFirst { return false }
                default: return false
                }
            }
            isFirst = false
        }
        return count > 0 && count <= 128
    }

    /// The attributes and control members of CSDL.
    private static let controls: Set = [
        "Abstract", "Action", "Alias", "Annotations", "AppliesTo", "BaseTerm", "BaseType", "Collection", "ContainsTarget", "DefaultValue",
        "EntityContainer", "EntitySet", "EntitySetPath", "EntityType", "Extends", "Function", "HasStream", "Include", "IncludeAnnotations",
        "IncludeInServiceDocument", "IsBindable", "IsBound", "IsComposable", "IsFlags", "Key", "Kind", "MaxLength", "Name", "Namespace",
        "NavigationPropertyBinding", "Null", "Nullable", "OnDelete", "OpenType", "Parameter", "Partner", "Precision", "Qualifier",
        "Reference",
        "ReferentialConstraint", "ReturnType", "SRID", "Scale", "Term", "Type", "UnderlyingType", "Unicode", "Uri", "Url", "Value",
        "Version",
        "xmlns",
    ]

    /// Returns whether an attribute without a namespace can have this name in both formats, and isn't mistaken for one of CSDL.
    static func isExtensionName(_ name: String) -> Bool { isIdentifier(name) && !controls.contains(name) }

    /// Returns whether a name can be the local name of an attribute or element of XML. The ranges above ASCII are simplified.
    static func isXMLName(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first.properties.isAlphabetic || first == "_" else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_" || scalar == "-" || scalar == "."
                || scalar.value > 0x7F && ReadingState.isIdentifier("_" + String(scalar))
        }
    }
}

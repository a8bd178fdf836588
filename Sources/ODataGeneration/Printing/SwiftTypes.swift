import ODataMetadata

/// The Swift types of the values of a model.
struct SwiftTypes: Sendable {
    let model: ServiceModel
    let selection: TypeSelection
    let names: NameTable

    /// Returns a type with its type definition replaced by the underlying primitive type.
    func resolved(_ type: ServiceModel.TypeReference) -> ServiceModel.TypeReference {
        var result = type
        // CSDL doesn't allow a definition of a definition, so a few steps are enough.
        for _ in 0..<8 {
            guard let definition = model.typeDefinition(result.name) else { break }
            result.name = definition.underlyingType.name
        }
        return result
    }

    /// Returns the type of a value, with brackets around the type of a collection's elements.
    ///
    /// Elements aren't optional: services rarely send null in a collection, and documents rarely state that they don't.
    func name(of type: ServiceModel.TypeReference) -> String {
        let element = element(of: resolved(type).name)
        return type.isCollection ? "[\(element)]" : element
    }

    private func element(of name: String) -> String {
        if let primitive = Self.primitives[name] { return primitive.hasPrefix("OData.") ? primitive : names.swift(primitive) }
        if name.hasPrefix("Edm.Geo") { return "OData.EdmSpatial" }
        switch model.type(name) {
        case .structured(let type): return item(type.qualifiedName)
        case .enumeration(let type) where selection.contains(type.qualifiedName): return names.path(of: type.qualifiedName)
        default: return name == "Edm.ComplexType" || name == "Edm.EntityType" ? Self.untypedItem : "OData.ODataValue"
        }
    }

    /// Returns the type of items of a structured type.
    func item(_ name: String) -> String { selection.contains(name) ? names.path(of: name) : Self.untypedItem }

    /// Returns the description of a structured type.
    func modelName(_ name: String) -> String {
        selection.contains(name) ? names.path(of: name) + "Model" : "OData.UntypedModel"
    }

    /// Returns the names of the types with a protocol: other included types are derived from them.
    func typesWithProtocol() -> Set<String> {
        var bases: Set<String> = []
        for name in selection.structuredTypes {
            // The bases of an included type are included too, so the direct bases are sufficient.
            if let base = names.tree.base(of: name) { bases.insert(base) }
        }
        return bases
    }

    /// Returns whether a type has a literal, so that it can be part of a key.
    func hasLiteral(_ type: ServiceModel.TypeReference) -> Bool {
        let name = resolved(type).name
        if type.isCollection { return false }
        if name == "Edm.Stream" || name.hasPrefix("Edm.Geo") { return false }
        return Self.primitives[name] != nil || model.enumType(name).map { selection.contains($0.qualifiedName) } ?? false
    }

    static let untypedItem = "OData.ODataItem<OData.UntypedModel>"

    private static let primitives = [
        "Edm.Binary": "OData.EdmBinary", "Edm.Boolean": "Bool", "Edm.Byte": "UInt8", "Edm.Date": "OData.EdmDate",
        "Edm.DateTime": "OData.EdmDateTimeOffset", "Edm.DateTimeOffset": "OData.EdmDateTimeOffset", "Edm.Decimal": "OData.EdmDecimal",
        "Edm.Double": "Double", "Edm.Duration": "OData.EdmDuration", "Edm.Guid": "OData.EdmGuid", "Edm.Int16": "Int16",
        "Edm.Int32": "Int32", "Edm.Int64": "Int64", "Edm.SByte": "Int8", "Edm.Single": "Float", "Edm.String": "String",
        "Edm.Time": "OData.EdmTimeOfDay", "Edm.TimeOfDay": "OData.EdmTimeOfDay",
    ]
}

/// The documentation and deprecation of an element.
struct ElementNotes: Sendable {
    /// The lines of the documentation comment, without slashes.
    let comment: [String]
    /// The message of a deprecation, or `nil`.
    let deprecation: String?

    init(_ element: some ServiceModel.Element, in model: ServiceModel) {
        var lines = Self.lines(model.summary(of: element) ?? "")
        let more = Self.lines(model.annotation("Org.OData.Core.V1.LongDescription", of: element)?.value?.text ?? "")
        if !more.isEmpty { lines += (lines.isEmpty ? [] : [""]) + more }
        comment = lines
        deprecation = Self.deprecation(of: element, in: model)
    }

    private static func lines(_ text: String) -> [String] {
        var lines: [String] = []
        // A document's text is shortened here, so that no comment hides the code.
        for line in text.prefix(4_000).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            var scalars = String.UnicodeScalarView()
            for scalar in line.unicodeScalars where scalar == "\t" || !SwiftNames.isInvisible(scalar) {
                scalars.append(scalar == "\t" ? " " : scalar)
            }
            var words = String(scalars)[...]
            while words.last == " " { words = words.dropLast() }
            while words.first == " " { words = words.dropFirst() }
            lines.append(String(words))
        }
        while lines.last?.isEmpty ?? false { lines.removeLast() }
        while lines.first?.isEmpty ?? false { lines.removeFirst() }
        return lines
    }

    /// `Core.Revisions` lists changes; a change of the kind `Deprecated` names the replacement.
    private static func deprecation(of element: some ServiceModel.Element, in model: ServiceModel) -> String? {
        for revision in model.annotation("Org.OData.Core.V1.Revisions", of: element)?.value?.elements ?? []
        where revision["Kind"]?.text == "Deprecated" {
            let text = lines(revision["Description"]?.text ?? "").joined(separator: " ")
            return text.isEmpty ? "The service deprecates it." : text
        }
        return nil
    }
}

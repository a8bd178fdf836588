import ODataMetadata

/// Prints projections: plain structures with some properties of a type.
struct ProjectionPrinter: Sendable {
    /// A projection, or a nested one, whose properties are known.
    private struct Structure: Sendable {
        let name: String
        var members: [Member] = []
        var nested: [Structure] = []
    }

    private struct Member: Sendable {
        let wire: String
        let name: String
        let type: String
        let notes: ElementNotes
        /// The default of the property in the initializer, or `nil`.
        let initial: String?
    }

    /// The faults and changed names of the projections.
    private struct Findings {
        var faults: [(message: String, name: String)] = []
        var met: [(wire: String, name: String)] = []
    }

    private let types: SwiftTypes
    private let structures: [Structure]
    /// The faults about unknown names and duplicates, with the names that determine their positions.
    let faults: [(message: String, name: String)]
    /// The properties whose names were changed to avoid a collision, by projection and name, with the new names: `Card/URL`.
    let met: [(wire: String, name: String)]

    init(_ projections: [GenerationConfiguration.Projection], _ types: SwiftTypes) {
        self.types = types
        var structures: [Structure] = []
        var findings = Findings()
        for projection in projections {
            if let type = types.model.structuredType(projection.type) {
                structures.append(Self.structure(projection.name, projection.properties, of: type, types, projection.name, &findings))
            } else {
                let all = (types.model.schemas + types.model.includedSchemas).flatMap { $0.entityTypes + $0.complexTypes }
                let hint = NearestNames.hint(projection.type, among: all.map(\.qualifiedName))
                findings.faults.append(
                    (
                        "the projection '\(projection.name)' is of '\(projection.type)', and the document has no such type" + hint,
                        projection.type
                    ))
            }
        }
        self.structures = structures
        faults = findings.faults
        met = findings.met
    }

    /// The recursion is bounded, because the reader of configurations bounds the depth.
    private static func structure(
        _ name: String, _ properties: [GenerationConfiguration.ProjectedProperty], of type: ServiceModel.StructuredType,
        _ types: SwiftTypes, _ title: String, _ findings: inout Findings
    ) -> Structure {
        let model = types.model
        var structure = Structure(name: name)
        let taken = SwiftNames.swiftTypes.union(SwiftNames.reservedTypes).union([
            types.names.service, "CodingKeys", "CodingKey", "Decodable",
        ])
        var seen: Set<String> = []
        var repeated: Set<String> = []
        for property in properties where !seen.insert(property.name).inserted { repeated.insert(property.name) }
        for name in repeated.sorted() {
            findings.faults.append(("the projection '\(title)' lists '\(name)' twice at one place; remove one of them", name))
        }
        let properties = properties.filter { seen.remove($0.name) != nil }
        let inner = properties.filter { $0.properties != nil }.map {
            NameScope.Claim(key: $0.name, wire: $0.name, wanted: SwiftNames.typeName($0.name))
        }
        let innerNames = NameScope(reserved: taken).names(for: inner)
        let memberNames = NameScope(reserved: ["hash", "hashValue", "encode"]).names(
            for: properties.map { .init(key: $0.name, wire: $0.name, wanted: SwiftNames.memberName($0.name)) })
        let (names, members) = (innerNames.names, memberNames.names)
        findings.met += (innerNames.renamed + memberNames.renamed).map { (title + "/" + $0.wire, $0.name) }
        for property in properties {
            let swift = members[property.name] ?? SwiftNames.memberName(property.name)
            if let found = model.property(property.name, of: type.qualifiedName) {
                var value = types.name(of: found.type)
                if let inner = property.properties {
                    guard let target = model.structuredType(found.type.name) else {
                        findings.faults.append(
                            ("the projection '\(title)' lists properties of '\(property.name)', whose values have none", property.name))
                        continue
                    }
                    let nested = names[property.name] ?? "Value"
                    structure.nested.append(Self.structure(nested, inner, of: target, types, title, &findings))
                    value = found.type.isCollection ? "[\(nested)]" : nested
                } else if found.type.name == "Edm.Stream" {
                    value = "OData.EdmStream"
                }
                let isOptional = found.type.isNullable && !found.type.isCollection
                structure.members.append(
                    .init(
                        wire: property.name, name: swift, type: value + (isOptional ? "?" : ""), notes: ElementNotes(found, in: model),
                        initial: isOptional ? "nil" : nil))
            } else if let found = model.navigationProperty(property.name, of: type.qualifiedName) {
                var value = types.item(model.qualifiedName(found.targetType))
                if let inner = property.properties, let target = model.structuredType(found.targetType) {
                    let nested = names[property.name] ?? "Value"
                    structure.nested.append(Self.structure(nested, inner, of: target, types, title, &findings))
                    value = nested
                }
                structure.members.append(
                    .init(
                        wire: property.name, name: swift, type: "OData.\(found.isCollection ? "ToMany" : "ToOne")<\(value)>",
                        notes: ElementNotes(found, in: model), initial: found.isCollection ? ".init()" : ".notLoaded(link: nil)"))
            } else {
                let all = model.properties(of: type).map(\.name) + model.navigationProperties(of: type).map(\.name)
                let hint = NearestNames.hint(property.name, among: all)
                findings.faults.append(
                    (
                        "the projection '\(title)' names '\(property.name)', and \(type.qualifiedName) has no such property" + hint,
                        property.name
                    ))
            }
        }
        return structure
    }

    /// Prints all projections.
    func print(to text: inout SourceText) {
        guard !structures.isEmpty else { return }
        text.space()
        text.block("extension \(types.names.service)") { text in
            for structure in structures {
                text.space()
                print(structure, to: &text)
            }
        }
    }

    private func print(_ structure: Structure, to text: inout SourceText) {
        let access = text.access
        let conformances = ["Codable", "Hashable", "Sendable"].map { types.names.swift($0) }.joined(separator: ", ")
        text.block("\(access)struct \(SwiftNames.declared(structure.name)): \(conformances)") { text in
            for member in structure.members {
                // The initializer uses every property, and the compiler would warn there.
                text.notes(member.notes, deprecates: false)
                text.line("\(access)var \(SwiftNames.declared(member.name)): \(member.type)")
            }
            let parameters = structure.members.map { "\(SwiftNames.declared($0.name)): \($0.type)" + ($0.initial.map { " = " + $0 } ?? "") }
            text.space()
            text.block("\(access)init(\(parameters.joined(separator: ", ")))") { text in
                for member in structure.members {
                    let name = SwiftNames.declared(member.name)
                    text.line("self.\(name) = \(name)")
                }
            }
            text.space()
            text.block("private enum CodingKeys: \(types.names.swift("String")), \(types.names.swift("CodingKey"))") { text in
                for member in structure.members {
                    let name = SwiftNames.declared(member.name)
                    text.line(member.name == member.wire ? "case \(name)" : "case \(name) = \(SwiftNames.literal(member.wire))")
                }
            }
            for nested in structure.nested {
                text.space()
                print(nested, to: &text)
            }
        }
    }
}

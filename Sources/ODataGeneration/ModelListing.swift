public import ODataMetadata

// Lists that help to write an include list.
extension CodeGenerator {
    /// Returns a table of the entity sets and singletons with the number of types that including each one adds, and the faults of the
    /// document.
    ///
    /// It needs no configuration, so it works for documents of any size.
    public static func listing(of model: ServiceModel) -> String {
        var rows = [["set or singleton", "entity type", "types", "+ relations one step", "+ all relations"]]
        let sets = model.entitySets.map { ($0.name, $0.entityType) } + model.singletons.map { ($0.name, $0.type) }
        var known: [String: [String]] = [:]
        for (name, type) in sets.sorted(by: { $0.0 < $1.0 }) {
            let counts = known[type] ?? [.steps(0), .steps(1), .all].map { String(count(type, $0, model)) }
            known[type] = counts
            rows.append([name, type] + counts)
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            var line = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
        let schemas = model.schemas
        lines.append("")
        lines.append(
            "\(schemas.reduce(0) { $0 + $1.entityTypes.count }) entity types, \(schemas.reduce(0) { $0 + $1.complexTypes.count }) complex "
                + "types, \(schemas.reduce(0) { $0 + $1.enumTypes.count }) enumerations, "
                + "\(schemas.reduce(0) { $0 + $1.operations.count }) overloads of operations, OData \(model.version.rawValue)")
        let faults = model.diagnostics.filter { $0.severity == .repaired }
        if !faults.isEmpty { lines += ["", "Faults of the document, and the assumptions:"] + faults.map(\.description) }
        return lines.joined(separator: "\n")
    }

    private static func count(_ type: String, _ relations: GenerationConfiguration.Relations, _ model: ServiceModel) -> Int {
        var configuration = GenerationConfiguration()
        configuration.include = [.types(.init(type, relations: relations))]
        return TypeSelection(model, configuration).structuredTypes.count
    }

    /// Returns the reason why a type is included: the steps from an entry of the include list to the type.
    ///
    /// - Throws: ``GenerationError`` if the document has no such type.
    public func explanation(of name: String, file: String) throws(GenerationError) -> String {
        let qualified = model.qualifiedName(name)
        if let lines = selection.explanation(of: qualified) { return lines.joined(separator: "\n") }
        if let type = model.type(qualified) {
            if case .definition = type { return "\(qualified) is a type definition: its values have a primitive type" }
            return "\(qualified) isn't included"
        }
        let schemas = model.schemas + model.includedSchemas
        let all = schemas.flatMap { ($0.entityTypes + $0.complexTypes).map(\.qualifiedName) + $0.enumTypes.map(\.qualifiedName) }
        throw GenerationError([
            GenerationDiagnostic(.error, file: file, "the document has no type '\(name)'" + NearestNames.hint(name, among: all))
        ])
    }
}

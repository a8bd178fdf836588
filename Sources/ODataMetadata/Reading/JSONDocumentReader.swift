import Foundation

/// Reads a CSDL JSON document (CSDL JSON 4.01, section 4).
enum JSONDocumentReader {
    static func read(_ data: Data, limits: ServiceModel.Limits, state: ReadingState) throws -> RawDocument {
        let tree = try PositionedJSON.parse(data, depthLimit: min(limits.depth, 200))
        guard let members = tree.object else {
            throw ServiceModelError(
                kind: .noSchema, message: "The JSON document isn't an object: it isn't metadata of OData.", line: Int(tree.place.line),
                column: Int(tree.place.column))
        }
        let object = JSONObject(members, at: tree.place, state: state)
        var document = RawDocument()
        let text = object.take("$Version")?.text
        if let text, let version = ServiceModel.Version(rawValue: text) {
            document.version = version
        } else {
            document.version = .v401
            state.report(
                .unknownVersion, text.map { "the version '\($0.prefix(20))' isn't known" } ?? "the document has no $Version",
                assuming: "it is 4.01", at: tree.place)
        }
        state.version = document.version
        let references = object.take("$Reference")
        let schemas = object.takeNamed().filter { member in
            guard state.isShort(member.name, at: member.place, assuming: "the schema is ignored") else { return false }
            if member.value.object != nil { return true }
            state.report(
                .unknownElement, "'\(member.name.prefix(100))' isn't a schema object", assuming: "it is ignored", at: member.place)
            return false
        }
        // Any JSON object could be a document without a version.
        guard text == nil ? schemas.contains(where: isSchema) : !schemas.isEmpty else {
            throw ServiceModelError(
                kind: .noSchema, message: "The JSON document has no schema: check that it is the $metadata document of a service.",
                line: Int(tree.place.line), column: Int(tree.place.column))
        }
        for member in schemas { state.begin(schema: member.name) }
        // The namespaces of other documents are known too: none of them can be an alias.
        for reference in references?.object ?? [] {
            for include in reference.value.object?.first(where: { $0.name == "$Include" })?.value.array ?? [] {
                guard let namespace = include.object?.first(where: { $0.name == "$Namespace" })?.value.string else { continue }
                state.begin(schema: namespace)
            }
        }
        // All aliases must be known before the first name is read.
        for member in schemas {
            guard let alias = member.value.object?.first(where: { $0.name == "$Alias" })?.value.string else { continue }
            state.declare(alias: alias, of: member.name, at: member.place)
        }
        let reader = JSONSchemaReader(state)
        if let references { document.references = reader.references(references) }
        for member in schemas { document.schemas.append(reader.schema(member)) }
        document.containerPlace = object.value("$EntityContainer")?.place ?? .unknown
        document.containerName = object.string("$EntityContainer", state).map(state.name)
        document.extensions = object.rest(state)
        return document
    }

    /// Returns whether an object has a member that only schemas have: an alias, annotations, a type or overloads.
    private static func isSchema(_ member: PositionedJSON.Member) -> Bool {
        func hasKind(_ value: PositionedJSON) -> Bool { value.object?.contains { $0.name == "$Kind" } ?? false }
        return (member.value.object ?? []).contains { child in
            child.name.hasPrefix("$") || hasKind(child.value) || child.value.array?.contains(where: hasKind) ?? false
        }
    }
}

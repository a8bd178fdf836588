import Foundation

/// Makes a model of the raw content of a document: merges related parts, repairs faults, and reports them.
struct ModelAssembly {
    private let state: ReadingState
    private var outcome: RawDocument

    /// Reads a document and the given ones of its referenced documents.
    static func read(
        _ data: Data, isJSON: Bool?, references documents: [String: Data], limits: ServiceModel.Limits
    ) throws -> ServiceModel {
        let (outcome, state) = try raw(data, isJSON: isJSON, limits: limits)
        var assembly = ModelAssembly(state: state, outcome: outcome)
        let included = assembly.includedSchemas(documents, limits: limits)
        return assembly.model(including: included)
    }

    private init(state: ReadingState, outcome: RawDocument) {
        self.state = state
        self.outcome = outcome
    }

    /// Reads one document, without checks.
    private static func raw(
        _ data: Data, isJSON: Bool?, limits: ServiceModel.Limits
    ) throws -> (RawDocument, ReadingState) {
        if data.count > limits.size {
            throw ServiceModelError(
                kind: .tooLarge,
                message: "The metadata document has \(data.count) bytes, and the limit is \(limits.size): raise the limit to read it.")
        }
        if isJSON ?? ServiceModel.isJSON(data) {
            let state = ReadingState()
            return (try JSONDocumentReader.read(data, limits: limits, state: state), state)
        }
        var state = ReadingState(expected: Self.aliases(in: data))
        var outcome = try XMLDocumentReader.read(data, limits: limits, state: state)
        if state.hasLateAliases {
            // A schema used the alias of a later one, which the search for aliases missed. Now all aliases are known, and a second pass
            // resolves all names.
            state = ReadingState(namespaces: state.namespaces, schemas: state.schemas)
            outcome = try XMLDocumentReader.read(data, limits: limits, state: state)
        }
        return (outcome, state)
    }

    /// Returns the namespaces by alias in the start tags of schemas. It is a text search, which knows nothing of comments and prefixes.
    static func aliases(in data: Data) -> [String: String] {
        var aliases: [String: String] = [:]
        var rest = Array(data)[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[start...]
            guard rest.starts(with: "<Schema ".utf8) else {
                rest = rest.dropFirst()
                continue
            }
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { break }
            let tag = String(decoding: rest[..<end], as: UTF8.self)
            if let alias = value(of: " Alias=\"", in: " " + tag), let namespace = value(of: " Namespace=\"", in: " " + tag),
                aliases[alias] == nil, ReadingState.canRead(namespace)
            {
                aliases[alias] = namespace
            }
            rest = rest[end...]
        }
        return aliases
    }

    private static func value(of attribute: String, in tag: String) -> String? {
        guard let start = tag.range(of: attribute) else { return nil }
        let text = tag[start.upperBound...].prefix { $0 != "\"" }
        return text.isEmpty || text.contains("&") ? nil : String(text)
    }

    // MARK: References

    /// Reads the referenced documents and, in turn, the documents that they refer to, each once.
    private mutating func includedSchemas(_ documents: [String: Data], limits: ServiceModel.Limits) -> [ServiceModel.Schema] {
        var result: [ServiceModel.Schema] = []
        var read: [String: RawDocument] = [:]
        var found: Set<String> = Set(outcome.schemas.map(\.namespace))
        var waiting = Self.merged(outcome.references)[...]
        // Documents may refer to each other.
        var followed: Set<ServiceModel.Reference> = []
        while let reference = waiting.popFirst() {
            guard followed.insert(reference).inserted, let data = documents[reference.uri] else { continue }
            if read[reference.uri] == nil {
                do {
                    let (part, partState) = try Self.raw(data, isJSON: nil, limits: limits)
                    var assembly = ModelAssembly(state: partState, outcome: part)
                    assembly.merge()
                    assembly.outcome.associations.resolve(in: &assembly.outcome.schemas, state: partState)
                    read[reference.uri] = assembly.outcome
                    for diagnostic in partState.diagnostics { state.diagnostics.append(diagnostic.moved(to: reference.uri)) }
                } catch {
                    state.report(
                        .unreadReference, "the document at '\(reference.uri)' can't be read: \(error)",
                        assuming: "its types are unknown", at: reference.place)
                    read[reference.uri] = RawDocument()
                }
                waiting.append(contentsOf: read[reference.uri]?.references ?? [])
            }
            // A reference of V3 has no list of namespaces: it includes the whole document.
            let isWhole = outcome.version < .v4 && reference.isWhole
            let includes = Set(isWhole ? (read[reference.uri]?.schemas ?? []).map(\.namespace) : reference.includes.map(\.namespace))
            let rules = InclusionRules(reference.includedAnnotations)
            for schema in read[reference.uri]?.schemas ?? [] {
                if includes.contains(schema.namespace) {
                    if found.insert(schema.namespace).inserted { result.append(schema) }
                } else if let part = schema.annotations(includedBy: rules) {
                    result.append(part)
                }
            }
        }
        if outcome.version < .v4 { completeReferences(read, found) }
        return result
    }

    /// Gives references of V3 the namespaces that they include, as V4 lists them.
    private mutating func completeReferences(_ read: [String: RawDocument], _ found: Set<String>) {
        let open = outcome.references.indices.filter { outcome.references[$0].isWhole }
        for index in open {
            outcome.references[index].includes = (read[outcome.references[index].uri]?.schemas ?? []).map { .init(namespace: $0.namespace) }
        }
        // Types of other namespaces belong to a document that wasn't given.
        guard let index = open.first(where: { read[outcome.references[$0].uri] == nil }) else { return }
        let missing = outcome.usedNamespaces.subtracting(found)
        outcome.references[index].includes = missing.sorted().map { ServiceModel.Include(namespace: $0) }
    }

    // MARK: Assembly

    private mutating func model(including included: [ServiceModel.Schema]) -> ServiceModel {
        merge()
        let types = TypeRepair(
            state: state, schemas: outcome.schemas, included: included, references: outcome.references)
        types.repair(&outcome.schemas)
        outcome.associations.resolve(in: &outcome.schemas, state: state)
        types.repairRelations(&outcome.schemas)
        // Paths are followed in a model with repaired types.
        var draft = makeModel(including: included)
        if let name = outcome.containerName, draft.index.containers[name] == nil, !types.isExternal(name) {
            state.report(
                .unknownResource, "the container '\(name)' isn't in the model", assuming: "the first container counts",
                at: outcome.containerPlace)
            outcome.containerName = nil
            draft = makeModel(including: included)
        }
        let paths = PathRepair(state: state, paths: ModelPaths(model: draft, externalNamespaces: types.externalNamespaces))
        let model = paths.repair(&outcome.schemas) ? makeModel(including: included) : draft
        // The diagnostics have the order of the document. The position in the list makes the sort stable.
        let sorted = state.diagnostics.enumerated().sorted {
            ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
        }
        return ServiceModel(model, diagnostics: sorted.map(\.element))
    }

    private func makeModel(including included: [ServiceModel.Schema]) -> ServiceModel {
        ServiceModel(
            version: outcome.version, schemas: outcome.schemas, references: outcome.references, includedSchemas: included,
            containerName: outcome.containerName, extensions: outcome.extensions)
    }

    /// Merges schemas of the same namespace, groups overloads, and removes duplicates.
    private mutating func merge() {
        outcome.extensions.attributes.sort { ($0.namespace, $0.name) < ($1.namespace, $1.name) }
        outcome.references = Self.merged(outcome.references)
        var places: [String: Int] = [:]
        var schemas: [ServiceModel.Schema] = []
        for schema in outcome.schemas {
            guard let place = places[schema.namespace] else {
                places[schema.namespace] = schemas.count
                schemas.append(schema)
                continue
            }
            state.report(
                .duplicateSchema, "there are two schemas with the namespace '\(schema.namespace)'",
                assuming: "the second adds to the first", at: schema.place, path: schema.namespace)
            schemas[place].add(schema)
        }
        if schemas.count < outcome.schemas.count {
            for index in schemas.indices { schemas[index].removeRepeatedAttributes() }
        }
        let duplicates = DuplicateRemoval(state: state)
        for index in schemas.indices { duplicates.remove(from: &schemas[index]) }
        outcome.schemas = schemas
    }

    /// Merges references to the same document, because CSDL JSON can't contain two.
    private static func merged(_ references: [ServiceModel.Reference]) -> [ServiceModel.Reference] {
        var places: [String: Int] = [:]
        var result: [ServiceModel.Reference] = []
        for reference in references {
            if let place = places[reference.uri] {
                result[place].includes += reference.includes
                result[place].includedAnnotations += reference.includedAnnotations
                result[place].annotations += reference.annotations
                result[place].extensions.attributes += reference.extensions.attributes
                result[place].extensions.elements += reference.extensions.elements
            } else {
                places[reference.uri] = result.count
                result.append(reference)
            }
        }
        return result
    }
}

extension ServiceModel.Schema {
    fileprivate mutating func add(_ other: ServiceModel.Schema) {
        alias = alias ?? other.alias
        entityTypes += other.entityTypes
        complexTypes += other.complexTypes
        enumTypes += other.enumTypes
        typeDefinitions += other.typeDefinitions
        terms += other.terms
        operations += other.operations
        containers += other.containers
        targetedAnnotations += other.targetedAnnotations
        annotations += other.annotations
        extensions.attributes += other.extensions.attributes
        extensions.elements += other.extensions.elements
    }

    /// Removes attributes with the name of an earlier one.
    fileprivate mutating func removeRepeatedAttributes() {
        var seen: Set<ServiceModel.Extensions.Attribute> = []
        extensions.attributes.removeAll { attribute in
            !seen.insert(.init(namespace: attribute.namespace, name: attribute.name, value: "")).inserted
        }
    }

    /// Returns the annotations that a reference includes from the schema, as a separate schema, or `nil` if there are none.
    fileprivate func annotations(includedBy rules: InclusionRules) -> ServiceModel.Schema? {
        let groups = targetedAnnotations.compactMap { group -> ServiceModel.TargetedAnnotations? in
            var group = group
            let targets = rules.targetNamespaces(of: group.target)
            group.annotations.removeAll { !rules.include($0, at: targets) }
            return group.annotations.isEmpty ? nil : group
        }
        return groups.isEmpty ? nil : ServiceModel.Schema(namespace: namespace, targetedAnnotations: groups)
    }
}

/// The rules for which annotations of a referenced document a reference includes (section 4.3).
private struct InclusionRules {
    private let rules: Set<ServiceModel.IncludedAnnotations>
    private let terms: NamespaceNames
    private let targets: NamespaceNames

    init(_ rules: [ServiceModel.IncludedAnnotations]) {
        self.rules = Set(rules)
        terms = NamespaceNames(rules.map(\.termNamespace))
        targets = NamespaceNames(rules.compactMap(\.targetNamespace))
    }

    /// The target namespaces of rules that match a target; `nil` is the namespace of rules for all targets.
    func targetNamespaces(of target: String) -> [String?] { [nil] + targets.prefixes(of: target).map { $0 } }

    func include(_ annotation: ServiceModel.Annotation, at targets: [String?]) -> Bool {
        let qualifiers = annotation.qualifier == nil ? [nil] : [nil, annotation.qualifier]
        return terms.prefixes(of: annotation.term).contains { term in
            qualifiers.contains { qualifier in
                targets.contains { rules.contains(.init(termNamespace: term, qualifier: qualifier, targetNamespace: $0)) }
            }
        }
    }
}

extension ModelDiagnostic {
    /// Returns the same diagnostic for another document.
    fileprivate func moved(to uri: String) -> ModelDiagnostic {
        ModelDiagnostic(
            kind: kind, severity: severity, message: message, assumption: assumption, line: line, column: column, path: uri + "#" + path)
    }
}

public import Foundation
public import ODataMetadata

/// Generates Swift code from the metadata document of a service.
///
/// The code consists of descriptions of the types for values of `OData`, and of a client with the service's entity sets and operations. It
/// depends only on the contents of the document and the configuration: not on the order within them, on the time, or on paths.
public struct CodeGenerator: Sendable {
    /// The files that code is generated from.
    public struct Input: Sendable {
        /// The metadata document.
        public var document: Data
        /// The name of the document, for errors and for the heading of the code.
        public var documentName: String
        /// The referenced documents by their addresses.
        public var references: [String: Data]
        /// The configuration; `nil` for the default.
        public var configuration: Data?
        /// The name of the configuration.
        public var configurationName: String
        /// The beginning of the names of the generated files.
        public var stem: String

        /// Creates an input.
        public init(
            document: Data, named documentName: String, references: [String: Data] = [:], configuration: Data? = nil,
            named configurationName: String = "", stem: String
        ) {
            self.document = document
            self.documentName = documentName
            self.references = references
            self.configuration = configuration
            self.configurationName = configurationName
            self.stem = stem
        }
    }

    /// The version of the generator's output, which the code's heading contains.
    public static let version = "1"
    /// The maximum number of types that a configuration without an include list generates.
    public static let maximumTypes = 300

    /// The model of the service.
    public let model: ServiceModel
    /// The warnings about the code: first the names that were changed to avoid collisions, in the order of the names, and then the rest.
    public let warnings: [GenerationDiagnostic]
    /// The number of generated files.
    public var fileCount: Int { configuration.files }
    /// The names of files that a configuration with a larger `files` would generate.
    var furtherNames: [String] {
        (configuration.files..<max(configuration.files, GenerationConfiguration.maximumFiles)).map { Self.fileName(stem, $0) }
    }

    let selection: TypeSelection
    private let configuration: GenerationConfiguration
    private let types: SwiftTypes
    private let projections: ProjectionPrinter
    private let client: ClientPrinter
    private let stem: String
    private let heading: String

    /// Reads the document and the configuration, and plans the code.
    ///
    /// - Throws: ``GenerationError`` with all faults of the configuration, or the fault of the document.
    public init(_ input: Input) throws(GenerationError) {
        var configuration = GenerationConfiguration()
        if let data = input.configuration {
            configuration = try GenerationConfiguration(json: data, file: input.configurationName)
        }
        let model: ServiceModel
        do {
            model = try ServiceModel(data: input.document, references: input.references)
        } catch {
            let fault = error as? ServiceModelError
            throw GenerationError([
                GenerationDiagnostic(
                    .error, file: input.documentName, line: fault?.line ?? 1, column: fault?.column ?? 1, fault?.message ?? "\(error)")
            ])
        }
        let hasConfiguration = input.configuration != nil
        let positions = TextPositions(
            file: hasConfiguration ? input.configurationName : input.documentName, input.configuration ?? Data())
        // Paths differ from machine to machine.
        let base = { (path: String) in path.split(separator: "/").last.map(String.init) ?? path }
        var sources = "\(base(input.documentName)) (\(StableHash(input.document).text)"
        for (address, data) in input.references.sorted(by: { $0.key < $1.key }) {
            sources += ", \(StableHash(address).short): \(StableHash(data).text)"
        }
        sources += ")"
        if let data = input.configuration { sources += " and \(base(input.configurationName)) (\(StableHash(data).text))" }
        try self.init(model, configuration, stem: input.stem, sources: sources, positions)
    }

    /// Plans the code of a model.
    init(
        _ model: ServiceModel, _ configuration: GenerationConfiguration, stem: String, sources: String, _ positions: TextPositions
    ) throws(GenerationError) {
        let count = model.schemas.reduce(0) { $0 + $1.entityTypes.count + $1.complexTypes.count }
        if configuration.include == nil, count > Self.maximumTypes {
            throw GenerationError([positions.error(Self.advice(model, count))])
        }
        let service = configuration.service ?? SwiftNames.typeName(stem)
        if let reason = SwiftNames.refusal(ofService: service) {
            throw GenerationError([positions.error("the service can't be called '\(service)', \(reason); set 'service'", at: service)])
        }
        let names = NameTable(
            model, service: service, overrides: configuration.names, projections: configuration.projections.map(\.name))
        let selection = TypeSelection(model, configuration, tree: names.tree)
        let types = SwiftTypes(model: model, selection: selection, names: names)
        projections = ProjectionPrinter(configuration.projections, types)
        client = ClientPrinter(types, overrides: configuration.names)
        let faults =
            selection.faults + projections.faults + Self.unknown(configuration.names, names, model) + names.faults + client.faults
        guard faults.isEmpty else { throw GenerationError(faults.map { positions.error($0.message, at: $0.name) }) }

        // The names of types that aren't included don't appear in the code.
        let met = names.met.filter { wire, _ in
            let type = wire.prefix { $0 != "/" }
            return selection.contains(String(type)) || names.namespaces[String(type)] != nil
        }
        let renamed =
            (met + client.met).map { ($0, $1, "; 'names' can give it a better one") }
            + projections.met.map { ($0, $1, " of the projection") }
        var warnings = renamed.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map { wire, name, advice in
            positions.diagnostic(.warning, "'\(wire)' is '\(name)' in Swift, since its name collides with another one\(advice)")
        }
        // Several imports can name one operation.
        for target in Set(client.repeated).sorted() {
            warnings.append(
                positions.diagnostic(.warning, "the document declares '\(target)' more than once; the client has one method for it"))
        }
        let chosen = selection.structuredTypes.count
        if chosen > Self.maximumTypes, configuration.files == 1 {
            warnings.append(
                positions.diagnostic(.warning, "\(chosen) types are included; \"files\": 16 makes the compiler use less time and memory"))
        }
        if model.version == .v3 {
            warnings.append(
                positions.diagnostic(
                    .warning,
                    "the document is of version 3, which the client doesn't support; it uses version 2, which services often accept"))
        }
        self.model = model
        self.configuration = configuration
        self.selection = selection
        self.types = types
        self.stem = stem
        self.warnings = warnings
        heading = "Generated by odata-generator \(Self.version) from \(sources). Change these and generate again instead of editing."
    }

    /// Returns the files, in the same order each time.
    public func files() -> [GeneratedFile] {
        let chosen = selection.structuredTypes.union(selection.enumerations)
        var parts = Array(repeating: [String](), count: configuration.files)
        // A hash of the name assigns types to files, so that a new type changes only one file.
        for name in chosen { parts[Int(StableHash(name).value % UInt64(parts.count))].append(name) }
        let printer = ModelPrinter(types)
        return parts.enumerated().map { index, names in
            var text = SourceText(access: configuration.access)
            text.line("// swift-format-ignore-file")
            if index == 0, client.needsFoundation { text.line("\(imports) Foundation") }
            text.line("\(imports) OData")
            if index == 0, client.needsWebServiceClient { text.line("\(imports) WebServiceClient") }
            text.space()
            if index == 0 { printer.printService(to: &text) }
            printer.print(names, to: &text)
            if index == 0 {
                projections.print(to: &text)
                client.print(to: &text)
            }
            return GeneratedFile(name: Self.fileName(stem, index), heading: heading, code: text.text)
        }
    }

    /// Returns the name of a generated file. Build tools must know the name before the generator runs.
    public static func fileName(_ stem: String, _ index: Int) -> String {
        index == 0 ? "\(stem).odata.swift" : "\(stem).odata.\(index + 1).swift"
    }

    private var imports: String { configuration.access == .internal ? "import" : configuration.access.rawValue + " import" }

    private static func unknown(
        _ overrides: [String: String], _ names: NameTable, _ model: ServiceModel
    ) -> [(message: String, name: String)] {
        let operations = (model.schemas + model.includedSchemas).flatMap(\.operations)
        let resources = model.entitySets.map(\.target) + model.singletons.map(\.target) + model.operationImports.map(\.target)
        let known = names.used.union(operations.map(\.qualifiedName)).union(resources)
        let unknown = overrides.keys.filter { !known.contains($0) }.sorted()
        guard !unknown.isEmpty else { return [] }
        let structured = (model.schemas + model.includedSchemas).flatMap { $0.entityTypes + $0.complexTypes }
        let enumerations = (model.schemas + model.includedSchemas).flatMap(\.enumTypes)
        let candidates =
            structured.map(\.qualifiedName) + enumerations.map(\.qualifiedName)
            + structured.flatMap { $0.properties.map(\.target) + $0.navigationProperties.map(\.target) }
            + enumerations.flatMap { $0.members.map(\.target) } + operations.map(\.qualifiedName) + resources
        return unknown.map { name in
            ("'names' has '\(name)', and the document has no such name" + NearestNames.hint(name, among: candidates), name)
        }
    }

    private static func advice(_ model: ServiceModel, _ count: Int) -> String {
        let sets = model.entitySets.map(\.name).sorted().prefix(2).joined(separator: ",")
        let example = sets.isEmpty ? "\"include\": [\"Ns.Type\"]" : "\"include\": [{\"sets\": \"\(sets)\"}]"
        return
            "the document has \(count) types, more than the \(maximumTypes) that are generated without an include list; "
            + "list those you need, for example \(example), or \"include\": [\"*\"], \"files\": 16 for all; "
            + "the command 'list' prints the types of each set"
    }
}

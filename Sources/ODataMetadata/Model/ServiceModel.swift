/// The model of a service: its types, operations, entity container and annotations, as described by a metadata document (CSDL 4.01).
///
/// Read one from CSDL XML 2.0 to 4.01 or CSDL JSON 4.01 with `init(data:references:limits:)`. All names of types, terms and operations are
/// qualified names with a namespace: aliases are resolved while the document is read.
///
/// Look-ups, such as ``structuredType(_:)`` and ``properties(of:)``, use an index that is built once, with the model.
///
/// Two models are equal if they describe the same service. Positions in the document and ``diagnostics`` aren't compared.
public struct ServiceModel: Sendable {
    /// The version of OData of a metadata document.
    public enum Version: String, Sendable, Hashable, CaseIterable, Comparable {
        /// OData 1.0 and 2.0: CSDL 1.0 to 2.0.
        case v2 = "2.0"
        /// OData 3.0: CSDL 3.0.
        case v3 = "3.0"
        /// OData 4.0: CSDL 4.0.
        case v4 = "4.0"
        /// OData 4.01: CSDL XML 4.01 and CSDL JSON 4.01.
        case v401 = "4.01"

        /// Returns whether the left version is older.
        public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
    }

    /// The version of the document.
    public let version: Version
    /// The schemas of the document, in its order.
    public let schemas: [Schema]
    /// The documents that this one refers to (section 4).
    public let references: [Reference]
    /// The schemas that the document includes from referenced documents, if the reader got these.
    public let includedSchemas: [Schema]
    /// The qualified name of the container of the service, or `nil` if the document has none.
    public let containerName: String?
    /// Further attributes of the document's root, such as `m:MaxDataServiceVersion`.
    public let extensions: Extensions
    /// The faults and assumptions of the reader, in the order of the document.
    public let diagnostics: [ModelDiagnostic]

    let index: ModelIndex

    /// Creates a model.
    ///
    /// - Parameters:
    ///   - version: The version of OData.
    ///   - schemas: The schemas of the service.
    ///   - references: The documents that the model refers to.
    ///   - includedSchemas: The schemas of these documents.
    ///   - containerName: The qualified name of the service's container; by default the last one in `schemas` that is marked as the
    ///     default, or else the first one that no other container extends.
    ///   - extensions: Further attributes of the document's root.
    ///   - diagnostics: The diagnostics of a reader.
    public init(
        version: Version = .v401, schemas: [Schema], references: [Reference] = [], includedSchemas: [Schema] = [],
        containerName: String? = nil, extensions: Extensions = Extensions(), diagnostics: [ModelDiagnostic] = []
    ) {
        self.version = version
        self.schemas = schemas
        self.references = references
        self.includedSchemas = includedSchemas
        self.extensions = extensions
        self.diagnostics = diagnostics
        let containers = schemas.flatMap(\.containers)
        let bases = Set(containers.compactMap(\.extends))
        let container =
            containers.last(where: \.isDefault) ?? containers.first { !bases.contains($0.qualifiedName) } ?? containers.first
        self.containerName = containerName ?? container?.qualifiedName
        index = ModelIndex(
            schemas: schemas, includedSchemas: includedSchemas, references: references, containerName: self.containerName)
    }

    /// Creates the same model with diagnostics.
    init(_ model: ServiceModel, diagnostics: [ModelDiagnostic]) {
        version = model.version
        schemas = model.schemas
        references = model.references
        includedSchemas = model.includedSchemas
        containerName = model.containerName
        extensions = model.extensions
        index = model.index
        self.diagnostics = diagnostics
    }
}

extension ServiceModel: Hashable {
    /// Returns whether two models describe the same service.
    public static func == (left: ServiceModel, right: ServiceModel) -> Bool {
        left.version == right.version && left.containerName == right.containerName && left.references == right.references
            && left.extensions == right.extensions && left.schemas == right.schemas && left.includedSchemas == right.includedSchemas
    }

    /// Hashes the version and the names of the types.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(containerName)
        for schema in schemas {
            hasher.combine(schema.namespace)
            for type in schema.entityTypes { hasher.combine(type.name) }
            for type in schema.complexTypes { hasher.combine(type.name) }
        }
    }
}

extension ServiceModel {
    /// A part of a model that annotations can be applied to (section 14).
    public protocol Element: Sendable {
        /// The annotations inside the element. ``ServiceModel/annotations(of:)`` also returns those that `Annotations` apply to it.
        var annotations: [Annotation] { get }
        /// The path of the element as the target of annotations (section 14.2.1): `Sales.Order/Items`.
        var target: String { get }
        /// Attributes and elements of other namespaces, such as `sap:label`.
        var extensions: Extensions { get }
        /// The position of the element in its document, or `nil` if the model wasn't read.
        var position: Position? { get }
    }

    /// A position in a document.
    public struct Position: Sendable, Hashable {
        /// The line, from 1.
        public let line: Int
        /// The column, from 1.
        public let column: Int

        /// Creates a position.
        public init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }
    }
}

/// The place of an element in its document. All places are equal, so that the equality of models ignores them.
struct Place: Sendable, Hashable {
    static let unknown = Place(line: 0, column: 0)

    let line: Int32
    let column: Int32

    init(line: Int, column: Int) {
        self.line = Int32(clamping: line)
        self.column = Int32(clamping: column)
    }

    var position: ServiceModel.Position? { line > 0 ? ServiceModel.Position(line: Int(line), column: Int(column)) : nil }

    static func == (left: Place, right: Place) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

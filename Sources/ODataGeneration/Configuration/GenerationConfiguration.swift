/// The configuration of the generated code for a service: a JSON file in the folder of its metadata document.
///
///     {
///         "service": "Graph",
///         "document": "graph.csdl.xml",
///         "include": ["microsoft.graph.user", { "type": "microsoft.graph.message", "relations": ["attachments"] }, { "sets": "groups" }],
///         "names": { "microsoft.graph.security.alert": "SecurityAlert" },
///         "projections": { "UserCard": { "of": "microsoft.graph.user", "properties": ["id", { "manager": ["id"] }] } }
///     }
///
/// Every member is optional. Names are the document's names: qualified names, without aliases.
public struct GenerationConfiguration: Sendable, Hashable {
    /// The access level of the generated declarations.
    public enum Access: String, Sendable, Hashable, CaseIterable {
        /// Visible in the module. Unused code of a release build is removed.
        case `internal`
        /// Visible in the package.
        case package
        /// Visible everywhere.
        case `public`
    }

    /// How many relations are followed from an included type.
    public enum Relations: Sendable, Hashable {
        /// A number of relations in a row: 0 by default.
        case steps(Int)
        /// All relations.
        case all
        /// The relations of the type with these names.
        case named([String])
    }

    /// The derived types that are included with a type.
    public enum DerivedTypes: Sendable, Hashable {
        /// None, the default.
        case none
        /// All derived types.
        case all
        /// The derived types with these qualified names.
        case named([String])
    }

    /// Types to include, with related and derived types.
    public struct TypeInclusion: Sendable, Hashable {
        /// The qualified name of a type, or a pattern with `*` for any characters: `microsoft.graph.security.*`.
        public var type: String
        /// The names of the properties and relations to generate, in addition to the key; `nil` for all.
        public var properties: [String]?
        /// The relations whose targets are included too.
        public var relations: Relations
        /// The derived types that are included too.
        public var derived: DerivedTypes

        /// Creates an inclusion.
        public init(_ type: String, properties: [String]? = nil, relations: Relations = .steps(0), derived: DerivedTypes = .none) {
            self.type = type
            self.properties = properties
            self.relations = relations
            self.derived = derived
        }
    }

    /// An entry of the include list.
    public enum Inclusion: Sendable, Hashable {
        /// Types.
        case types(TypeInclusion)
        /// The types of entity sets and singletons, by their names.
        case sets([String])
        /// The parameter and return types of operations, by their qualified names.
        case operations([String])
    }

    /// A property of a projection.
    public struct ProjectedProperty: Sendable, Hashable {
        /// The name of the property or navigation property.
        public var name: String
        /// The properties of its value; `nil` to use the model's type for the value.
        public var properties: [ProjectedProperty]?

        /// Creates a property.
        public init(_ name: String, properties: [ProjectedProperty]? = nil) {
            self.name = name
            self.properties = properties
        }
    }

    /// A plain structure with some properties of a type.
    public struct Projection: Sendable, Hashable {
        /// The name in Swift.
        public var name: String
        /// The qualified name of the type.
        public var type: String
        /// The properties.
        public var properties: [ProjectedProperty]

        /// Creates a projection.
        public init(_ name: String, of type: String, properties: [ProjectedProperty]) {
            self.name = name
            self.type = type
            self.properties = properties
        }
    }

    /// The name of the outermost enumeration of the code, and the beginning of the client's name. By default, made from the file's name.
    public var service: String?
    /// The name of the metadata document in the same folder. By default, the configuration's name with `.csdl.xml` or `.csdl.json`.
    public var document: String?
    /// The files of referenced documents, by their addresses in the document.
    public var references: [String: String] = [:]
    /// The access level.
    public var access = Access.internal
    /// The maximum number of files of generated code.
    public static let maximumFiles = 64
    /// The number of files of generated code, 1 to ``maximumFiles``. For a large model, the compiler uses less memory with several files.
    public var files = 1
    /// The types to include; `nil` for all, up to ``CodeGenerator/maximumTypes``.
    public var include: [Inclusion]?
    /// Qualified names and patterns of types that aren't included even if an included type has properties of them.
    public var exclude: [String] = []
    /// Names in Swift by names of the model: `Ns.Type`, `Ns.Type/property`, `Ns.operation`, `Ns.Container/Set`, or a namespace.
    public var names: [String: String] = [:]
    /// The plain structures.
    public var projections: [Projection] = []

    /// Creates a configuration that includes everything.
    public init() {}
}

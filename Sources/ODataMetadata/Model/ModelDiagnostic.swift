/// A fault that the reader of metadata found in a document, and the reader's assumption about it.
public struct ModelDiagnostic: Sendable, Hashable {
    /// The kind of a fault.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A name isn't an identifier of OData.
        case invalidName
        /// A part that the format requires is missing.
        case missing
        /// A facet or another attribute has an invalid value.
        case invalidValue
        /// A type isn't in the model.
        case unknownType
        /// A base type isn't in the model, or of another kind.
        case unknownBase
        /// A type is its own ancestor.
        case inheritanceCycle
        /// Two elements have the same name.
        case duplicate
        /// Two schemas have the same namespace or alias.
        case duplicateSchema
        /// A prefix of a qualified name is neither a namespace nor an alias.
        case unknownNamespace
        /// The partner of a navigation property isn't in the model.
        case unknownPartner
        /// An association or one of its roles isn't in the model.
        case unknownAssociation
        /// The path or the target of a binding isn't in the model.
        case unknownBinding
        /// The target of annotations isn't in the model.
        case unknownTarget
        /// An operation, entity set or container isn't in the model.
        case unknownResource
        /// A property of a key isn't in the type.
        case unknownKeyProperty
        /// A concrete entity type that is in use has no key.
        case missingKey
        /// An enumeration type has no members.
        case emptyEnumeration
        /// A type has the name of a namespace.
        case nameOfNamespace
        /// An element or attribute isn't part of CSDL.
        case unknownElement
        /// An element is where CSDL doesn't allow it.
        case misplacedElement
        /// The version of the document isn't known, or contradicts its namespaces.
        case unknownVersion
        /// A prefix isn't declared.
        case undeclaredPrefix
        /// A referenced document wasn't given, or can't be read.
        case unreadReference
    }

    /// How serious a fault is.
    public enum Severity: String, Sendable, Hashable {
        /// Unusual, but allowed, or without effect: the model is the same as the document.
        case noted
        /// The document breaks the rules; the model contains ``ModelDiagnostic/assumption`` instead.
        case repaired
    }

    /// The kind.
    public let kind: Kind
    /// How serious the fault is.
    public let severity: Severity
    /// The fault, in a sentence.
    public let message: String
    /// The content of the model in place of the fault, in a sentence.
    public let assumption: String
    /// The line, from 1; 0 if it isn't known.
    public let line: Int
    /// The column, from 1; 0 if it isn't known.
    public let column: Int
    /// The path of the element in the model: `Sales.Order/Items`. Very long names in it are shortened.
    public let path: String

    /// Creates a diagnostic.
    public init(kind: Kind, severity: Severity, message: String, assumption: String, line: Int, column: Int, path: String) {
        self.kind = kind
        self.severity = severity
        self.message = message
        self.assumption = assumption
        self.line = line
        self.column = column
        self.path = path
    }
}

extension ModelDiagnostic: CustomStringConvertible {
    /// `12:5: Sales.Order/Total: the type 'Sales.Money' isn't in the model; it is read as Edm.Untyped.`
    public var description: String { "\(line):\(column): \(path): \(message); \(assumption)." }
}

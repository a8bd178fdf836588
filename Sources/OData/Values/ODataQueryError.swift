public import WebServiceClient

/// The reason why a query can't be written as a URL, with the offending part and a fix.
public enum ODataQueryError: DescribedError, Sendable, Hashable {
    /// The wire name of a Swift property isn't known; the values are the property, its type and the reason.
    case unknownProperty(String, type: String, reason: String)
    /// A name isn't an OData identifier (JSON, URL and CSDL names: letters, digits and `_`, no digit first).
    case invalidName(String, role: String)
    /// The path of a resource can't be part of a URL.
    case invalidPath(String, reason: String)
    /// The variable of an `any` or `all` is used outside of its closure.
    case variableOutOfScope
    /// A value can't be written as a literal.
    case unsupportedLiteral(String, reason: String)
    /// An operator requires a later version of the protocol than the printer's.
    case unsupported(String, version: ODataVersion)
    /// A `$search` can't be expressed.
    case invalidSearch(String, reason: String)
    /// An option is missing something, contradicts another one, or is out of its range.
    case invalidOption(String, reason: String)
    /// Expressions nest more deeply than the printer allows.
    case tooDeep(limit: Int)

    /// A readable description.
    public var description: String {
        switch self {
        case .unknownProperty(let property, let type, let reason):
            "The OData name of \(property) isn't known: \(reason). Let \(type) conform to PropertyNaming and list it in propertyNames, "
                + "or use the property's name as a string."
        case .invalidName(let name, let role):
            "'\(name)' can't be \(role): OData names are made of letters, digits and '_' and don't begin with a digit."
        case .invalidPath(let path, let reason):
            "'\(path)' can't be the path of a resource: \(reason)."
        case .variableOutOfScope:
            "A query uses the element of an any or all outside of its closure: move the condition into the closure."
        case .unsupportedLiteral(let value, let reason):
            "\(value) can't be written as an OData literal: \(reason)."
        case .unsupported(let what, let version):
            "OData \(version.rawValue) has no '\(what)': \(Self.remedy(for: what))."
        case .invalidSearch(let text, let reason):
            "The search text '\(text)' can't be sent: \(reason)."
        case .invalidOption(let option, let reason):
            "The query option \(option) can't be sent: \(reason)."
        case .tooDeep(let limit):
            "A query nests its parts more than \(limit) deep: split it, or use isIn(_:) for long lists of values."
        }
    }

    /// Returns a fix for a feature that a version lacks.
    private static func remedy(for what: String) -> String {
        switch what {
        case "divby": "divide a decimal with div, or use version 4.01"
        case "in": "list the values with isIn, which older versions write as a chain of or, or use version 4.01"
        case "any", "all": "query the related entity set instead, or use a service of version 4"
        case "has": "compare with the member by eq, or use a service of version 4"
        case "matchesPattern": "use contains, startswith or endswith, or version 4.01"
        case "replace": "compare with the text before the replacement, or use a service of version 2"
        case "options in $expand": "request the relation separately, or use a service of version 4"
        case "options in $select": "select paths such as Address/City, or use version 4.01"
        case "$this": "use a property of the instance, or version 4.01"
        case "$filter in paths": "use the query option $filter, or version 4.01"
        default: "use a service and a printer of a later version, or rewrite the expression"
        }
    }
}

/// A URI template (RFC 6570, level 4), parsed once and expanded as often as needed.
///
///     let search = try URITemplate("/search{?text,page}{&tags*}")
///     try search.expand(["text": "a&b", "page": "2", "tags": ["x", "y"]])     // /search?text=a%26b&page=2&tags=x&tags=y
///
/// Expansion encodes each value for the operator it stands under: only `{+name}` and `{#name}` let reserved characters and whole
/// `%XX` of a value through, all others keep a value in its place.
public struct URITemplate: Hashable, Sendable, CustomStringConvertible {
    /// The template as it was written.
    public let description: String
    /// The names of the variables in the order they first appear, each once.
    public let variables: [String]

    let parts: [Part]

    /// A run of text between braces, encoded once and for all, or an expression.
    enum Part: Hashable, Sendable {
        case literal([UInt8])
        case expression(Operator, [Variable])
    }

    /// A name in an expression, with what follows it (RFC 6570 section 2.3 and 2.4).
    struct Variable: Hashable, Sendable {
        enum Modifier: Hashable, Sendable {
            case none
            case prefix(Int)
            case explode
        }

        let name: String
        let modifier: Modifier
    }

    /// Whether the expansion may have a fragment: by an expression, or by a `#` between them.
    var hasFragment: Bool {
        parts.contains { part in
            switch part {
            case .literal(let bytes): bytes.contains(UInt8(ascii: "#"))
            case .expression(let kind, _): kind == .fragment
            }
        }
    }

    /// The first name of an expression that leaves a hole in the path: `{name}` and `{+name}` do without a value, while others, such as `{/name}`,
    /// take their separator along; but not before an empty one.
    ///
    /// - Parameters:
    ///   - names: those that have no value, or an empty one.
    ///   - empty: those that have an empty value, or one in a list.
    func blankInPath(_ names: Set<String>, empty: Set<String>) -> String? {
        for part in parts {
            switch part {
            case .literal(let bytes):
                if bytes.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) { return nil }
            case .expression(.simple, let variables), .expression(.reserved, let variables):
                if variables.allSatisfy({ names.contains($0.name) }) { return variables.first?.name }
            case .expression(.path, let variables):
                if let variable = variables.first(where: { empty.contains($0.name) }) { return variable.name }
            case .expression(.query, _), .expression(.fragment, _):
                return nil
            case .expression:
                continue
            }
        }
        return nil
    }

    /// The template of the text.
    ///
    /// - Throws: ``ParseError``, which tells the column, the offending expression and what is expected there. Characters that a URL
    ///   can't hold are no error outside of braces: they are encoded (section 3.1).
    public init(_ text: String) throws(ParseError) {
        var parser = Parser(text)
        parts = try parser.parse()
        description = text
        var names: [String] = []
        var seen: Set<String> = []
        for case .expression(_, let variables) in parts {
            for variable in variables where seen.insert(variable.name).inserted { names.append(variable.name) }
        }
        variables = names
    }
}

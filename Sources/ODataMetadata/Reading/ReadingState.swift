/// The state that the parts of a reader share while they read one document: names, the current path, and diagnostics.
final class ReadingState {
    /// The namespaces by alias that the document has declared so far.
    private(set) var namespaces: [String: String]
    /// The names read so far that begin with neither a known alias nor a namespace of the document.
    private var unresolved: Set<String> = []
    /// The namespaces of the document's schemas, and of those that it includes, that were found so far. An alias can't hide them.
    private(set) var schemas: Set<String>
    private var resolved: [String: String] = [:]
    var version = ServiceModel.Version.v4
    var diagnostics: [ModelDiagnostic] = []
    private var path: [String] = []

    /// The namespaces by alias that the document declares later, according to a search before the first pass.
    private let expected: [String: String]

    /// - Parameters:
    ///   - namespaces: The namespaces by alias that an earlier pass over the document found.
    ///   - expected: The namespaces by alias that a search in the document found.
    ///   - schemas: The namespaces of schemas that an earlier pass over the document found.
    init(namespaces: [String: String] = [:], expected: [String: String] = [:], schemas: Set<String> = []) {
        self.namespaces = namespaces.filter { !schemas.contains($0.key) || $0.key == $0.value }
        self.expected = expected
        self.schemas = schemas
    }

    // MARK: Names

    /// The maximum number of bytes of a name or a namespace, enough for the 511 characters that CSDL allows (section 15.2). Every name in a
    /// model repeats its namespace, so without a limit a model could be far larger than its document.
    private static let nameLimit = 2_048

    /// Returns whether a name or namespace is short enough to be read.
    static func canRead(_ name: String) -> Bool { name.utf8.count <= nameLimit }

    /// Returns a name or path for diagnostics; a long one is shortened.
    static func shown(_ name: String) -> String { canRead(name) ? name : String(name.unicodeScalars.prefix(200)) + "…" }

    /// Returns whether a name or namespace is short enough to be read, and reports it if it isn't.
    func isShort(_ name: String, at place: Place, assuming assumption: String) -> Bool {
        if Self.canRead(name) { return true }
        let start = String(name.unicodeScalars.prefix(40))
        report(.invalidName, "the name '\(start)…' is longer than \(Self.nameLimit) bytes", assuming: assumption, at: place)
        return false
    }

    func begin(schema namespace: String) { schemas.insert(namespace) }

    func declare(alias: String, of namespace: String, at place: Place) {
        if alias == "Edm", namespace != "Edm" {
            // Otherwise no primitive type would have its meaning.
            report(.invalidName, "the alias 'Edm' is the namespace of the primitive types", assuming: "it is ignored", at: place)
            return
        }
        if alias != namespace, schemas.contains(alias) {
            report(
                .duplicateSchema, "the alias '\(alias)' of '\(namespace)' is the namespace of another schema", assuming: "it is ignored",
                at: place)
        } else if let other = namespaces[alias], other != namespace {
            report(
                .duplicateSchema, "the alias '\(alias)' is declared for two namespaces", assuming: "it means '\(other)'", at: place)
        } else {
            namespaces[alias] = namespace
            if expected[alias] != namespace { resolved.removeAll() }
        }
    }

    /// Whether a name was read before its alias was declared, its alias is never declared, or its alias is the namespace of a later schema.
    var hasLateAliases: Bool {
        unresolved.contains { namespaces[$0] != nil } || expected.contains { namespaces[$0.key] != $0.value }
            || namespaces.contains { $0.key != $0.value && schemas.contains($0.key) }
    }

    /// Returns the qualified name with its namespace. Equal names share one string.
    func name(_ raw: String) -> String {
        if let name = resolved[raw] { return name }
        let trimmed = Self.trimmed(raw)
        var name = trimmed
        if let dot = trimmed.utf8.lastIndex(of: UInt8(ascii: ".")) {
            let prefix = String(trimmed[..<dot])
            if let namespace = namespaces[prefix] ?? expected[prefix] {
                name = namespace.isEmpty ? String(trimmed[trimmed.index(after: dot)...]) : namespace + trimmed[dot...]
            } else {
                unresolved.insert(prefix)
            }
        }
        resolved[raw] = name
        return name
    }

    /// Returns a path with qualified names in its segments: names of types, and of terms after `@`.
    func path(_ raw: String) -> String {
        let trimmed = Self.trimmed(raw)
        guard trimmed.utf8.contains(UInt8(ascii: ".")) else { return trimmed }
        if !trimmed.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "(") }) {
            return name(trimmed)
        }
        // A key predicate can contain any character, so a path is resolved only up to a key predicate.
        let bytes = trimmed.utf8
        let end = bytes.firstIndex { $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: "'") } ?? bytes.endIndex
        var result = ""
        var start = bytes.startIndex
        while true {
            let slash = bytes[start..<end].firstIndex(of: UInt8(ascii: "/")) ?? end
            result += segment(trimmed[start..<slash])
            guard slash < end else { break }
            result += "/"
            start = bytes.index(after: slash)
        }
        result += trimmed[end...]
        return result
    }

    /// Returns a segment of a path with the qualified name of its type, or of its term after `@`.
    private func segment(_ segment: Substring) -> Substring {
        guard segment.utf8.contains(UInt8(ascii: ".")) else { return segment }
        guard let at = segment.utf8.firstIndex(of: UInt8(ascii: "@")) else { return name(String(segment))[...] }
        let start = segment.utf8.index(after: at)
        let end = segment.utf8[start...].firstIndex(of: UInt8(ascii: "#")) ?? segment.endIndex
        return segment[..<start] + name(String(segment[start..<end])) + segment[end...]
    }

    /// Returns the target of annotations with qualified names, including those of the parameters in `Sales.Find(self.A,Edm.Int32)/x`.
    func target(_ raw: String) -> String {
        let trimmed = Self.trimmed(raw)
        guard let open = trimmed.utf8.firstIndex(of: UInt8(ascii: "(")), let close = trimmed.utf8.lastIndex(of: UInt8(ascii: ")")),
            open < close
        else { return path(trimmed) }
        let parameters = trimmed[trimmed.utf8.index(after: open)..<close].utf8
            .split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { part in
                let type = Self.trimmed(String(Substring(part)))
                guard type.hasPrefix("Collection("), type.hasSuffix(")") else { return name(type) }
                return "Collection(" + name(String(type.dropFirst(11).dropLast())) + ")"
            }
        return path(String(trimmed[..<open])) + "(" + parameters.joined(separator: ",") + path(String(trimmed[close...]))
    }

    static func trimmed(_ text: String) -> String {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        guard let first = text.utf8.first, let last = text.utf8.last, isBlank(first) || isBlank(last) else { return text }
        let head = text.utf8.drop(while: isBlank)
        guard let end = head.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(head[...end]) ?? text
    }

    // MARK: Diagnostics

    /// Runs a step within an element of the model, whose path then is part of diagnostics. Long names in it are shortened, because
    /// diagnostics repeat the path.
    func within<Result>(_ name: String, _ step: () -> Result) -> Result {
        path.append(Self.shown(name))
        defer { path.removeLast() }
        return step()
    }

    func report(
        _ kind: ModelDiagnostic.Kind, _ message: String, assuming assumption: String, at place: Place,
        severity: ModelDiagnostic.Severity = .repaired
    ) {
        report(kind, message, assuming: assumption, at: place, path: path.joined(separator: "/"), severity: severity)
    }

    func report(
        _ kind: ModelDiagnostic.Kind, _ message: String, assuming assumption: String, at place: Place, path: String,
        severity: ModelDiagnostic.Severity = .repaired
    ) {
        diagnostics.append(
            ModelDiagnostic(
                kind: kind, severity: severity, message: message, assumption: assumption, line: Int(place.line), column: Int(place.column),
                path: path))
    }
}

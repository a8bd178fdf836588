/// Follows paths of properties and casts in a model whose types are right.
struct ModelPaths {
    let model: ServiceModel
    /// Namespaces that the document includes, but whose schemas weren't given.
    let externalNamespaces: NamespaceNames

    /// Where a path leads.
    enum End {
        /// A property of a primitive or unknown type, or nothing that the path can go on from.
        case value
        case type(String)
        /// The path leaves the model.
        case external
        /// The path isn't right.
        case nowhere
    }

    func isExternal(_ name: some StringProtocol) -> Bool {
        guard !externalNamespaces.isEmpty else { return false }
        let name = Substring(name)
        return name.utf8.lastIndex(of: UInt8(ascii: ".")).map { externalNamespaces.contains(name[..<$0]) } ?? false
    }

    func hasExternalBase(_ type: ServiceModel.StructuredType) -> Bool {
        externalNamespaces.isEmpty ? false : model.rootType(of: type).baseType.map { isExternal($0) } ?? false
    }

    func leadsNowhere(_ path: some StringProtocol, from start: String) -> Bool {
        if case .nowhere = follow(Substring(path), from: start) { true } else { false }
    }

    /// Follows a path from a type.
    private func follow(_ path: Substring, from start: String) -> End {
        var current = End.type(start)
        for part in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let segment = Substring(part)
            guard case .type(let type) = current else { return current }
            if isExternal(type) { return .external }
            let name = String(segment)
            if let mark = part.first, mark == UInt8(ascii: "@") || mark == UInt8(ascii: "$") { return .value }
            if let property = model.property(name, of: type) {
                current =
                    model.structuredType(property.type.name) != nil || isExternal(property.type.name) ? .type(property.type.name) : .value
            } else if let relation = model.navigationProperty(name, of: type) {
                current = .type(relation.targetType)
            } else if let cast = model.structuredType(name) {
                current = .type(cast.qualifiedName)
            } else if isExternal(segment) {
                return .external
            } else {
                guard let structured = model.structuredType(type) else { return .external }
                return model.isOpen(structured) || hasExternalBase(structured) ? .value : .nowhere
            }
        }
        return current
    }
}

/// Namespaces, and the question whether a name begins with one of them.
struct NamespaceNames {
    private let names: Set<String>
    /// The lengths of the names in UTF-8, in ascending order. Names are compared only where they can be equal.
    private let lengths: [Int]

    init(_ names: some Sequence<String>) {
        self.names = Set(names)
        lengths = Set(self.names.map(\.utf8.count)).sorted()
    }

    var isEmpty: Bool { names.isEmpty }

    func contains(_ name: Substring) -> Bool {
        // Types of other documents can have names of any length.
        lengths.last.map { name.utf8.count <= $0 } ?? false && names.contains(String(name))
    }

    /// The namespaces that a name begins with, followed by a dot, the longest first.
    func prefixes(of name: String) -> some Sequence<String> {
        let bytes = name.utf8
        return lengths.prefix { $0 < bytes.count }.reversed().lazy.compactMap { length -> String? in
            let end = bytes.index(bytes.startIndex, offsetBy: length)
            guard bytes[end] == UInt8(ascii: ".") else { return nil }
            let prefix = String(name[..<end])
            return names.contains(prefix) ? prefix : nil
        }
    }

    /// Whether a name begins with one of the namespaces and a dot.
    func hasPrefix(of name: String) -> Bool { prefixes(of: name).contains { _ in true } }
}

/// Follows paths of properties and casts in a model with repaired types.
struct ModelPaths {
    let model: ServiceModel
    /// Namespaces that the document includes, but whose schemas weren't given.
    let externalNamespaces: NamespaceNames

    /// The end of a path.
    enum End {
        /// A property of a primitive or unknown type, or another end that the path can't continue from.
        case value
        case type(String)
        /// The path leads outside of the model.
        case external
        /// The path is invalid.
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

/// A set of namespaces that finds those at the beginning of a name.
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

    /// Returns the namespaces that begin a name and are followed by a dot, the longest first.
    func prefixes(of name: String) -> some Sequence<String> {
        let bytes = name.utf8
        return lengths.prefix { $0 < bytes.count }.reversed().lazy.compactMap { length -> String? in
            let end = bytes.index(bytes.startIndex, offsetBy: length)
            guard bytes[end] == UInt8(ascii: ".") else { return nil }
            let prefix = String(name[..<end])
            return names.contains(prefix) ? prefix : nil
        }
    }

    /// Returns whether a name begins with one of the namespaces and a dot.
    func hasPrefix(of name: String) -> Bool { prefixes(of: name).contains { _ in true } }
}

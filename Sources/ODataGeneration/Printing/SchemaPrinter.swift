import ODataMetadata

/// Prints the table of types as the text that `ItemSchema` reads.
///
/// One string costs the compiler a small fraction of a literal of dictionaries.
struct SchemaPrinter {
    private let types: SwiftTypes
    private var model: ServiceModel { types.model }
    private var selection: TypeSelection { types.selection }

    init(_ types: SwiftTypes) {
        self.types = types
    }

    /// Returns the lines in the order of the qualified names.
    func lines() -> [String] {
        var lines: [String] = []
        for name in selection.structuredTypes.sorted() {
            guard let type = model.structuredType(name) else { continue }
            lines += self.lines(type)
        }
        lines += derivedLines()
        for name in selection.enumerations.sorted() {
            guard let type = model.enumType(name) else { continue }
            lines.append((type.isFlags ? "flags " : "enum ") + encoded(name))
            var seen: Set<String> = []
            let members = type.members.filter { seen.insert($0.name).inserted }
            for member in members.sorted(by: { ($0.value, $0.name) < ($1.value, $1.name) }) {
                lines.append(" \(encoded(member.name)) \(member.value)")
            }
        }
        return lines
    }

    private func lines(_ type: ServiceModel.StructuredType) -> [String] {
        var head = (type.kind == .entity ? "type " : "complex ") + encoded(type.qualifiedName)
        if let base = types.names.tree.base(of: type.qualifiedName) { head += " : " + encoded(base) }
        if type.isAbstract { head += " abstract" }
        if type.isOpen { head += " open" }
        // All parts of the key are written in the line of the type, because its bases can declare some of them, and complex values can
        // contain them.
        if !type.key.isEmpty { head += " key " + type.key.map(encoded).joined(separator: " ") }
        let members = TypeMembers(type, types)
        var lines = [head]
        for property in members.properties {
            let resolved = types.resolved(property.type)
            var text = encoded(resolved.name)
            if resolved.isCollection { text = "[\(text)]" }
            if resolved.isCollection || !resolved.isNullable { text += "!" }
            let words = [text] + members.access(of: property)
            lines.append(" \(encoded(property.name)) " + words.joined(separator: " "))
        }
        for relation in members.relations {
            let target = encoded(relation.targetType)
            lines.append(" \(encoded(relation.name)) > " + (relation.isCollection ? "[\(target)]" : target))
        }
        return lines
    }

    /// Returns lines for the types that aren't included but derived from an included one. With them, an entity of such a type is recognized
    /// as one of its base.
    private func derivedLines() -> [String] {
        var found: [String: String] = [:]
        let tree = types.names.tree
        tree.walk { type in
            let name = type.qualifiedName
            guard !selection.contains(name), let base = tree.base(of: name) else { return }
            if selection.contains(base) || found[base] != nil { found[name] = base }
        }
        return found.sorted { $0.key < $1.key }.map { "derived \(encoded($0.key)) : \(encoded($0.value))" }
    }

    /// Returns a part of a key: `Id`, or `Code=Info/Code` with an alias.
    private func encoded(_ part: ServiceModel.KeyReference) -> String {
        let path = part.path.split(separator: "/").map { encoded(String($0)) }.joined(separator: "/")
        return part.alias.map { encoded($0) + "=" + path } ?? path
    }

    /// Returns a name for the table: characters with a meaning in the table or in a literal are percent-encoded.
    private func encoded(_ name: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            let isPlain =
                scalar.isASCII
                ? scalar.value > 0x20 && scalar.value < 0x7F && !"%\"\\[]!?>:=".unicodeScalars.contains(scalar)
                // A combining mark would combine with the blank before the name.
                : !SwiftNames.isInvisible(scalar) && !scalar.properties.isWhitespace
                    && !(result.isEmpty && scalar.properties.isGraphemeExtend)
            if isPlain {
                result.append(scalar)
            } else {
                for byte in String(scalar).utf8 {
                    let digits = String(byte, radix: 16, uppercase: true)
                    result.append(contentsOf: ("%" + (digits.count < 2 ? "0" : "") + digits).unicodeScalars)
                }
            }
        }
        return String(result)
    }
}

/// The members of a structured type to print: its own included ones, the key first and then by name.
struct TypeMembers {
    let properties: [ServiceModel.Property]
    let relations: [ServiceModel.NavigationProperty]
    private let model: ServiceModel

    init(_ type: ServiceModel.StructuredType, _ types: SwiftTypes) {
        model = types.model
        let name = type.qualifiedName
        let key = type.key.map(\.path)
        var seen: Set<String> = []
        let all = type.properties.filter { types.selection.contains($0.name, of: name) && seen.insert($0.name).inserted }
        let own = all.filter { !key.contains($0.name) }.sorted { $0.name < $1.name }
        // A model made by code can have a property twice in a key.
        var parts: Set<String> = []
        properties = key.filter { parts.insert($0).inserted }.compactMap { part in all.first { $0.name == part } } + own
        relations = type.navigationProperties.filter { types.selection.contains($0.name, of: name) && seen.insert($0.name).inserted }
            .sorted { $0.name < $1.name }
    }

    /// Returns the words of the table for when a property can be set.
    func access(of property: ServiceModel.Property) -> [String] {
        switch model.accessLimit(of: property)?.kind {
        case .computed: ["computed"]
        case .readOnly: ["readonly"]
        case .immutable: ["immutable"]
        case .notCreatable: ["notcreatable"]
        case nil: []
        }
    }
}

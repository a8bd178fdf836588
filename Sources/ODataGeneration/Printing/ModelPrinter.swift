import ODataMetadata

/// Prints the descriptions of types, and the enumerations.
struct ModelPrinter {
    private let types: SwiftTypes
    private let withProtocol: Set<String>
    private var model: ServiceModel { types.model }
    private var names: NameTable { types.names }

    init(_ types: SwiftTypes) {
        self.types = types
        withProtocol = types.typesWithProtocol()
    }

    /// Prints the outermost enumeration, with the table of types.
    func printService(to text: inout SourceText) {
        let access = text.access
        let service = names.service
        let hasModels = !types.selection.structuredTypes.isEmpty
        let hasTags = !types.selection.enumerations.isEmpty
        text.block("\(access)enum \(service)") { text in
            let lines = SchemaPrinter(types).lines()
            if lines.isEmpty {
                text.line("\(access)static let schema = OData.ItemSchema(\"\")")
            } else {
                text.line("\(access)static let schema = OData.ItemSchema(")
                for line in ["\"\"\""] + lines { text.line("    " + line) }
                text.line("    \"\"\")")
            }
            text.space()
            if hasModels { text.line("\(access)protocol SchemaModel: OData.ItemModel {}") }
            if hasTags { text.line("\(access)protocol SchemaTag: OData.OpenMemberTag {}") }
            let inner = Set((types.selection.structuredTypes.union(types.selection.enumerations)).map { names.scope(of: $0) })
            for scope in inner.sorted() where scope != service {
                text.line("\(access)enum \(SwiftNames.declared(String(scope.dropFirst(service.count + 1)))) {}")
            }
        }
        for (name, isUsed) in [("SchemaModel", hasModels), ("SchemaTag", hasTags)] where isUsed {
            text.space()
            text.block("extension \(service).\(name)") { text in
                text.line("\(access)static var schema: OData.ItemSchema { \(service).schema }")
            }
        }
    }

    /// Prints types and enumerations in the order of their qualified names.
    func print(_ chosen: [String], to text: inout SourceText) {
        let chosen = chosen.sorted()
        let scopes = Set(chosen.map { names.scope(of: $0) }).sorted()
        for scope in scopes {
            text.space()
            text.block("extension \(scope)") { text in
                for name in chosen where names.scope(of: name) == scope {
                    text.space()
                    if let type = model.structuredType(name) { printModel(type, to: &text) }
                    if let type = model.enumType(name) { printTag(type, to: &text) }
                }
            }
        }
        for name in chosen {
            if let type = model.structuredType(name) {
                printShared(type, to: &text)
                printKeys(type, to: &text)
            }
            if let type = model.enumType(name) { printMembers(type, to: &text) }
        }
    }

    // MARK: Structured types

    private func simple(_ name: String) -> String { names.types[name] ?? SwiftNames.typeName(name) }

    private func printModel(_ type: ServiceModel.StructuredType, to text: inout SourceText) {
        let access = text.access
        let name = type.qualifiedName
        let base = names.tree.base(of: name).map { names.path(of: $0) + "Properties" } ?? names.service + ".SchemaModel"
        let isShared = withProtocol.contains(name)
        if isShared { text.line("\(access)protocol \(simple(name))Properties: \(base) {}") }
        text.block("\(access)struct \(simple(name))Model: \(isShared ? names.path(of: name) + "Properties" : base)") { text in
            text.line("\(access)init() {}")
            text.line("\(access)static var typeName: \(names.swift("String")) { \(SwiftNames.literal(name)) }")
            if !isShared { printMembers(of: type, to: &text) }
        }
        text.notes(ElementNotes(type, in: model), deprecates: false)
        text.line("\(access)typealias \(SwiftNames.declared(simple(name))) = OData.ODataItem<\(names.path(of: name))Model>")
    }

    /// Prints the properties of a type with derived types, for all of them.
    private func printShared(_ type: ServiceModel.StructuredType, to text: inout SourceText) {
        guard withProtocol.contains(type.qualifiedName) else { return }
        let members = TypeMembers(type, types)
        guard !members.properties.isEmpty || !members.relations.isEmpty else { return }
        text.space()
        text.block("extension \(names.path(of: type.qualifiedName))Properties") { printMembers(of: type, to: &$0) }
    }

    private func printMembers(of type: ServiceModel.StructuredType, to text: inout SourceText) {
        let members = TypeMembers(type, types)
        for property in members.properties {
            let isStream = property.type.name == "Edm.Stream" && !property.type.isCollection
            let kind = isStream ? "OData.ItemStream" : "OData.ItemField<\(types.name(of: property.type))>"
            printMember(property, property.name, kind, of: type, to: &text)
        }
        for relation in members.relations {
            let target = types.modelName(relation.targetType)
            printMember(
                relation, relation.name, relation.isCollection ? "OData.ItemMany<\(target)>" : "OData.ItemOne<\(target)>", of: type,
                to: &text)
        }
    }

    private func printMember(
        _ element: some ServiceModel.Element, _ wire: String, _ kind: String, of type: ServiceModel.StructuredType,
        to text: inout SourceText
    ) {
        text.notes(ElementNotes(element, in: model))
        let name = SwiftNames.declared(names.member(wire, of: type.qualifiedName))
        text.line("\(text.access)var \(name): \(kind) { .init(\(SwiftNames.literal(wire))) }")
    }

    // MARK: Keys

    private struct KeyPart {
        let wire: String
        let name: String
        let type: String
    }

    private func printKeys(_ type: ServiceModel.StructuredType, to text: inout SourceText) {
        let access = text.access
        let name = type.qualifiedName
        var functions: [String] = []
        var labels: Set<[String]> = []
        if let parts = parts(type.key, of: type), labels.insert(parts.map(\.name)).inserted {
            functions.append(function("init(", parts, hasLabels: parts.count > 1))
        }
        for key in model.alternateKeys(of: type).sorted(by: {
            $0.map(\.path).joined(separator: ",") < $1.map(\.path).joined(separator: ",")
        }) {
            guard let parts = parts(key, of: type), labels.insert(parts.map(\.name)).inserted else { continue }
            functions.append(function("init(alternate: ", parts, hasLabels: true))
        }
        guard !functions.isEmpty else { return }
        let path = names.path(of: name)
        let condition = withProtocol.contains(name) ? "Model: \(path)Properties" : "Model == \(path)Model"
        text.space()
        text.block("extension OData.ODataItem where \(condition)") { text in
            for function in functions { text.line(access + "static func " + function) }
        }
    }

    private func function(_ start: String, _ parts: [KeyPart], hasLabels: Bool) -> String {
        let parameters = parts.map { (hasLabels ? "" : "_ ") + "\(SwiftNames.declared($0.name)): \($0.type)" }.joined(separator: ", ")
        let values = parts.map { "\(SwiftNames.literal($0.wire)): \(SwiftNames.declared($0.name))" }.joined(separator: ", ")
        return "key(\(parameters)) -> OData.ItemKey<Model> { .\(start)[\(values)]) }"
    }

    /// Returns the properties of a key; `nil` if there is none, or if a property isn't in the model or has no literal.
    private func parts(_ key: [ServiceModel.KeyReference], of type: ServiceModel.StructuredType) -> [KeyPart]? {
        var parts: [KeyPart] = []
        for reference in key {
            var owner = type.qualifiedName
            var steps = reference.path.split(separator: "/").map(String.init)
            guard let last = steps.popLast() else { return nil }
            for step in steps {
                guard let target = model.property(step, of: owner)?.type.name ?? model.navigationProperty(step, of: owner)?.targetType
                else { return nil }
                owner = target
            }
            guard let property = model.property(last, of: owner), types.hasLiteral(property.type) else { return nil }
            let wire = reference.alias ?? reference.path
            let name = reference.alias.map { SwiftNames.memberName($0) } ?? names.member(last, of: owner)
            parts.append(
                KeyPart(wire: wire, name: SwiftNames.unusable.contains(name) ? name + "_" : name, type: types.name(of: property.type)))
        }
        return parts.isEmpty || Set(parts.map(\.name)).count < parts.count ? nil : parts
    }

    // MARK: Enumerations

    private func printTag(_ type: ServiceModel.EnumType, to text: inout SourceText) {
        let access = text.access
        let name = type.qualifiedName
        text.block("\(access)enum \(simple(name))Tag: \(names.service).SchemaTag") { text in
            text.line("\(access)static var typeName: \(names.swift("String")) { \(SwiftNames.literal(name)) }")
        }
        text.notes(ElementNotes(type, in: model), deprecates: false)
        let generic = type.isFlags ? "OpenFlags" : "OpenMember"
        text.line("\(access)typealias \(SwiftNames.declared(simple(name))) = OData.\(generic)<\(names.path(of: name))Tag>")
    }

    private func printMembers(_ type: ServiceModel.EnumType, to text: inout SourceText) {
        guard !type.members.isEmpty else { return }
        let access = text.access
        let generic = type.isFlags ? "OpenFlags" : "OpenMember"
        text.space()
        text.block("extension OData.\(generic) where Tag == \(names.path(of: type.qualifiedName))Tag") { text in
            var seen: Set<String> = []
            for member in type.members.sorted(by: { ($0.value, $0.name) < ($1.value, $1.name) }) where seen.insert(member.name).inserted {
                text.notes(ElementNotes(member, in: model))
                let name = SwiftNames.declared(names.member(member.name, of: type.qualifiedName))
                let value = type.isFlags ? "rawValue: \(member.value)" : SwiftNames.literal(member.name)
                text.line("\(access)static var \(name): Self { .init(\(value)) }")
            }
        }
    }
}

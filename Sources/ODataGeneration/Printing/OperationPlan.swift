import ODataMetadata

/// A method of the client for an overload of an action or a function.
struct OperationPlan: Sendable {
    struct Parameter: Sendable {
        let wire: String
        let name: String
        let type: String
        /// Whether the value can be `nil`.
        let isNullable: Bool
        /// Whether the parameter has the default `nil`, which omits it.
        let isOptional: Bool
    }

    /// The resource that the operation is called on.
    enum Binding: Sendable, Hashable {
        case none
        /// An entity or a complex value, or a collection of these, with the name of their type.
        case items(String, isCollection: Bool, isGeneric: Bool)
        /// Any other resource.
        case path
    }

    /// The kind of the result.
    enum Result: Sendable, Hashable {
        case none
        case value(String)
        /// Entities, which queries can filter.
        case entities(String)
        case entity(String, isNullable: Bool)
    }

    let operation: ServiceModel.Operation
    /// The name of the import, or the qualified name of a bound operation.
    let wire: String
    /// The name of the operation or of its import in `names` of the configuration.
    let key: String
    /// Whether the configuration gives the name.
    let isFixed: Bool
    var name: String
    let binding: Binding
    let parameters: [Parameter]
    let result: Result
    let notes: ElementNotes

    /// The part of the method that must be unique in Swift.
    var signature: String {
        "\(name)(\(binding):" + parameters.map { "\($0.name):\($0.type)\($0.isNullable ? "?" : "")" }.joined(separator: ",") + ")"
    }

    /// The names of the parameters' types, which distinguish overloads with the same signature in Swift.
    var typeNames: String {
        // The type that the operation is bound to is part of the signature, unless it is a primitive type.
        (binding == .path ? operation.parameters[...] : operation.callParameters).map { parameter in
            let name = parameter.type.name.lastIndex(of: ".").map { parameter.type.name[$0...].dropFirst() } ?? parameter.type.name[...]
            return (parameter.type.isCollection ? "_CollectionOf" : "_") + SwiftNames.identifier(String(name))
        }.joined()
    }

    /// Creates a plan; `nil` if the operation is bound to a type that isn't included.
    init?(
        _ operation: ServiceModel.Operation, importedAs imported: ServiceModel.OperationImport?, _ types: SwiftTypes,
        withProtocol: Set<String>, overrides: [String: String]
    ) {
        let model = types.model
        guard let binding = Self.binding(operation, types, withProtocol) else { return nil }
        self.operation = operation
        self.binding = binding
        wire = imported?.name ?? operation.qualifiedName
        key = imported?.target ?? operation.qualifiedName
        isFixed = overrides[key] != nil
        name = overrides[key] ?? SwiftNames.memberName(imported?.name ?? operation.name)
        parameters = Self.parameters(operation, types)
        result = Self.result(operation, types)
        let own = ElementNotes(operation, in: model)
        notes = own.comment.isEmpty ? imported.map { ElementNotes($0, in: model) } ?? own : own
    }

    private static func binding(_ operation: ServiceModel.Operation, _ types: SwiftTypes, _ withProtocol: Set<String>) -> Binding? {
        guard let type = operation.bindingType else { return Binding.none }
        guard let structured = types.model.structuredType(type.name) else { return .path }
        guard types.selection.contains(structured.qualifiedName) else { return nil }
        let name = structured.qualifiedName
        return .items(name, isCollection: type.isCollection, isGeneric: withProtocol.contains(name))
    }

    private static func parameters(_ operation: ServiceModel.Operation, _ types: SwiftTypes) -> [Parameter] {
        var seen: Set<String> = []
        let declared = operation.callParameters.filter { seen.insert($0.name).inserted }
        let claims = declared.map { NameScope.Claim(key: $0.name, wire: $0.name, wanted: SwiftNames.memberName($0.name)) }
        // `on` is the label of the binding parameter.
        let names = NameScope(reserved: ["on"]).names(for: claims).names
        return declared.map { parameter in
            let type = parameter.type
            let isOptional = types.model.annotation("Org.OData.Core.V1.OptionalParameter", of: parameter) != nil
            let isNullable = type.isNullable && !type.isCollection
            // A nullable parameter of an action can also be missing (Protocol 4.01, section 11.5.5.1), and so can every nullable parameter
            // before version 4. A parameter of a function can't.
            let mayBeMissing = isOptional || isNullable && (operation.kind == .action || types.model.version < .v4)
            return Parameter(
                wire: parameter.name, name: names[parameter.name] ?? SwiftNames.memberName(parameter.name), type: types.name(of: type),
                isNullable: isNullable || isOptional, isOptional: mayBeMissing)
        }
    }

    private static func result(_ operation: ServiceModel.Operation, _ types: SwiftTypes) -> Result {
        guard let type = operation.returnType?.type else { return Result.none }
        let name = types.name(of: type)
        let isEntity = types.model.entityType(type.name) != nil
        if isEntity, operation.kind == .function {
            let item = types.item(types.model.qualifiedName(type.name))
            return type.isCollection ? .entities(item) : .entity(item, isNullable: type.isNullable)
        }
        if type.name == "Edm.Stream", !type.isCollection { return .value("Foundation.Data") }
        return .value(type.isNullable && !type.isCollection ? name + "?" : name)
    }
}

import ODataMetadata

/// Prints the client: a property for each entity set and singleton, and a method for each operation.
struct ClientPrinter: Sendable {
    private let types: SwiftTypes
    private let overrides: [String: String]
    private let withProtocol: Set<String>
    private var model: ServiceModel { types.model }
    private var names: NameTable { types.names }

    /// The names of resources and operations that were changed to avoid a collision, with the new name.
    private(set) var met: [(wire: String, name: String)] = []
    /// The conflicts of names in the configuration.
    private(set) var faults: [(message: String, name: String)] = []
    /// The overloads without a method, because the document declares them twice.
    private(set) var repeated: [String] = []
    private var resources: [(name: String, wire: String, type: String, isSet: Bool, notes: ElementNotes)] = []
    private var plans: [OperationPlan] = []

    init(_ types: SwiftTypes, overrides: [String: String]) {
        self.types = types
        self.overrides = overrides
        withProtocol = types.typesWithProtocol()
        planResources()
        planOperations()
    }

    /// Whether the printed code uses types of Foundation.
    var needsFoundation: Bool {
        plans.contains { if case .value("Foundation.Data") = $0.result { true } else { false } }
    }

    /// Whether the printed code uses types of the module WebServiceClient.
    var needsWebServiceClient: Bool { version != nil }

    // MARK: Plans

    private mutating func planResources() {
        var seen: Set<String> = []
        let sets = model.entitySets.filter { seen.insert($0.name).inserted }
        let singletons = model.singletons.filter { seen.insert($0.name).inserted }
        let claims = (sets.map { ($0.target, $0.name) } + singletons.map { ($0.target, $0.name) }).sorted { $0.1 < $1.1 }.map {
            NameScope.Claim(
                key: $0.0, wire: $0.1, wanted: overrides[$0.0] ?? SwiftNames.memberName($0.1), isFixed: overrides[$0.0] != nil)
        }
        let scope = NameScope(reserved: SwiftNames.clientMembers).names(for: claims)
        met += scope.renamed
        faults += scope.conflicts.map { $0.fault(in: names.client + ".") }
        for set in sets {
            resources.append((scope.names[set.target] ?? set.name, set.name, set.entityType, true, ElementNotes(set, in: model)))
        }
        for single in singletons {
            resources.append((scope.names[single.target] ?? single.name, single.name, single.type, false, ElementNotes(single, in: model)))
        }
        resources.sort { $0.wire < $1.wire }
    }

    private mutating func planOperations() {
        var seen: Set<String> = []
        for item in model.operationImports where seen.insert(item.name).inserted {
            let overloads = model.operations(item.operation).filter { !$0.isBound }
            plans += overloads.compactMap {
                OperationPlan($0, importedAs: item, types, withProtocol: withProtocol, overrides: overrides)
            }
        }
        for operation in (model.schemas + model.includedSchemas).flatMap(\.operations) where operation.isBound {
            if let plan = OperationPlan(operation, importedAs: nil, types, withProtocol: withProtocol, overrides: overrides) {
                plans.append(plan)
            }
        }
        let taken = Set(resources.map(\.name))
        for index in plans.indices {
            let name = plans[index].name
            guard taken.contains(name) || SwiftNames.clientMembers.contains(name) || SwiftNames.unusable.contains(name) else { continue }
            if plans[index].isFixed {
                // Overloads share the name, so one fault is enough.
                let fault = NameScope.Conflict(keys: [plans[index].key], name: name).fault()
                if !faults.contains(where: { $0 == fault }) { faults.append(fault) }
            }
            plans[index].name = name + "_"
        }
        makeUnique()
        plans.sort { ($0.name, $0.wire, $0.operation.target, $0.signature) < ($1.name, $1.wire, $1.operation.target, $1.signature) }
    }

    /// Makes the signatures of methods different in Swift: methods of several operations get the qualified name as a suffix, and overloads
    /// of one operation get the types of their parameters. A duplicate declaration in the document becomes one method.
    private mutating func makeUnique() {
        let before = plans.map(\.name)
        var counts: [String: Set<String>] = [:]
        for plan in plans { counts[plan.signature, default: []].insert(plan.wire) }
        for index in plans.indices where counts[plans[index].signature, default: []].count > 1 {
            plans[index].name += "_" + SwiftNames.identifier(plans[index].wire)
        }
        // Different types of the model can be the same type in Swift, such as definitions of `Edm.String`.
        separate { $0.typeNames }
        separate { "_" + StableHash($0.operation.target).short }
        for (plan, name) in zip(plans, before) where plan.name != name { met.append((plan.key, plan.name)) }
        var signatures: Set<String> = []
        let sorted = plans.sorted { ($0.wire, $0.operation.target) < ($1.wire, $1.operation.target) }
        plans = sorted.filter { plan in
            let isNew = signatures.insert(plan.signature).inserted
            if !isNew { repeated.append(plan.operation.target) }
            return isNew
        }
    }

    /// Appends a suffix to the methods of different overloads with the same signature.
    private mutating func separate(by suffix: (OperationPlan) -> String) {
        for indices in Dictionary(grouping: plans.indices, by: { plans[$0].signature }).values
        where Set(indices.map { plans[$0].operation.target }).count > 1 {
            for index in indices { plans[index].name += suffix(plans[index]) }
        }
    }

    // MARK: Printing

    /// Prints the client.
    func print(to text: inout SourceText) {
        guard model.container != nil || !plans.isEmpty else { return }
        text.space()
        text.comment(["The client of the service \(names.service)."])
        let access = text.access == "public " ? "open " : text.access
        text.block("\(access)class \(names.client): OData.ODataClient, @unchecked Sendable") { text in
            if let version {
                text.line("\(access)override class var defaults: EndpointDefaults { .odata(\(version)) }")
            }
            for resource in resources {
                text.notes(resource.notes)
                let type = types.item(model.qualifiedName(resource.type))
                let request = resource.isSet ? "OData.FetchRequest<\(type)>" : "OData.EntityRequest<\(type)>"
                let path = "\(resource.isSet ? "entitySet" : "singleton"): \(SwiftNames.literal(resource.wire))"
                text.line(
                    "\(text.access)var \(SwiftNames.declared(resource.name)): \(request) { .init(resource: OData.ResourcePath(\(path))) }")
            }
            let taken = Set(resources.map(\.name) + plans.map(\.name))
            for plan in plans {
                text.space()
                print(plan, taken, to: &text)
            }
        }
    }

    private var version: String? {
        switch model.version {
        case .v2, .v3: ".v2"
        case .v4, .v401: nil
        }
    }

    private func print(_ plan: OperationPlan, _ taken: Set<String>, to text: inout SourceText) {
        let kind = plan.operation.kind == .action ? "action" : "function"
        let parameters = parameters(of: plan)
        let generic = generic(plan)
        let call = call(plan, kind)
        let name = SwiftNames.declared(plan.name)
        let head = "\(text.access)func \(name)\(generic)(\(parameters)) async throws"
        func method(_ result: String, _ body: String) {
            text.notes(plan.notes)
            text.block(head + result) { $0.line(body) }
        }
        // Prints the request for the result of a function, and the method that fetches it.
        func pair(_ request: String, _ result: String, _ fetch: String) {
            let needed = taken.contains(plan.name + "Request") ? plan.name + "_Request" : plan.name + "Request"
            text.comment(plan.notes.comment.isEmpty ? [] : plan.notes.comment + [""])
            text.comment(["The request for the result, for example to select properties of it."])
            if let message = plan.notes.deprecation {
                text.line("@available(*, deprecated, message: \(SwiftNames.literal(message)))")
            }
            text.block("\(text.access)func \(SwiftNames.declared(needed))\(generic)(\(parameters)) -> \(request)") {
                $0.line("\(request)(\(call))")
            }
            text.space()
            method(" -> \(result)", "try await self.\(fetch)(\(request)(\(call)))")
        }
        switch plan.result {
        case .none: method("", "try await self.invoke(\(call))")
        case .value(let type): method(" -> \(type)", "try await self.\(kind == "action" ? "invoke" : "evaluate")(\(call))")
        case .entities(let type): pair("OData.FetchRequest<\(type)>", "[\(type)]", "fetch")
        case .entity(let type, let isNullable):
            pair("OData.EntityRequest<\(type)>", type + (isNullable ? "?" : ""), isNullable ? "fetchIfPresent" : "fetch")
        }
    }

    private func generic(_ plan: OperationPlan) -> String {
        guard case .items(let type, _, true) = plan.binding else { return "" }
        return "<Model: \(names.path(of: type))Properties>"
    }

    private func parameters(of plan: OperationPlan) -> String {
        var list: [String] = []
        switch plan.binding {
        case .none: break
        case .path: list.append("on: OData.ResourcePath")
        case .items(let type, let isCollection, let isGeneric):
            let item = isGeneric ? "OData.ODataItem<Model>" : names.path(of: type)
            list.append("on: OData.\(isCollection ? "FetchRequest" : "EntityRequest")<\(item)>")
        }
        for parameter in plan.parameters {
            let type = parameter.type + (parameter.isNullable ? "?" : "")
            list.append("\(SwiftNames.declared(parameter.name)): \(type)\(parameter.isOptional ? " = nil" : "")")
        }
        return list.joined(separator: ", ")
    }

    private func call(_ plan: OperationPlan, _ kind: String) -> String {
        var parts = ["\(kind): \(SwiftNames.literal(plan.wire))"]
        if plan.binding != .none { parts.append("on: on") }
        let arguments = plan.parameters.map { parameter in
            let label = parameter.isOptional ? "optional: " : ""
            return "OData.OperationArgument(\(label)\(SwiftNames.literal(parameter.wire)), \(SwiftNames.declared(parameter.name)))"
        }
        if !arguments.isEmpty { parts.append("[" + arguments.joined(separator: ", ") + "]") }
        return "OData.OperationCall(\(parts.joined(separator: ", ")))"
    }
}

import ODataMetadata

/// The types that code is generated for, each with the reason.
///
/// An included type includes its base types and the types of its properties, but neither the targets of its relations nor derived types: in
/// large models nearly every type is related to every other one.
struct TypeSelection: Sendable {
    /// The reason why a type is included.
    enum Reason: Sendable, Hashable {
        case entry(String)
        case base(of: String)
        case property(String, of: String)
        case relation(String, of: String)
        case derived(from: String)
        case operation(String)
    }

    /// The included parts of a structured type so far.
    private struct State {
        /// The names of the included properties; `nil` for all.
        var names: Set<String>? = []
        var steps = -1

        /// Adds to the state; returns whether it has grown.
        mutating func add(_ added: Set<String>?, steps added2: Int) -> Bool {
            let before = (names, steps)
            steps = max(steps, added2)
            if let added, let known = names { names = known.union(added) } else { names = nil }
            return before != (names, steps)
        }
    }

    private struct Visit {
        let type: String
        let names: Set<String>?
        let steps: Int
        let reason: Reason
    }

    private let model: ServiceModel
    private let tree: DerivationTree
    private let exclude: [NamePattern]
    private var states: [String: State] = [:]
    private(set) var enumerations: Set<String> = []
    private(set) var reasons: [String: Reason] = [:]
    private var queue: [Visit] = []
    private(set) var faults: [(message: String, name: String)] = []

    /// The qualified names of the included entity types and complex types.
    var structuredTypes: Set<String> { Set(states.keys) }

    /// Selects the types of a configuration.
    init(_ model: ServiceModel, _ configuration: GenerationConfiguration, tree: DerivationTree? = nil) {
        self.model = model
        self.tree = tree ?? DerivationTree(model)
        exclude = configuration.exclude.map { NamePattern($0) }
        checkExclusions(configuration.exclude)
        for inclusion in configuration.include ?? [.types(.init("*"))] {
            switch inclusion {
            case .types(let entry): add(entry)
            case .sets(let names): for name in names { add(set: name) }
            case .operations: continue
            }
        }
        work()
        // The included types determine which overloads are meant.
        for case .operations(let names) in configuration.include ?? [] {
            for name in names { add(operation: name) }
        }
        work()
    }

    /// Returns whether a type or an enumeration is included.
    func contains(_ name: String) -> Bool { states[name] != nil || enumerations.contains(name) }

    /// Returns whether a property that a type declares is included.
    func contains(_ property: String, of type: String) -> Bool {
        guard let state = states[type] else { return false }
        return state.names?.contains(property) ?? true
    }

    // MARK: Roots

    private mutating func checkExclusions(_ patterns: [String]) {
        for (text, pattern) in zip(patterns, exclude) where !allNames.contains(where: { pattern.matches($0) }) {
            faults.append(("'exclude' names '\(text)', and the document has no such type" + hint(text), text))
        }
    }

    private var allNames: [String] {
        (model.schemas + model.includedSchemas).flatMap { schema in
            (schema.entityTypes + schema.complexTypes).map(\.qualifiedName) + schema.enumTypes.map(\.qualifiedName)
        }
    }

    private func hint(_ name: String) -> String { NearestNames.hint(name, among: allNames.sorted()) }

    private mutating func add(_ entry: GenerationConfiguration.TypeInclusion) {
        var names: [String]
        if entry.type.contains("*") {
            let pattern = NamePattern(entry.type)
            // Types of referenced documents are included where they are used.
            names = model.schemas.flatMap { schema in
                (schema.entityTypes + schema.complexTypes).map(\.qualifiedName) + schema.enumTypes.map(\.qualifiedName)
            }
            names = names.filter { name in pattern.matches(name) && !isExcluded(name) }.sorted()
            // A service may have no types, but a more specific pattern must match some.
            if names.isEmpty, entry.type != "*" {
                faults.append(("'include' has the pattern '\(entry.type)', and no type of the document matches it", entry.type))
            }
        } else {
            let name = model.qualifiedName(entry.type)
            guard model.type(name) != nil else {
                faults.append(("'include' names '\(entry.type)', and the document has no such type" + hint(entry.type), entry.type))
                return
            }
            if isExcluded(name) { faults.append(("'\(entry.type)' is in 'include' and in 'exclude'", entry.type)) }
            names = [name]
        }
        var seen: Set<String> = []
        for name in names { add(root: name, entry, &seen) }
    }

    /// - Parameter seen: The derived types that other types of the entry included.
    private mutating func add(root name: String, _ entry: GenerationConfiguration.TypeInclusion, _ seen: inout Set<String>) {
        let steps =
            switch entry.relations {
            case .steps(let count): count
            case .all: Int.max
            case .named: 0
            }
        let properties = entry.properties.map { Set($0) }
        queue.append(Visit(type: name, names: properties, steps: steps, reason: .entry(entry.type)))
        guard let type = model.structuredType(name) else { return }
        if let properties {
            let known = model.properties(of: type).map(\.name) + model.navigationProperties(of: type).map(\.name)
            for property in properties.sorted() where !known.contains(property) {
                let hint = NearestNames.hint(property, among: known)
                faults.append(("the type '\(name)' has no property '\(property)'" + hint, property))
            }
        }
        if case .named(let relations) = entry.relations {
            for relation in relations {
                if let target = model.navigationProperty(relation, of: name) {
                    queue.append(Visit(type: target.targetType, names: nil, steps: 0, reason: .relation(relation, of: name)))
                } else {
                    let hint = NearestNames.hint(relation, among: model.navigationProperties(of: type).map(\.name))
                    faults.append(("the type '\(name)' has no navigation property '\(relation)'" + hint, relation))
                }
            }
        }
        switch entry.derived {
        case .none: break
        case .all:
            let types = tree.derived(from: name, except: &seen).sorted()
            for type in types { queue.append(Visit(type: type, names: nil, steps: steps, reason: .derived(from: name))) }
        case .named(let types):
            let derived = model.derivedTypes(of: name).map(\.qualifiedName)
            for type in types {
                let qualified = model.qualifiedName(type)
                if derived.contains(qualified) {
                    queue.append(Visit(type: qualified, names: nil, steps: steps, reason: .derived(from: name)))
                } else {
                    let hint = NearestNames.hint(type, among: derived)
                    faults.append(("no type '\(type)' is derived from '\(name)'" + hint, type))
                }
            }
        }
    }

    private mutating func add(set name: String) {
        guard let type = model.entitySet(name)?.entityType ?? model.singleton(name)?.type else {
            let hint = NearestNames.hint(name, among: model.entitySets.map(\.name) + model.singletons.map(\.name))
            faults.append(("'include' names the set '\(name)', and the document has no such entity set or singleton" + hint, name))
            return
        }
        queue.append(Visit(type: type, names: nil, steps: 0, reason: .entry("the set \(name)")))
    }

    private mutating func add(operation name: String) {
        let operations = model.operations(name)
        guard !operations.isEmpty else {
            let all = Set((model.schemas + model.includedSchemas).flatMap { $0.operations.map(\.qualifiedName) })
            let hint = NearestNames.hint(name, among: all.sorted())
            faults.append(("'include' names the operation '\(name)', and the document has no such action or function" + hint, name))
            return
        }
        let usable = operations.filter { $0.bindingType.map { contains($0.name) || $0.isPrimitive } ?? true }
        if usable.isEmpty {
            let types = Set(operations.compactMap { $0.bindingType?.name }).sorted().prefix(5).joined(separator: ", ")
            faults.append(("no overload of '\(name)' is bound to an included type; include one of \(types)", name))
        }
        for operation in usable {
            for type in operation.callParameters.map(\.type) + (operation.returnType.map { [$0.type] } ?? []) {
                queue.append(Visit(type: type.name, names: nil, steps: 0, reason: .operation(operation.target)))
            }
        }
    }

    private func isExcluded(_ name: String) -> Bool { exclude.contains { $0.matches(name) } }

    // MARK: Closure

    /// Visits the types in the queue and the types that they include, nearer types first, so that the reasons are short.
    private mutating func work() {
        var next = 0
        while next < queue.count {
            let visit = queue[next]
            next += 1
            guard !isExcluded(visit.type) else { continue }
            switch model.type(visit.type) {
            case .structured(let type): self.visit(type, visit)
            case .enumeration(let type):
                if enumerations.insert(type.qualifiedName).inserted { reasons[type.qualifiedName] = visit.reason }
            case .definition, nil: continue
            }
        }
        queue = []
    }

    private mutating func visit(_ type: ServiceModel.StructuredType, _ visit: Visit) {
        let name = type.qualifiedName
        var names = visit.names
        if names != nil { names?.formUnion(model.key(of: type).map { String($0.path.prefix { $0 != "/" }) }) }
        guard states[name, default: State()].add(names, steps: visit.steps) else { return }
        if reasons[name] == nil { reasons[name] = visit.reason }
        guard let state = states[name] else { return }
        if let base = tree.base(of: name) {
            if isExcluded(base) {
                faults.append(("'\(base)' can't be excluded: '\(name)' is derived from it", base))
            }
            // The names include those of the key, because a base without a key can declare properties of it.
            queue.append(Visit(type: base, names: names, steps: visit.steps, reason: .base(of: name)))
        }
        for property in type.properties where state.names?.contains(property.name) ?? true {
            queue.append(Visit(type: property.type.name, names: nil, steps: visit.steps, reason: .property(property.name, of: name)))
        }
        guard state.steps > 0 else { return }
        let steps = state.steps == Int.max ? Int.max : state.steps - 1
        for relation in type.navigationProperties where state.names?.contains(relation.name) ?? true {
            queue.append(Visit(type: relation.targetType, names: nil, steps: steps, reason: .relation(relation.name, of: name)))
        }
    }
}

extension TypeSelection {
    /// Returns the steps from an entry of the include list to a type, one per line; `nil` if the type isn't included.
    func explanation(of name: String) -> [String]? {
        guard contains(name) else { return nil }
        var lines: [String] = []
        var current = name
        // Reasons form no cycle, because each type had a reason before the types that it included.
        for _ in 0...reasons.count {
            switch reasons[current] {
            case .entry(let entry)?:
                return lines + ["\(current) is included by '\(entry)'"]
            case .base(let type)?:
                lines.append("\(current) is the base type of \(type)")
                current = type
            case .property(let property, let type)?:
                lines.append("\(current) is the type of the property \(property) of \(type)")
                current = type
            case .relation(let relation, let type)?:
                lines.append("\(current) is the target of the navigation property \(relation) of \(type)")
                current = type
            case .derived(let base)?:
                lines.append("\(current) is derived from \(base)")
                current = base
            case .operation(let operation)?:
                return lines + ["\(current) is the type of a parameter or of the result of the operation \(operation)"]
            case nil:
                return lines
            }
        }
        return lines
    }
}

/// A name with `*` for any characters.
struct NamePattern: Sendable, Hashable {
    private let parts: [[UInt8]]

    init(_ text: String) {
        parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
    }

    func matches(_ name: String) -> Bool {
        let name = Array(name.utf8)
        guard let first = parts.first, let last = parts.last else { return name.isEmpty }
        guard parts.count > 1 else { return name == first }
        guard name.count >= first.count + last.count, name.starts(with: first), name.suffix(last.count).elementsEqual(last) else {
            return false
        }
        var rest = name[first.count..<(name.count - last.count)]
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            // The first match is sufficient, because the rest of the pattern can match later text.
            guard let place = rest.indices.first(where: { rest[$0...].starts(with: part) }) else { return false }
            rest = rest[(place + part.count)...]
        }
        return true
    }
}

import ODataMetadata

/// The structured types of a model, each with its direct base.
///
/// `ServiceModel.baseTypes(of:)` walks the whole chain of bases. A call for every type of a long chain would take quadratic time.
struct DerivationTree: Sendable {
    /// The types by their qualified names, in the order of the document.
    private let types: [ServiceModel.StructuredType]
    private let bases: [String: String]
    /// The positions of the types that are directly derived from a type.
    private let derived: [String: [Int]]

    init(_ model: ServiceModel) {
        var types: [ServiceModel.StructuredType] = []
        var bases: [String: String] = [:]
        var derived: [String: [Int]] = [:]
        var seen: Set<String> = []
        for type in (model.schemas + model.includedSchemas).flatMap({ $0.entityTypes + $0.complexTypes })
        where seen.insert(type.qualifiedName).inserted {
            types.append(type)
            guard let base = type.baseType.flatMap({ model.structuredType($0) }), base.kind == type.kind else { continue }
            bases[type.qualifiedName] = base.qualifiedName
            derived[base.qualifiedName, default: []].append(types.count - 1)
        }
        self.types = types
        self.bases = bases
        self.derived = derived
    }

    /// Returns the qualified name of a type's direct base, or `nil`.
    func base(of name: String) -> String? { bases[name] }

    /// Returns the types that are derived from a type, directly or indirectly.
    ///
    /// - Parameter seen: The types of earlier results; they and their derived types aren't returned again.
    func derived(from name: String, except seen: inout Set<String>) -> [String] {
        var found = [name]
        var next = 0
        while next < found.count {
            let more = (derived[found[next]] ?? []).map { types[$0].qualifiedName }
            found += more.filter { seen.insert($0).inserted }
            next += 1
        }
        return Array(found.dropFirst())
    }

    /// Visits all types once. Derived types are visited between the beginning and the end of their base.
    ///
    /// - Parameters:
    ///   - enter: Receives a type before its derived types.
    ///   - leave: Receives the type after them.
    func walk(enter: (ServiceModel.StructuredType) -> Void, leave: (ServiceModel.StructuredType) -> Void = { _ in }) {
        var isEntered = Array(repeating: false, count: types.count)
        let roots = types.indices.filter { bases[types[$0].qualifiedName] == nil }
        // Types in a cycle have no root; they are visited last.
        for root in roots + Array(types.indices) where !isEntered[root] {
            // A long chain of bases must not cause a deep recursion.
            var stack = [(index: root, isDone: false)]
            while let (index, isDone) = stack.popLast() {
                if isDone {
                    leave(types[index])
                } else if !isEntered[index] {
                    isEntered[index] = true
                    enter(types[index])
                    stack.append((index, true))
                    for next in (derived[types[index].qualifiedName] ?? []).reversed() { stack.append((next, false)) }
                }
            }
        }
    }
}

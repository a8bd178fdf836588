/// The tree of structured types, with the inherited parts of each type.
///
/// A look-up doesn't walk up the base types, because documents can have chains of thousands of types, and a reader asks about each of them.
/// Types are numbered in the order of a walk over the tree, so that a type and its derived types have adjacent numbers.
struct TypeTree: Sendable {
    /// A member that a type declares.
    struct Slot: Sendable {
        /// The index of the declaring type.
        let type: Int
        /// The index of the member among the type's properties or navigation properties.
        let position: Int
        let isNavigation: Bool
    }

    /// The declared and inherited parts of a type.
    struct State: Sendable {
        /// The index of the nearest type with a key, which can be the type itself, or `nil`.
        var keyOwner: Int?
        var isOpen: Bool
        var hasStream: Bool
        /// The index of the outermost base type, or of the type itself if it has none.
        var root: Int
    }

    /// The member that a name refers to, for all types from a number to the number of the next step.
    private struct Step {
        let start: Int
        let slot: Slot?
    }

    /// The index of each type's base type, or -1. There are no cycles.
    let bases: [Int]
    /// The indices of the direct derived types of each type.
    let derived: [Int: [Int]]
    private let states: [State]
    /// The numbers of each type and its derived types.
    private let numbers: [Range<Int>]
    private let members: [String: [Step]]

    /// Creates the tree of types, given their indices by name.
    init(_ types: [ServiceModel.StructuredType], indices: (String) -> Int?) {
        let bases = Self.bases(of: types, indices)
        var derived: [Int: [Int]] = [:]
        for (index, base) in bases.enumerated() where base >= 0 { derived[base, default: []].append(index) }
        var states = types.indices.map { index in
            let type = types[index]
            return State(keyOwner: type.key.isEmpty ? nil : index, isOpen: type.isOpen, hasStream: type.hasStream, root: index)
        }
        var starts = Array(repeating: 0, count: types.count)
        var ends = starts
        var members = MemberSteps()
        var number = 0
        // Recursion could overflow the stack, because chains can be long. The index of a type means that it is entered; the index with all
        // bits inverted, that it is left.
        var waiting: [Int] = []
        for root in bases.indices where bases[root] < 0 {
            waiting.append(root)
            while let index = waiting.popLast() {
                if index < 0 {
                    ends[~index] = number
                    members.leave(types[~index], ~index, at: number)
                    continue
                }
                starts[index] = number
                members.enter(types[index], index, at: number)
                number += 1
                if bases[index] >= 0 { states[index].inherit(states[bases[index]]) }
                waiting.append(~index)
                waiting += derived[index] ?? []
            }
        }
        self.bases = bases
        self.derived = derived
        self.states = states
        numbers = types.indices.map { starts[$0]..<ends[$0] }
        self.members = members.steps
    }

    private static func bases(of types: [ServiceModel.StructuredType], _ indices: (String) -> Int?) -> [Int] {
        var bases = types.map { type -> Int in
            guard let index = type.baseType.flatMap(indices) else { return -1 }
            return types[index].kind == type.kind ? index : -1
        }
        // Each type is visited once: a type of an earlier walk can't lead to a cycle.
        var walks = Array(repeating: 0, count: bases.count)
        for start in bases.indices {
            var current = start
            while walks[current] == 0 {
                walks[current] = start + 1
                let next = bases[current]
                guard next >= 0 else { break }
                if walks[next] == start + 1 {
                    bases[current] = -1
                    break
                }
                current = next
            }
        }
        return bases
    }

    /// The declared and inherited parts of a type.
    func state(of index: Int) -> State { states[index] }

    /// Whether a type is another one or derived from it.
    func isType(_ index: Int, derivedFrom base: Int) -> Bool { numbers[base].contains(numbers[index].lowerBound) }

    /// The type and its base types, itself first.
    func ancestry(of index: Int) -> [Int] {
        var result: [Int] = []
        var current = index
        while current >= 0 {
            result.append(current)
            current = bases[current]
        }
        return result
    }

    /// The member that a name refers to in a type: its own, or the member of the nearest base type with one.
    func member(_ name: String, of index: Int) -> Slot? {
        guard let steps = members[name] else { return nil }
        // The last step that begins at or before the type's number.
        let number = numbers[index].lowerBound
        var (low, high) = (0, steps.count)
        while low < high {
            let middle = (low + high) / 2
            if steps[middle].start <= number { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? steps[low - 1].slot : nil
    }

    /// Collects the steps of all names during the walk over the tree.
    private struct MemberSteps {
        private(set) var steps: [String: [Step]] = [:]
        /// The members of the base types that a name referred to before the current type, the nearest last.
        private var open: [String: [Slot]] = [:]

        mutating func enter(_ type: ServiceModel.StructuredType, _ index: Int, at number: Int) {
            for (position, property) in type.properties.enumerated() {
                add(Slot(type: index, position: position, isNavigation: false), property.name, at: number)
            }
            for (position, property) in type.navigationProperties.enumerated() {
                add(Slot(type: index, position: position, isNavigation: true), property.name, at: number)
            }
        }

        /// If two members of a type have the same name, the first counts.
        private mutating func add(_ slot: Slot, _ name: String, at number: Int) {
            if let last = open[name]?.last, last.type == slot.type { return }
            open[name, default: []].append(slot)
            steps[name, default: []].append(Step(start: number, slot: slot))
        }

        mutating func leave(_ type: ServiceModel.StructuredType, _ index: Int, at number: Int) {
            for property in type.properties { remove(property.name, index, at: number) }
            for property in type.navigationProperties { remove(property.name, index, at: number) }
        }

        private mutating func remove(_ name: String, _ index: Int, at number: Int) {
            guard let last = open[name]?.last, last.type == index else { return }
            open[name]?.removeLast()
            steps[name, default: []].append(Step(start: number, slot: open[name]?.last))
        }
    }
}

extension TypeTree.State {
    fileprivate mutating func inherit(_ base: TypeTree.State) {
        keyOwner = keyOwner ?? base.keyOwner
        isOpen = isOpen || base.isOpen
        hasStream = hasStream || base.hasStream
        root = base.root
    }
}

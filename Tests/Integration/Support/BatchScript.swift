import OData
import TestSupport

/// Random steps, some of them in groups, which are sent as a batch or one by one.
struct BatchScript {
    /// Steps that are performed all or not at all, or a single step.
    struct Unit {
        var range: Range<Int>
        var isGroup: Bool
    }

    private(set) var steps: [BatchStep] = []
    private(set) var units: [Unit] = []
    /// The earlier steps that must succeed before a step, besides those that it refers to.
    private(set) var needed: [Int: [Int]] = [:]
    let policy: BatchErrorPolicy
    /// Whether steps refer only to steps of the same group, so that the batch can be split between its units.
    let isLocal: Bool

    /// The most steps in a group.
    static let groupLimit = 4

    /// - Parameter isJSON: Whether groups may read, and steps may refer to any earlier one.
    init(_ random: inout SeededGenerator, isJSON: Bool) {
        policy = Int.random(in: 0..<3, using: &random) == 0 ? .stop : .proceed
        isLocal = !isJSON || Bool.random(using: &random)
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let begin = steps.count
            let isGroup = Bool.random(using: &random)
            let count = isGroup ? Int.random(in: 1...Self.groupLimit, using: &random) : 1
            for _ in 0..<count {
                // A change set has no reads, and in multipart only its own steps can be referred to.
                let referable = isLocal ? (isGroup ? begin..<steps.count : 0..<0) : 0..<steps.count
                let step = Self.step(&random, reads: isJSON || !isGroup, after: referable.filter { steps[$0].isReferable })
                if !isLocal, step.isReferable, let other = referable.filter({ steps[$0].isReferable }).randomElement(using: &random),
                    Int.random(in: 0..<4, using: &random) == 0
                {
                    needed[steps.count] = [other]
                }
                steps.append(step)
            }
            units.append(Unit(range: begin..<steps.count, isGroup: isGroup))
        }
    }

    private static func step(_ random: inout SeededGenerator, reads: Bool, after earlier: [Int]) -> BatchStep {
        let names = ["item 1", "O'Hara's \"best\"", "a\r\nb", "--x--", "Größe — 北京 \u{1F600}", "", "\\ / {}"]
        func name() -> String { names.randomElement(using: &random) ?? "" }
        func key() -> Int64 { Int64.random(in: 1...6, using: &random) }
        func item(key: Int64?) -> StoreItem {
            let prices = [nil, "0", "-1.50", "12345678901234567890.0123456789"]
            return StoreItem(
                Key: key, Name: Bool.random(using: &random) ? name() : nil,
                Count: [nil, 0, .max, .min].randomElement(using: &random) ?? nil,
                Price: (prices.randomElement(using: &random) ?? nil).flatMap { EdmDecimal($0) })
        }
        func changes() -> DynamicEntity {
            Bool.random(using: &random) ? ["Name": .string(name())] : ["Count": .integer(key()), "Name": .null]
        }
        func condition() -> WriteCondition {
            let version = WriteCondition.version("W/\"\(Int.random(in: 1...9, using: &random))\"")
            return [.none, .none, .exists, .absent, version].randomElement(using: &random) ?? .none
        }
        func preference() -> ReturnPreference? { [nil, .minimal, .representation].randomElement(using: &random) ?? nil }
        let kind = Int.random(in: reads ? 0..<14 : 4..<14, using: &random)
        switch kind {
        case 0: return .read(key())
        case 1: return .readWhole(key())
        case 2: return .find(name())
        case 3: return .count(name())
        case 4, 5: return .create(item(key: nil), preference())
        case 6: return .create(item(key: key()), preference())
        case 7: return .update(key(), changes(), condition(), preference())
        case 8: return .replace(key(), item(key: nil), condition())
        case 9: return .upsert(key(), item(key: nil), condition())
        case 10: return .delete(key(), [.none, .exists].randomElement(using: &random) ?? .none)
        default:
            guard let step = earlier.randomElement(using: &random) else { return .create(item(key: nil), preference()) }
            return .updateResult(of: step, changes(), preference())
        }
    }

    // MARK: Performing

    /// Sends the steps as a batch, and returns the outcome of each.
    func outcomes(inBatchOf client: ODataClient) async throws -> [BatchOutcome] {
        var batch = ODataBatch()
        var sent: [BatchStep.Sent] = []
        for unit in units {
            if unit.isGroup {
                try batch.atomically { group in
                    for index in unit.range { sent.append(try steps[index].add(to: &group, after: sent)) }
                }
            } else {
                for index in unit.range { sent.append(try steps[index].add(to: &batch, after: sent)) }
            }
            for index in unit.range {
                for other in needed[index] ?? [] {
                    if let later = sent[index].written, let earlier = sent[other].written { batch.run(later, after: earlier) }
                }
            }
        }
        let answer = try await client.send(batch, afterError: policy)
        return try sent.map { try $0.outcome(answer) }
    }

    /// Sends the steps one by one, and returns the outcomes that they have in a batch.
    ///
    /// - Parameter tellsFailed: Whether the service tells which step of a group failed.
    func outcomes(oneByOneOf client: ODataClient, in store: ItemStore, tellsFailed: Bool) async throws -> [BatchOutcome] {
        var outcomes = Array(repeating: BatchOutcome.notProcessed, count: steps.count)
        var keys: [Int: Int64] = [:]
        var failed: Set<Int> = []
        func perform(_ index: Int) async throws {
            if (needed[index] ?? []).contains(where: failed.contains) || steps[index].reference.map(failed.contains) == true {
                outcomes[index] = .failed(424)
            } else {
                let (outcome, key) = try await steps[index].run(by: client, keys)
                outcomes[index] = outcome
                keys[index] = key
            }
            if outcomes[index].isFailure { failed.insert(index) }
        }
        for unit in units {
            if unit.isGroup {
                try await store.together {
                    for index in unit.range {
                        try await perform(index)
                        if failed.contains(index) { break }
                    }
                    guard let bad = unit.range.first(where: { failed.contains($0) }) else { return true }
                    if case .failed(let status) = outcomes[bad] {
                        let isAlone = unit.range.count == 1
                        for index in unit.range where index != bad || !(tellsFailed || isAlone) {
                            outcomes[index] = status == 424 ? .failed(424) : .groupFailed(status)
                        }
                    }
                    failed.formUnion(unit.range)
                    return false
                }
            } else {
                for index in unit.range { try await perform(index) }
            }
            if policy == .stop, unit.range.contains(where: { failed.contains($0) }) { break }
        }
        return outcomes
    }
}

extension BatchStep {
    /// The step that this one refers to.
    var reference: Int? { if case .updateResult(let step, _, _) = self { step } else { nil } }

    /// Whether other steps can refer to the step's item.
    var isReferable: Bool {
        if isRead { return false }
        if case .delete = self { return false }
        return true
    }
}

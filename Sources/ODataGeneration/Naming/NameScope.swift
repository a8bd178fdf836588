/// A scope that gives the names of a model different names in Swift.
///
/// Names that collide, such as `Alert` and `alert`, all get a suffix made from the name in the model. A counter would change existing names
/// when the service adds another one.
struct NameScope {
    /// A name of the model, and its preferred name in Swift.
    struct Claim {
        /// The unique name in the model, which identifies the result.
        let key: String
        /// The simple name in the model.
        let wire: String
        /// The preferred name in Swift, by the rules.
        let wanted: String
        /// Whether the configuration sets the name, so that it isn't changed.
        var isFixed = false
    }

    /// The names in a scope.
    struct Result {
        /// A name for each claim by its key.
        var names: [String: String] = [:]
        /// The keys of the claims whose name was changed to avoid a collision, in the order of the claims.
        var met: [String] = []
        /// The conflicts of fixed names.
        var conflicts: [Conflict] = []

        /// The names of the model whose Swift name was changed, with the new name.
        var renamed: [(wire: String, name: String)] { met.map { ($0, names[$0] ?? "") } }
    }

    /// A conflict of a fixed name: the scope reserves it, or several claims have it.
    struct Conflict {
        /// The keys of the claims with the name: one if the name is reserved.
        let keys: [String]
        let name: String
    }

    /// Returns whether no declaration in the scope can have a name.
    let isReserved: (_ name: String) -> Bool
    /// The additional names that a declaration occupies: `UserModel` for `User`.
    let companions: (_ key: String, _ name: String) -> [String]

    init(reserved: Set<String>, companions: @escaping (_ key: String, _ name: String) -> [String] = { _, _ in [] }) {
        self.init(isReserved: { reserved.contains($0) }, companions: companions)
    }

    init(
        isReserved: @escaping (_ name: String) -> Bool,
        companions: @escaping (_ key: String, _ name: String) -> [String] = { _, _ in [] }
    ) {
        self.isReserved = isReserved
        self.companions = companions
    }

    /// Returns a name for each claim.
    func names(for claims: [Claim]) -> Result {
        var names: [String: String] = [:]
        var met: Set<String> = []
        var count: [String: Int] = [:]
        for claim in claims { count[plain(claim), default: 0] += 1 }
        for claim in claims {
            let name = plain(claim)
            guard !claim.isFixed, count[name, default: 0] > 1 else {
                names[claim.key] = name
                continue
            }
            names[claim.key] = name + "_" + SwiftNames.identifier(claim.wire)
            met.insert(claim.key)
        }
        // If a name is equal to an additional name of another declaration, it changes.
        let occupied = Set(claims.flatMap { companions($0.key, names[$0.key] ?? "") })
        for claim in claims where !claim.isFixed {
            guard let name = names[claim.key], occupied.contains(name) else { continue }
            names[claim.key] = name + "_"
            met.insert(claim.key)
        }
        settle(claims, &names, &met)
        return Result(
            names: names, met: claims.map(\.key).filter { met.contains($0) }, conflicts: conflicts(claims.filter(\.isFixed), names))
    }

    private func plain(_ claim: Claim) -> String {
        guard !claim.isFixed else { return claim.wanted }
        let isTaken = ([claim.wanted] + companions(claim.key, claim.wanted)).contains { isReserved($0) }
        return isTaken || SwiftNames.unusable.contains(claim.wanted) ? claim.wanted + "_" : claim.wanted
    }

    /// Appends the hash of the name in the model to names that still collide.
    private func settle(_ claims: [Claim], _ names: inout [String: String], _ met: inout Set<String>) {
        var uses: [String: Int] = [:]
        for claim in claims { for name in all(claim, names) { uses[name, default: 0] += 1 } }
        for claim in claims where !claim.isFixed {
            guard let name = names[claim.key] else { continue }
            let clashes = all(claim, names).contains { uses[$0, default: 0] > 1 || isReserved($0) }
            guard clashes else { continue }
            names[claim.key] = name + "_" + StableHash(claim.key).short
            met.insert(claim.key)
        }
    }

    /// Returns the conflicts of fixed names. Fixed names aren't changed, so these are faults of the configuration.
    private func conflicts(_ fixed: [Claim], _ names: [String: String]) -> [Conflict] {
        var result: [Conflict] = []
        var owners: [String: [String]] = [:]
        for claim in fixed {
            let own = all(claim, names)
            if let name = own.first(where: { isReserved($0) || SwiftNames.unusable.contains($0) }) {
                result.append(Conflict(keys: [claim.key], name: name))
            }
            for name in own { owners[name, default: []].append(claim.key) }
        }
        var told: Set<[String]> = []
        // The shortest name is the one in the configuration; the others are additional names.
        for (name, keys) in owners.sorted(by: { ($0.key.count, $0.key) < ($1.key.count, $1.key) }) where keys.count > 1 {
            if told.insert(keys).inserted { result.append(Conflict(keys: keys.sorted(), name: name)) }
        }
        return result
    }

    private func all(_ claim: Claim, _ names: [String: String]) -> [String] {
        let name = names[claim.key] ?? claim.wanted
        return [name] + companions(claim.key, name)
    }
}

extension NameScope.Conflict {
    /// Returns the fault of the configuration, with the name that determines its position.
    ///
    /// - Parameter scope: The text before the name in Swift: `Shop.`; empty for members.
    func fault(in scope: String = "") -> (message: String, name: String) {
        let owners = keys.map { NameScope.projection($0).map { "the projection '\($0)'" } ?? $0 }
        let first = keys.first ?? ""
        guard keys.count == 1 else {
            let place = keys.first { NameScope.projection($0) == nil } ?? first
            return (
                "the name '\(scope + name)' is that of \(owners.joined(separator: " and ")); give one of them another in 'names'", place
            )
        }
        let reason = "the generated code or Swift uses the name '\(name)' for something else"
        if let title = NameScope.projection(first) {
            return ("a projection can't be called '\(title)': \(reason); give it another name", title)
        }
        return ("'names' can't give \(first) this name: \(reason); choose another one", first)
    }
}

extension NameScope {
    private static let projectionMark = "projection "

    /// Returns the key of a projection's claim.
    static func key(ofProjection title: String) -> String { projectionMark + title }

    /// Returns the name of a projection from the key of its claim; `nil` for other keys, which are names of the model.
    static func projection(_ key: String) -> String? {
        key.hasPrefix(projectionMark) ? String(key.dropFirst(projectionMark.count)) : nil
    }
}

/// A hash that is the same in every run (FNV-1a, 64 bits). It detects accidental changes, not deliberate ones.
struct StableHash {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    init(_ text: String) { add(text.utf8) }

    init(_ bytes: some Sequence<UInt8>) { add(bytes) }

    private mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }

    /// Sixteen hexadecimal digits.
    var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Eight hexadecimal digits.
    var short: String { String(text.prefix(8)) }
}

/// Finds the names that are most similar to an unknown one, for error texts.
enum NearestNames {
    /// Returns the end of a sentence with up to three names, or an empty text if no name is similar.
    static func hint(_ name: String, among candidates: some Sequence<String>) -> String {
        let near = nearest(to: name, among: candidates)
        return near.isEmpty ? "" : "; did you mean " + near.map { "'\($0)'" }.joined(separator: " or ") + "?"
    }

    static func nearest(to name: String, among candidates: some Sequence<String>) -> [String] {
        let wanted = Array(name.lowercased().utf8)
        let simple = simpleName(name).lowercased()
        // In a short name, several different letters make another word.
        let most = simple.utf8.count < 5 ? 1 : min(3, max(2, simple.utf8.count / 4))
        var found: [(distance: Int, name: String)] = []
        for candidate in candidates {
            let text = candidate.lowercased()
            if simpleName(text) == simple {
                found.append((0, candidate))
            } else if abs(text.utf8.count - wanted.count) <= most, let distance = distance(wanted, Array(text.utf8), most: most) {
                found.append((distance, candidate))
            }
        }
        return found.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
    }

    private static func simpleName(_ name: String) -> String {
        name.lastIndex { $0 == "." || $0 == "/" }.map { String(name[name.index(after: $0)...]) } ?? name
    }

    /// Returns the number of letters to insert, remove or replace; `nil` if there are more than `most`.
    private static func distance(_ left: [UInt8], _ right: [UInt8], most: Int) -> Int? {
        // People don't type names of this length.
        guard left.count <= 200, right.count <= 200 else { return nil }
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var previous = row[0]
            row[0] = i + 1
            var least = row[0]
            for (j, b) in right.enumerated() {
                let replaced = previous + (a == b ? 0 : 1)
                previous = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
                least = min(least, row[j + 1])
            }
            if least > most { return nil }
        }
        return row[right.count] <= most ? row[right.count] : nil
    }
}

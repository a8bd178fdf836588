/// A scope in which the names of a model become different names in Swift.
///
/// Names that meet, such as `Alert` and `alert`, all get a suffix made from the name in the model. A counter would move when the service
/// adds a third.
struct NameScope {
    /// A name of the model, and the name that it would like to have.
    struct Claim {
        /// The name that is unique in the model, by which the result is found.
        let key: String
        /// The simple name in the model.
        let wire: String
        /// The name in Swift by the rules.
        let wanted: String
        /// Whether the configuration gives the name, so that it isn't changed.
        var isFixed = false
    }

    /// Names that nothing in the scope can have.
    let reserved: Set<String>
    /// The further names that a declaration occupies: `UserModel` beside `User`.
    let companions: (_ key: String, _ name: String) -> [String]

    init(reserved: Set<String>, companions: @escaping (_ key: String, _ name: String) -> [String] = { _, _ in [] }) {
        self.reserved = reserved
        self.companions = companions
    }

    /// Returns a name for each claim by its key, and the claims that got another name than wanted because it met another one.
    func names(for claims: [Claim]) -> (names: [String: String], met: [String]) {
        var names: [String: String] = [:]
        var met: [String] = []
        var count: [String: Int] = [:]
        for claim in claims { count[plain(claim), default: 0] += 1 }
        for claim in claims {
            let name = plain(claim)
            guard !claim.isFixed, count[name, default: 0] > 1 else {
                names[claim.key] = name
                continue
            }
            names[claim.key] = name + "_" + SwiftNames.identifier(claim.wire)
            met.append(claim.key)
        }
        // A name that is the companion of another one gives way.
        let occupied = Set(claims.flatMap { companions($0.key, names[$0.key] ?? "") })
        for claim in claims where !claim.isFixed {
            guard let name = names[claim.key], occupied.contains(name) else { continue }
            names[claim.key] = name + "_"
            met.append(claim.key)
        }
        return settled(claims, names, met)
    }

    private func plain(_ claim: Claim) -> String {
        guard !claim.isFixed else { return claim.wanted }
        let isTaken = ([claim.wanted] + companions(claim.key, claim.wanted)).contains { reserved.contains($0) }
        return isTaken || SwiftNames.unusable.contains(claim.wanted) ? claim.wanted + "_" : claim.wanted
    }

    /// Appends the hash of the name in the model to what still meets.
    private func settled(_ claims: [Claim], _ given: [String: String], _ given2: [String]) -> (names: [String: String], met: [String]) {
        var (names, met) = (given, given2)
        var uses: [String: Int] = [:]
        for claim in claims { for name in all(claim, names) { uses[name, default: 0] += 1 } }
        for claim in claims where !claim.isFixed {
            guard let name = names[claim.key] else { continue }
            let clashes = all(claim, names).contains { uses[$0, default: 0] > 1 || reserved.contains($0) }
            guard clashes else { continue }
            names[claim.key] = name + "_" + StableHash(claim.key).short
            met.append(claim.key)
        }
        return (names, met)
    }

    private func all(_ claim: Claim, _ names: [String: String]) -> [String] {
        let name = names[claim.key] ?? claim.wanted
        return [name] + companions(claim.key, name)
    }
}

/// A hash that is the same in every run (FNV-1a, 64 bits). It finds changes by mistake, not by intent.
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

/// The names that are most like an unknown one, for the texts of errors.
enum NearestNames {
    /// Returns the end of a sentence with up to three names, or nothing if none is near.
    static func hint(_ name: String, among candidates: some Sequence<String>) -> String {
        let near = nearest(to: name, among: candidates)
        return near.isEmpty ? "" : "; did you mean " + near.map { "'\($0)'" }.joined(separator: " or ") + "?"
    }

    static func nearest(to name: String, among candidates: some Sequence<String>) -> [String] {
        let wanted = Array(name.lowercased().utf8)
        let simple = simpleName(name).lowercased()
        // In a short name, more other letters make another word.
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

    /// The number of letters to insert, remove or replace; `nil` if there are more than `most`.
    private static func distance(_ left: [UInt8], _ right: [UInt8], most: Int) -> Int? {
        // Names of this length aren't typed by hand.
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

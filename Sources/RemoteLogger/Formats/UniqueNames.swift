/// Makes the names of a record's values unique, for receivers that treat different names as equal or reserve some names.
///
/// A name that is taken gets up to eight trailing underscores; if all of these are taken, it gets an underscore and a number. A record
/// grows by a few bytes per name. The next number is remembered for each base name, so any names take linear time.
struct UniqueNames: Sendable {
    private static let underscores = 8
    /// The maximum number of bytes that an underscore and a number add.
    private static let longestNumber = 12

    private let maximum: Int
    private let key: @Sendable (String) -> String
    private var taken: Set<String>
    private var numbers: [String: Int] = [:]

    /// The number of taken names.
    var count: Int { taken.count }

    /// - Parameters:
    ///   - taken: The names that no value may have.
    ///   - maximum: The maximum number of bytes of a name. Callers cut longer names first.
    ///   - key: Maps a name to the receiver's form: names with equal keys are the same to it.
    init(taken: Set<String> = [], maximum: Int = .max, key: @escaping @Sendable (String) -> String = { $0 }) {
        self.taken = taken
        self.maximum = maximum
        self.key = key
    }

    /// Takes the name if it is free.
    mutating func take(_ name: String) -> Bool {
        taken.insert(key(name)).inserted
    }

    /// Takes and returns the name, or a similar one that is free.
    mutating func name(for wanted: String) -> String {
        if take(wanted) { return wanted }
        for count in 1...Self.underscores {
            let candidate = shortened(wanted, by: count) + String(repeating: "_", count: count)
            if take(candidate) { return candidate }
        }
        let base = shortened(wanted, by: Self.longestNumber) + "_"
        let counter = key(base)
        var number = numbers[counter] ?? Self.underscores + 1
        defer { numbers[counter] = number }
        while true {
            let candidate = base + String(number)
            number += 1
            if take(candidate) { return candidate }
        }
    }

    private func shortened(_ name: String, by count: Int) -> String {
        maximum == .max || name.utf8.count <= maximum - count ? name : String(FlatMetadata.prefix(of: name, bytes: maximum - count))
    }
}

import Foundation

/// Metadata for receivers without nesting: the names of nested values are joined by dots, arrays are JSON.
enum FlatMetadata {
    /// The maximum number of bytes of the path to a nested value. Each nested value repeats its path: without a bound one long name would
    /// make a record as large as the product of its names.
    private static let longestPath = 256

    /// The values by their joined names, in order. Names may occur twice.
    static func pairs(of metadata: LogMetadata) -> [(name: String, value: LogValue)] {
        var pairs: [(name: String, value: LogValue)] = []
        pairs.reserveCapacity(metadata.count)
        append(metadata, prefix: "", depth: 0, to: &pairs)
        return pairs
    }

    private static func append(_ metadata: LogMetadata, prefix: String, depth: Int, to pairs: inout [(name: String, value: LogValue)]) {
        for pair in metadata {
            let name = prefix.isEmpty ? pair.key : prefix + "." + pair.key
            // An empty dictionary has no nested names, so it keeps its own.
            guard case .dictionary(let values) = pair.value, !values.isEmpty else {
                pairs.append((name, pair.value))
                continue
            }
            if depth < LogValue.maximumDepth {
                append(values, prefix: String(Self.prefix(of: name, bytes: longestPath)), depth: depth + 1, to: &pairs)
            } else {
                pairs.append((name, .string(LogValue.tooDeep)))
            }
        }
    }

    /// A value as text: numbers, Booleans and arrays as in JSON.
    static func text(of value: LogValue) -> String {
        switch value {
        case .string(let text): return text
        case .double(let number): return String(number)
        case .data(let data): return data.base64EncodedString()
        case .date(let date): return TimestampText.text(of: date)
        default:
            var text = JSONText()
            text.value(value)
            return text.string
        }
    }

    /// A name with every character replaced by `_` except ASCII letters, digits, and `signs`.
    static func name(_ name: String, allowing signs: String, maximum: Int = .max) -> String {
        let fits = { (byte: UInt8) in byte.isAlphanumeric || signs.utf8.contains(byte) }
        if name.utf8.count <= maximum, name.utf8.allSatisfy(fits) { return name }
        let scalars = name.unicodeScalars.prefix(maximum).map { scalar in
            scalar.isASCII && fits(UInt8(truncatingIfNeeded: scalar.value)) ? Character(scalar) : "_"
        }
        return String(scalars)
    }

    /// The beginning of a text, at most `limit` bytes, cut between characters.
    static func prefix(of text: String, bytes limit: Int) -> Substring {
        guard text.utf8.count > limit else { return text[...] }
        var end = text.utf8.index(text.startIndex, offsetBy: max(0, limit))
        while end > text.startIndex, end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return text[..<end]
    }
}

/// Makes the names of a record's values unique, for receivers that treat different names as equal or reserve some names.
///
/// A name that is taken gets up to eight trailing underscores; further ones get a number. A record grows by a few bytes per name, and no
/// name is tried more often than there are names: it takes linear time for any names.
struct UniqueNames: Sendable {
    private static let underscores = 8
    /// The maximum number of bytes that a number adds.
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

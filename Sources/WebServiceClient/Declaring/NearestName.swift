/// Finds the name that was probably intended instead of a name that doesn't exist, by edit distance.
package enum NearestName {
    /// Returns the candidate that differs least; `nil` if no candidate is close.
    package static func of(_ name: String, among candidates: some Sequence<String>) -> String? {
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(name.lowercased(), candidate.lowercased())
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        guard let best, best.distance <= max(2, max(name.count, best.name.count) / 3) else { return nil }
        return best.name
    }

    /// Returns the number of insertions, deletions and replacements that lead from one text to the other (Levenshtein). Names over 200
    /// characters are cut.
    private static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.unicodeScalars.prefix(200))
        let right = Array(right.unicodeScalars.prefix(200))
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let replaced = diagonal + (a == b ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[right.count]
    }
}

/// Searches a text for secrets: in one pass, then once more in each form that the text decodes to.
///
/// The work is bounded whatever the text is: every step goes on from where the last one ended, looks back or ahead by a fixed number of
/// bytes, and the decoded forms share a budget that is a multiple of the text's length.
struct SecretSearch {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    let rules: SecretRules
    /// How many bytes may still be looked at.
    private var budget: Int

    /// How often a text is unescaped again.
    private static let escapes = 3
    /// How deep Base64 is looked into.
    private static let encodings = 2
    /// No run that is shorter, encoded or not, holds a secret that is known by its form.
    static let shortestRun = 12

    /// - Parameter size: the bytes of the text.
    init(rules: SecretRules, size: Int) {
        self.rules = rules
        budget = 4_096 + 64 * size
    }

    /// The ranges of the secrets in a text, in no order.
    mutating func secrets(in bytes: Bytes) -> [Range<Int>] {
        secrets(in: bytes, escapes: Self.escapes, encodings: Self.encodings)
    }

    private mutating func secrets(in bytes: Bytes, escapes: Int, encodings: Int) -> [Range<Int>] {
        budget -= bytes.count
        var scanner = SecretScanner(bytes, rules)
        scanner.scan()
        var found = scanner.found
        if scanner.hasEscapes, escapes > 0 {
            let decoded = EscapedText.decoded(bytes)
            let inner = decoded.withUnsafeBufferPointer { secrets(in: $0, escapes: escapes - 1, encodings: encodings) }
            found += EscapedText.ranges(inner, in: bytes)
        }
        guard encodings > 0 else { return found }
        for run in scanner.runs {
            // Rather hide a text than search without end.
            if budget <= 0 || isSecret(run, in: bytes, encodings: encodings) { found.append(run) }
        }
        return found
    }

    /// Whether a run of Base64's digits holds a secret, wherever in the run the encoding begins.
    private mutating func isSecret(_ run: Range<Int>, in bytes: Bytes, encodings: Int) -> Bool {
        for start in run.lowerBound..<min(run.lowerBound + 4, run.upperBound) {
            budget -= run.count
            let decoded = Base64Run.decoded(start..<run.upperBound, of: bytes)
            guard Base64Run.hasText(decoded) else { continue }
            let inner = decoded.withUnsafeBufferPointer { secrets(in: $0, escapes: 1, encodings: encodings - 1) }
            if !inner.isEmpty { return true }
        }
        return false
    }
}

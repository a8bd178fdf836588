/// The names and forms by which secrets are recognized, for errors, descriptions, curl commands and logs.
///
/// A search takes time linear in the length of the text, for any text.
package struct SecretRules: Sendable {
    /// The standard names and forms.
    package static let standard = SecretRules(
        names: SecretNames(), forms: [.namedValues, .urlUserInfo, .bearerTokens, .webTokens, .serviceKeys, .pemBlocks, .cardNumbers])

    /// A class, because each search copies the rules.
    private final class Box: Sendable {
        let names: SecretNames?
        let forms: SecretForms
        let prefixes: TokenPrefixes

        init(names: SecretNames?, forms: SecretForms, prefixes: TokenPrefixes) {
            self.names = names
            self.forms = forms
            self.prefixes = prefixes
        }
    }

    private let box: Box

    /// The names; `nil` for none.
    package var names: SecretNames? { box.names }
    /// The forms.
    package var forms: SecretForms { box.forms }
    var prefixes: TokenPrefixes { box.prefixes }

    /// Creates rules.
    ///
    /// - Parameter prefixes: Token prefixes in addition to those of the forms.
    package init(names: SecretNames?, forms: SecretForms, prefixes: [TokenPrefix] = []) {
        let known = forms.contains(.serviceKeys) ? TokenPrefix.known : []
        box = Box(names: names, forms: forms, prefixes: TokenPrefixes(prefixes + known))
    }

    /// Whether the value of a name is masked.
    ///
    /// - Parameter isParameter: Whether the name is a query item or metadata. More names are secret there.
    package func hides(_ name: String, isParameter: Bool = true) -> Bool {
        guard let names else { return false }
        return name.withBytes { names.hides($0, isParameter: isParameter) }
    }

    /// Returns the text with its secrets masked.
    package func masked(_ text: String) -> String {
        replacement(of: text) ?? text
    }

    /// The length of the shortest text in which a secret can be recognized.
    private static let shortest = 6

    /// Returns the masked text; `nil` if there is nothing to mask.
    ///
    /// - Parameter ranges: Additional UTF-8 byte ranges to mask.
    package func replacement(of text: String, adding ranges: [Range<Int>] = []) -> String? {
        guard text.utf8.count >= Self.shortest || !ranges.isEmpty else { return nil }
        return text.withBytes { bytes in
            var search = SecretSearch(rules: self, size: bytes.count)
            let found = search.secrets(in: bytes) + ranges
            return found.isEmpty ? nil : Self.text(of: bytes, masking: found)
        }
    }

    /// Returns the secrets in a text, as written there.
    package func secrets(in text: String) -> [String] {
        text.withBytes { bytes in
            var search = SecretSearch(rules: self, size: bytes.count)
            return search.secrets(in: bytes).merged().map { String(decoding: bytes[$0], as: UTF8.self) }
        }
    }

    /// Returns a text with the given byte ranges masked.
    package static func text(of bytes: UnsafeBufferPointer<UInt8>, masking ranges: [Range<Int>]) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 16)
        var end = 0
        for range in ranges.merged() {
            result.append(contentsOf: bytes[end..<range.lowerBound])
            result.append(contentsOf: SecretMask.mask.utf8)
            end = range.upperBound
        }
        result.append(contentsOf: bytes[end...])
        return String(decoding: result, as: UTF8.self)
    }
}

/// The forms that ``SecretSearch`` recognizes.
package struct SecretForms: OptionSet, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let namedValues = Self(rawValue: 1)
    package static let urlUserInfo = Self(rawValue: 2)
    package static let bearerTokens = Self(rawValue: 4)
    package static let webTokens = Self(rawValue: 8)
    package static let serviceKeys = Self(rawValue: 16)
    package static let pemBlocks = Self(rawValue: 32)
    package static let cardNumbers = Self(rawValue: 64)
    package static let emailAddresses = Self(rawValue: 128)
}

/// Searches a text for secrets in one pass, then in each decoded form of the text.
///
/// The work is bounded for any text: every step continues where the last one ended and looks back or ahead by a fixed number of bytes, and
/// the decoded forms share a budget that is a multiple of the text's length.
struct SecretSearch {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    let rules: SecretRules
    /// The number of bytes that may still be examined.
    private var budget: Int

    /// The number of nested escapes that are decoded.
    private static let escapes = 3
    /// The number of nested Base64 encodings that are decoded.
    private static let encodings = 2
    /// The length of the shortest run, encoded or not, that can contain a secret of a known form.
    static let shortestRun = 12

    /// - Parameter size: The size of the text in bytes.
    init(rules: SecretRules, size: Int) {
        self.rules = rules
        budget = 4_096 + 64 * size
    }

    /// Returns the ranges of the secrets in a text, in any order.
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
            // If the budget is used up, masks the run without searching it.
            if budget <= 0 || isSecret(run, in: bytes, encodings: encodings) { found.append(run) }
        }
        return found
    }

    /// Whether a run of Base64 digits contains a secret, at any of the four possible alignments.
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

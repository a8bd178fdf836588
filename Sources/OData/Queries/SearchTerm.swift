/// A `$search` expression (URL Conventions, section 5.1.8). The service defines what matches.
///
/// Terms nest at most 256 levels deep, more than the printer accepts; deeper terms can't be sent. Chains of one operator, `a || b || c`,
/// count as one level, regardless of their length.
public struct SearchTerm: Sendable, Hashable {
    /// The kinds of terms.
    public indirect enum Kind: Sendable, Hashable {
        /// Words that must all match.
        case words(String)
        /// Words in this order.
        case phrase(String)
        /// Terms that must all match; at least two.
        case and([SearchTerm])
        /// Alternative terms; at least two.
        case or([SearchTerm])
        /// A term that must not match.
        case not(SearchTerm)
        /// Text as a person typed it, not an expression: `'…'`. Version 4.01; requires a newer service.
        case text(String)
        /// Text in OData syntax, not percent-encoded.
        case raw(String)
        /// A term that can't be sent, and the reason: printing it throws this error.
        case invalid(ODataQueryError)
    }

    /// The maximum number of levels.
    private static let heightLimit = 256

    /// The kind of the term.
    public let kind: Kind
    /// The number of levels, including this one.
    package let height: Int

    /// Creates a term of a kind.
    public init(_ kind: Kind) {
        let inner =
            switch kind {
            case .and(let terms), .or(let terms): terms.reduce(0) { max($0, $1.height) }
            case .not(let term): term.height
            case .words, .phrase, .text, .raw, .invalid: 0
            }
        let isTooDeep = inner >= Self.heightLimit
        self.kind = isTooDeep ? .invalid(.tooDeep(limit: Nesting.queryLimit)) : kind
        height = isTooDeep ? 1 : inner + 1
    }

    /// Matches all these words.
    public static func words(_ words: String) -> SearchTerm { SearchTerm(.words(words)) }

    /// Matches these words in this order.
    public static func phrase(_ phrase: String) -> SearchTerm { SearchTerm(.phrase(phrase)) }

    /// Matches text as a person typed it, not an expression: `'…'`. Version 4.01; requires a newer service.
    public static func text(_ text: String) -> SearchTerm { SearchTerm(.text(text)) }

    /// Returns a term in OData syntax, not percent-encoded.
    public static func raw(_ text: String) -> SearchTerm { SearchTerm(.raw(text)) }

    /// Matches both terms.
    public static func and(_ left: SearchTerm, _ right: SearchTerm) -> SearchTerm { all([left, right]) }

    /// Matches one of the terms.
    public static func or(_ left: SearchTerm, _ right: SearchTerm) -> SearchTerm { any([left, right]) }

    /// Matches if the term doesn't.
    public static func not(_ term: SearchTerm) -> SearchTerm { SearchTerm(.not(term)) }

    /// Matches both terms.
    public static func && (left: SearchTerm, right: SearchTerm) -> SearchTerm { .and(left, right) }

    /// Matches one of the terms.
    public static func || (left: SearchTerm, right: SearchTerm) -> SearchTerm { .or(left, right) }

    /// Matches if the term doesn't.
    public static prefix func ! (operand: SearchTerm) -> SearchTerm { .not(operand) }

    /// Returns a conjunction of at least one term, which extends the first term if that is a conjunction.
    package static func all(_ terms: [SearchTerm]) -> SearchTerm {
        guard terms.count > 1 else { return terms.first ?? .words("") }
        if case .and(let first) = terms[0].kind { return SearchTerm(.and(first + terms.dropFirst())) }
        return SearchTerm(.and(terms))
    }

    /// Returns a disjunction of at least one term, which extends the first term if that is a disjunction.
    package static func any(_ terms: [SearchTerm]) -> SearchTerm {
        guard terms.count > 1 else { return terms.first ?? .words("") }
        if case .or(let first) = terms[0].kind { return SearchTerm(.or(first + terms.dropFirst())) }
        return SearchTerm(.or(terms))
    }
}

extension SearchTerm: ExpressibleByStringLiteral {
    /// Creates a term that matches all these words.
    public init(stringLiteral value: String) {
        self = .words(value)
    }
}

extension SearchTerm {
    /// Returns whether a word needs no quotes: ASCII letters and digits, and not an operator.
    package static func isPlain(_ word: some StringProtocol) -> Bool {
        word.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) } && !["AND", "OR", "NOT"].contains(word)
    }
}

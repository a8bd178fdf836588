/// `$search` as an expression (URL Conventions, section 5.1.8). What matches is the service's own business.
///
/// Terms nest 256 levels deep at most, more than is ever printed; what would be deeper can't be sent. Chains of one operator,
/// `a || b || c`, are one level, however long they are.
public struct SearchTerm: Sendable, Hashable {
    /// What a term is.
    public indirect enum Kind: Sendable, Hashable {
        /// Words, all of which must match.
        case words(String)
        /// Words in this order.
        case phrase(String)
        /// All must match; at least two.
        case and([SearchTerm])
        /// One of them must match; at least two.
        case or([SearchTerm])
        /// It must not match.
        case not(SearchTerm)
        /// Text as somebody typed it, not an expression: `'…'`. Version 4.01, as later services read it.
        case text(String)
        /// Text in OData's own spelling, not percent-encoded.
        case raw(String)
        /// What can't be sent, and why: printing it throws this error.
        case invalid(ODataQueryError)
    }

    /// How many levels there are at most.
    private static let heightLimit = 256

    /// What the term is.
    public let kind: Kind
    /// How many levels there are, this one included.
    let height: Int

    /// A term of a kind.
    public init(_ kind: Kind) {
        let inner =
            switch kind {
            case .and(let terms), .or(let terms): terms.reduce(0) { max($0, $1.height) }
            case .not(let term): term.height
            case .words, .phrase, .text, .raw, .invalid: 0
            }
        let isTooDeep = inner >= Self.heightLimit
        self.kind = isTooDeep ? .invalid(.tooDeep(limit: QueryPrinter.depthLimit)) : kind
        height = isTooDeep ? 1 : inner + 1
    }

    /// Words, all of which must match.
    public static func words(_ words: String) -> SearchTerm { SearchTerm(.words(words)) }

    /// Words in this order.
    public static func phrase(_ phrase: String) -> SearchTerm { SearchTerm(.phrase(phrase)) }

    /// Text as somebody typed it, not an expression: `'…'`. Version 4.01, as later services read it.
    public static func text(_ text: String) -> SearchTerm { SearchTerm(.text(text)) }

    /// Text in OData's own spelling, not percent-encoded.
    public static func raw(_ text: String) -> SearchTerm { SearchTerm(.raw(text)) }

    /// Both must match.
    public static func and(_ left: SearchTerm, _ right: SearchTerm) -> SearchTerm { all([left, right]) }

    /// One of them must match.
    public static func or(_ left: SearchTerm, _ right: SearchTerm) -> SearchTerm { any([left, right]) }

    /// It must not match.
    public static func not(_ term: SearchTerm) -> SearchTerm { SearchTerm(.not(term)) }

    /// Both must match.
    public static func && (left: SearchTerm, right: SearchTerm) -> SearchTerm { .and(left, right) }

    /// One of them must match.
    public static func || (left: SearchTerm, right: SearchTerm) -> SearchTerm { .or(left, right) }

    /// It must not match.
    public static prefix func ! (operand: SearchTerm) -> SearchTerm { .not(operand) }

    /// A chain of at least one term, which goes on where the first one is a chain already.
    static func all(_ terms: [SearchTerm]) -> SearchTerm {
        guard terms.count > 1 else { return terms.first ?? .words("") }
        if case .and(let first) = terms[0].kind { return SearchTerm(.and(first + terms.dropFirst())) }
        return SearchTerm(.and(terms))
    }

    /// The same of terms one of which must match.
    static func any(_ terms: [SearchTerm]) -> SearchTerm {
        guard terms.count > 1 else { return terms.first ?? .words("") }
        if case .or(let first) = terms[0].kind { return SearchTerm(.or(first + terms.dropFirst())) }
        return SearchTerm(.or(terms))
    }
}

extension SearchTerm: ExpressibleByStringLiteral {
    /// Words, all of which must match.
    public init(stringLiteral value: String) {
        self = .words(value)
    }
}

extension SearchTerm {
    /// Whether a word can stand without quotes: ASCII letters and digits, and no operator.
    static func isPlain(_ word: some StringProtocol) -> Bool {
        word.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) } && !["AND", "OR", "NOT"].contains(word)
    }
}

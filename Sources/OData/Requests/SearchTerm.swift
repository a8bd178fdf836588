/// `$search` as an expression (URL Conventions, section 5.1.8). What matches is the service's own business.
public indirect enum SearchTerm: Sendable, Hashable {
    /// Words, all of which must match.
    case words(String)
    /// Words in this order.
    case phrase(String)
    /// Both must match.
    case and(SearchTerm, SearchTerm)
    /// One of them must match.
    case or(SearchTerm, SearchTerm)
    /// It must not match.
    case not(SearchTerm)
    /// Text as somebody typed it, not an expression: `'…'`. Version 4.01, as later services read it.
    case text(String)
    /// Text in OData's own spelling, not percent-encoded.
    case raw(String)

    /// Both must match.
    public static func && (left: SearchTerm, right: SearchTerm) -> SearchTerm {
        .and(left, right)
    }

    /// One of them must match.
    public static func || (left: SearchTerm, right: SearchTerm) -> SearchTerm {
        .or(left, right)
    }

    /// It must not match.
    public static prefix func ! (operand: SearchTerm) -> SearchTerm {
        .not(operand)
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

public import WebServiceClient

/// Why a text isn't a query: where, and what was expected there.
public struct QueryParsingError: DescribedError, Sendable, Hashable {
    /// The zero-based position in the text's UTF-8 bytes.
    public let position: Int
    /// What was expected there, such as `')'` or `an expression`.
    public let expected: String
    /// What was found there, shortened; empty at the end.
    public let found: String

    /// A sentence for people.
    public var description: String {
        let what = found.isEmpty ? "the end" : "'\(found)'"
        return VisibleText.of("At position \(position) of the query \(expected) was expected, not \(what).")
    }
}

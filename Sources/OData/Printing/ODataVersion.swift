/// A version of the protocol that queries can be written for.
public enum ODataVersion: String, Sendable, Hashable, CaseIterable, Comparable {
    /// OData 2.0: literals with prefixes and suffixes, `substringof`, `$inlinecount`; no lambdas, no nested options.
    case v2 = "2.0"
    /// OData 4.0: lists of values become chains of `or`.
    case v4 = "4.0"
    /// OData 4.01: adds `in`, `divby`, `case`, `$compute` and much else.
    case v401 = "4.01"

    private var order: Int {
        switch self {
        case .v2: 0
        case .v4: 1
        case .v401: 2
        }
    }

    /// Whether the left version is the older one.
    public static func < (left: ODataVersion, right: ODataVersion) -> Bool {
        left.order < right.order
    }
}

/// A version of the OData protocol.
public enum ODataVersion: String, Sendable, Hashable, CaseIterable, Comparable {
    /// OData 2.0: literals with prefixes and suffixes, `substringof`, `$inlinecount`; no lambdas or nested options.
    case v2 = "2.0"
    /// OData 4.0: lists of values are written as chains of `or`.
    case v4 = "4.0"
    /// OData 4.01: adds `in`, `divby`, `case`, `$compute` and others.
    case v401 = "4.01"

    private var order: Int {
        switch self {
        case .v2: 0
        case .v4: 1
        case .v401: 2
        }
    }

    /// Returns whether the left version is older.
    public static func < (left: ODataVersion, right: ODataVersion) -> Bool {
        left.order < right.order
    }
}

/// A version of the protocol that queries can be written for.
public enum ODataVersion: String, Sendable, Hashable, CaseIterable, Comparable {
    /// OData 4.0: lists of values become chains of `or`.
    case v4 = "4.0"
    /// OData 4.01: adds `in` and `divby`.
    case v401 = "4.01"

    /// Whether the left version is the older one.
    public static func < (left: ODataVersion, right: ODataVersion) -> Bool {
        left == .v4 && right == .v401
    }
}

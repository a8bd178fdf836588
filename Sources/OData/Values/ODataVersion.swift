import Foundation

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

/// A version as spelled in headers: `4.01`, `2.0;`, `4.0;NetFx`.
struct ProtocolVersion: Comparable {
    let major: Int
    let minor: Int

    static let latestKnown = ProtocolVersion(major: 4, minor: 1)

    private init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    init?(_ text: String) {
        let parts = text.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let major = Int(parts[0]), let minor = Int(parts[1]) else { return nil }
        self.major = major
        self.minor = minor
    }

    static func < (left: ProtocolVersion, right: ProtocolVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }
}

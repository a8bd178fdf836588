/// A version of TLS that a service may be asked for. What is older than 1.2 isn't secure (RFC 8996) and can't be asked for.
public enum TLSVersion: Int, Sendable, Hashable, Comparable, CaseIterable, CustomStringConvertible {
    /// TLS 1.2 (RFC 5246).
    case tlsv12 = 12
    /// TLS 1.3 (RFC 8446).
    case tlsv13 = 13

    /// Whether a version is older than another.
    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }

    /// The version's name, such as `TLS 1.2`.
    public var description: String {
        switch self {
        case .tlsv12: "TLS 1.2"
        case .tlsv13: "TLS 1.3"
        }
    }
}

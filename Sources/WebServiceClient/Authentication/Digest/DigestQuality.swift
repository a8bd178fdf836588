/// What a digest protects (RFC 7616 §3.3, `qop`).
enum DigestQuality: String, Hashable, Sendable {
    /// The method and the target.
    case authentication = "auth"

    /// The body as well.
    case integrity = "auth-int"
}

/// libcurl's own result, as the cause of a ``TransportError``.
public struct CurlError: DescribedError, Sendable, Hashable {
    /// libcurl's number (`CURLcode`).
    public let code: Int
    /// What libcurl says, without secrets.
    public let text: String

    /// Number and text.
    public var description: String { "libcurl \(code): \(text)" }
}

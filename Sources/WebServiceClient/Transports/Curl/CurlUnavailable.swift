/// The system's libcurl can't be used.
public struct CurlUnavailable: DescribedError, Sendable {
    /// Why, and what to do.
    public let reason: String

    /// The reason, with the way out.
    public var description: String {
        "The transport on libcurl can't be used: \(reason). URLSessionTransport works without it."
    }
}

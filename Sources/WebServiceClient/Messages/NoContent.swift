/// The value of a response whose body doesn't matter: `ServiceResponse<NoContent>`.
public struct NoContent: Sendable, Hashable, Codable {
    /// The only value.
    public init() {}

    /// Reads nothing.
    public init(from decoder: any Decoder) {}

    /// Writes an empty object.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: NoKeys.self)
    }

    private enum NoKeys: CodingKey {}
}

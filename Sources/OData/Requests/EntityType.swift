/// A type of entities that knows its entity set, so that requests needn't name it.
public protocol EntityType: Decodable, Sendable {
    /// The entity set's name in the service, such as `People`.
    static var entitySetName: String { get }
}

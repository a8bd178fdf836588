/// An argument that can't go where the table puts it.
public struct ArgumentError: DescribedError, Sendable {
    /// The argument, as messages name it: by its label or its position.
    public let argument: String
    /// Where it should have gone, such as `the path`.
    public let place: String
    /// What is wrong and what to do. The value itself isn't told: it may be a secret.
    public let reason: String

    /// Argument, place and reason as a sentence.
    public var description: String { "The \(argument) can't go into \(place): \(reason)" }
}

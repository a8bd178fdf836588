public import WebServiceClient

/// An error of an assertion of this module: a sentence with the expected and the actual value.
///
/// Every test framework reports a thrown error as a failure, so the module depends on none of them.
public struct TestingFailure: DescribedError, Sendable, Hashable {
    /// The sentence, with secrets masked.
    public let description: String

    /// Makes a failure with a description.
    public init(_ description: String) {
        self.description = description
    }
}

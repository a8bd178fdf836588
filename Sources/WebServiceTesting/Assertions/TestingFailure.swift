public import WebServiceClient

/// What an assertion of this module throws: a sentence that says what was expected and what was found.
///
/// Every test framework reports a thrown error as a failure, so the module needs none of them.
public struct TestingFailure: DescribedError, Sendable, Hashable {
    /// The sentence, with secrets masked.
    public let description: String

    /// Makes a failure that says `description`.
    public init(_ description: String) {
        self.description = description
    }
}

/// Why a certificate, or the identity that goes with one, can't be read.
public struct CertificateError: DescribedError, Sendable, Hashable {
    /// What is wrong and what to do.
    public let message: String

    /// An error with that message.
    public init(message: String) {
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

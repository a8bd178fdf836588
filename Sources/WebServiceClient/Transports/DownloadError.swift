/// Why a body could not be written to a file.
public struct DownloadError: DescribedError, Sendable {
    /// What is wrong and what to do.
    public let message: String
    /// Whether the destination was there already, and was not to be replaced.
    public let destinationExists: Bool

    /// An error with that message.
    public init(message: String, destinationExists: Bool = false) {
        self.message = message
        self.destinationExists = destinationExists
    }

    /// The message.
    public var description: String { message }
}

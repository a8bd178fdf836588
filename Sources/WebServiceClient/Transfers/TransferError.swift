import Foundation
public import HTTPTransport

/// An error of a transfer. Errors of its individual requests are ``ServiceError``s.
public struct TransferError: DescribedError, Sendable {
    /// The kind of failure, an open set.
    public struct Reason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind.
        public let rawValue: String
        /// Creates a kind from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the kind.
        public var description: String { rawValue }

        /// The call, its options or its file can't be used for a transfer.
        public static let unusable = Self(rawValue: "unusable")
        /// The destination exists and must not be replaced.
        public static let destinationExists = Self(rawValue: "destinationExists")
        /// Another transfer, possibly of another process, uses the same file.
        public static let locked = Self(rawValue: "locked")
        /// A file can't be read or written: the disk is full, or the permissions are missing.
        public static let storage = Self(rawValue: "storage")
        /// The transfer was interrupted, and the retry policy allows no more attempts.
        public static let interrupted = Self(rawValue: "interrupted")
        /// The server's response contradicts the protocol or earlier responses.
        public static let invalidAnswer = Self(rawValue: "invalidAnswer")
        /// The bytes don't have the expected checksum.
        public static let checksum = Self(rawValue: "checksum")
        /// The file to upload has changed since the upload began.
        public static let sourceChanged = Self(rawValue: "sourceChanged")
        /// It is unknown whether the server has the whole file: all bytes were sent, and the final response was lost.
        public static let unknownOutcome = Self(rawValue: "unknownOutcome")
    }

    /// The kind of failure.
    public let reason: Reason
    /// A sentence that describes the failure and the fix, without secrets.
    public let message: String

    /// Creates an error of a kind.
    public init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = VisibleText.of(message)
    }

    /// The message.
    public var description: String { message }
}

/// Why credentials could not be sent, or why a response was not accepted. Never holds a user's name, a password or a token.
public struct AuthenticationError: DescribedError, Hashable, Sendable {
    /// What sort of failure it is, an open set.
    public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The kind's name.
        public let rawValue: String
        /// A kind of that name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The kind's name.
        public var description: String { rawValue }

        /// The user's name holds characters that the scheme can't carry.
        public static let unusableUserName = Self(rawValue: "unusableUserName")
        /// The password holds characters that the scheme can't carry.
        public static let unusablePassword = Self(rawValue: "unusablePassword")
        /// A token, or the value of another header, holds characters that a header can't carry.
        public static let unusableToken = Self(rawValue: "unusableToken")
        /// The provider changed the request's URL to another origin.
        public static let otherOrigin = Self(rawValue: "otherOrigin")
        /// The server wants the request's body to be signed or sent again, and the body can be read only once.
        public static let bodyNotReplayable = Self(rawValue: "bodyNotReplayable")
        /// The server failed to prove that it knows the password (RFC 7616 §3.5, `rspauth`).
        public static let serverNotProven = Self(rawValue: "serverNotProven")
        /// The server offers Digest with weaker hashes only than the provider takes (RFC 7616 §5.10).
        public static let weakAlgorithm = Self(rawValue: "weakAlgorithm")
        /// The response's body is larger than what may be held in memory to check it.
        public static let responseTooLarge = Self(rawValue: "responseTooLarge")
    }

    /// What sort of failure it is.
    public let kind: Kind

    /// A sentence that names the offender and the fix.
    public let message: String

    /// An error of a kind; providers outside the library make their own.
    public init(_ kind: Kind, message: String) {
        self.kind = kind
        self.message = VisibleText.of(message)
    }

    /// The message.
    public var description: String { message }
}

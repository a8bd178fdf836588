// The settings of a cassette: which requests it sends, which parts it compares, and when recordings expire.
extension Cassette {
    /// Whether a cassette sends requests and records them.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// If the file doesn't exist, all requests are sent and recorded; otherwise no request is.
        case once
        /// Requests that fit no recording of the file are sent and recorded.
        case new
        /// No request is sent.
        case none
        /// All requests are sent and recorded, in place of the recordings that they fit.
        case all
    }

    /// The parts that must be equal in a request and a recording. The method is always compared; header fields never are.
    public struct Matching: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: Int

        /// Makes a set from its bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The key of the endpoint. A recording without a key, such as a browser's, fits every key.
        public static let key = Self(rawValue: 1)
        /// Scheme, host and port.
        public static let origin = Self(rawValue: 2)
        /// The path, percent-decoded.
        public static let path = Self(rawValue: 4)
        /// The items of the query, percent-decoded. Only items of the same name must be in the same order.
        public static let query = Self(rawValue: 8)
        /// The body: JSON regardless of the order of members, forms as queries, multipart forms regardless of their boundary, and other
        /// bodies byte by byte. A compressed body isn't recorded, so it fits every body.
        public static let body = Self(rawValue: 16)

        /// Everything except the origin.
        public static let standard: Self = [.key, .path, .query, .body]
    }

    /// The age at which recordings expire, and the action then.
    public struct Expiry: Sendable, Hashable {
        /// The action if a request fits an expired recording.
        public enum Action: String, Sendable, Hashable, CaseIterable {
            /// The recording answers, and ``Cassette/warnings`` contains a sentence about it.
            case warn
            /// The request is sent and recorded again. In the mode ``Cassette/Mode/none``, it fails.
            case recordAgain
            /// The request fails with a ``TestingFailure``.
            case fail
        }

        /// The age; `nil` if recordings don't expire.
        public let age: Duration?
        /// The action.
        public let action: Action

        /// Recordings don't expire.
        public static let never = Expiry(age: nil, action: .warn)

        /// Recordings expire after a number of days.
        public static func days(_ days: Int, then action: Action) -> Expiry {
            // A century bounds the multiplication.
            after(.seconds(86_400 * min(max(days, 0), 36_500)), then: action)
        }

        /// Recordings expire after a duration.
        public static func after(_ age: Duration, then action: Action) -> Expiry {
            Expiry(age: age, action: action)
        }
    }
}

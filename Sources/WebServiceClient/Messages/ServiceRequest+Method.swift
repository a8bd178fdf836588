extension ServiceRequest {
    /// The method of a request (RFC 9110 §9), an open set: any token is one.
    public struct Method: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The method as it is written on the wire. Methods are case-sensitive.
        public let rawValue: String

        /// A method of that name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A method from a literal.
        public init(stringLiteral value: String) {
            rawValue = value
        }

        /// The method as it is written.
        public var description: String { rawValue }

        /// `GET` (RFC 9110 §9.3.1).
        public static let get: Self = "GET"
        /// `HEAD` (RFC 9110 §9.3.2).
        public static let head: Self = "HEAD"
        /// `POST` (RFC 9110 §9.3.3).
        public static let post: Self = "POST"
        /// `PUT` (RFC 9110 §9.3.4).
        public static let put: Self = "PUT"
        /// `PATCH` (RFC 5789).
        public static let patch: Self = "PATCH"
        /// `DELETE` (RFC 9110 §9.3.5).
        public static let delete: Self = "DELETE"
        /// `OPTIONS` (RFC 9110 §9.3.7).
        public static let options: Self = "OPTIONS"

        /// Whether the method only reads (RFC 9110 §9.2.1).
        public var isSafe: Bool {
            self == .get || self == .head || self == .options || self == "TRACE"
        }

        /// Whether sending the request twice has the effect of sending it once (RFC 9110 §9.2.2).
        public var isIdempotent: Bool {
            isSafe || self == .put || self == .delete
        }

        /// Whether a request of this method carries a body as a rule: POST, PUT and PATCH.
        public var usuallyHasBody: Bool {
            self == .post || self == .put || self == .patch
        }

        /// The method of RFC 9110 or RFC 5789 that is meant by a name in whatever case; `nil` for others, whose case is their own.
        var knownSpelling: Self? {
            let known: [Self] = [.get, .head, .post, .put, .patch, .delete, .options, "TRACE", "CONNECT"]
            let name = rawValue.uppercased()
            return known.first { $0.rawValue == name }
        }

        /// Whether the name is a token (RFC 9110 §9.1).
        public var isValid: Bool {
            HTTPFields.Name.isToken(rawValue)
        }
    }
}

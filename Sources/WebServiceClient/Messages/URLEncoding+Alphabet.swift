extension URLEncoding {
    /// The set of bytes that may stand raw in some place of a URL: 128 bits, one for each ASCII character.
    ///
    /// Bytes above 127 are never in it, so whatever is encoded with an alphabet is ASCII.
    public struct Alphabet: Hashable, Sendable {
        private let low: UInt64
        private let high: UInt64

        private init(low: UInt64, high: UInt64) {
            self.low = low
            self.high = high
        }

        /// The ASCII characters of the string; characters beyond ASCII are left out, as no URL may hold them raw.
        public init(_ characters: String) {
            var low: UInt64 = 0
            var high: UInt64 = 0
            for byte in characters.utf8 where byte < 128 {
                if byte < 64 {
                    low |= 1 &<< UInt64(byte)
                } else {
                    high |= 1 &<< UInt64(byte & 63)
                }
            }
            self.init(low: low, high: high)
        }

        /// Whether the byte may stand raw.
        public func contains(_ byte: UInt8) -> Bool {
            byte < 128 && (half(byte) &>> UInt64(byte & 63)) & 1 == 1
        }

        private func half(_ byte: UInt8) -> UInt64 { byte < 64 ? low : high }

        /// What either of the two alphabets holds.
        public func union(_ other: Alphabet) -> Alphabet {
            Alphabet(low: low | other.low, high: high | other.high)
        }
    }
}

extension URLEncoding.Alphabet {
    /// Nothing: every byte is encoded.
    static let nothing = Self("")

    static let alphanumeric = Self("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    /// Letters, digits and `-._~` (RFC 3986 section 2.3): what means itself everywhere, and all that a template's value keeps raw.
    public static let unreserved = alphanumeric.union(Self("-._~"))

    /// `!$&'()*+,;=` (RFC 3986 section 2.2).
    public static let subDelimiters = Self("!$&'()*+,;=")

    /// All delimiters (RFC 3986 section 2.2).
    public static let reserved = subDelimiters.union(Self(":/?#[]@"))

    /// What RFC 3986 section 3.3 lets stand in one path segment (`pchar`).
    public static let pathSegment = unreserved.union(subDelimiters).union(Self(":@"))

    /// What may stand in a path: segments and slashes.
    public static let path = pathSegment.union(Self("/"))

    /// What RFC 3986 section 3.4 lets stand in a query, its delimiters `&`, `=` and `+` among them.
    public static let query = pathSegment.union(Self("/?"))

    /// What RFC 3986 section 3.5 lets stand in a fragment.
    public static let fragment = query

    /// What may stand in the user information before a host (RFC 3986 section 3.2.1).
    public static let userInformation = unreserved.union(subDelimiters).union(Self(":"))

    /// What may stand in a registered host name (RFC 3986 section 3.2.2).
    public static let hostName = unreserved.union(subDelimiters)

    /// What `application/x-www-form-urlencoded` keeps raw; the blank, which becomes `+`, isn't in it (WHATWG URL section 1.3).
    public static let form = alphanumeric.union(Self("*-._"))

    /// What a method or a header's name may hold (`tchar`, RFC 9110 section 5.6.2).
    public static let token = alphanumeric.union(Self("!#$%&'*+-.^_`|~"))
}

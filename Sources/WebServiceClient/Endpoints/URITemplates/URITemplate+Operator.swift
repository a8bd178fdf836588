extension URITemplate {
    /// What an expression's first character asks for: the table of RFC 6570 appendix A, a row each.
    enum Operator: UInt8, Hashable, Sendable, CaseIterable {
        case simple = 0
        case reserved = 0x2B  // +
        case fragment = 0x23  // #
        case label = 0x2E  // .
        case path = 0x2F  // /
        case parameter = 0x3B  // ;
        case query = 0x3F  // ?
        case continuation = 0x26  // &

        /// What stands before the first defined value.
        var first: UInt8? {
            switch self {
            case .simple, .reserved: nil
            default: rawValue
            }
        }

        /// What stands between defined values.
        var separator: UInt8 {
            switch self {
            case .simple, .reserved, .fragment: UInt8(ascii: ",")
            case .label, .path, .parameter: rawValue
            case .query, .continuation: UInt8(ascii: "&")
            }
        }

        /// Whether values are written as `name=value`.
        var isNamed: Bool {
            switch self {
            case .parameter, .query, .continuation: true
            default: false
            }
        }

        /// Whether a name without a value keeps its `=`.
        var keepsEqualsSign: Bool { self != .parameter }

        /// Whether reserved characters and whole `%XX` of a value stand as they are.
        var allowsReserved: Bool { self == .reserved || self == .fragment }
    }

    /// What a literal and a reserved expansion keep raw.
    static let reservedAlphabet = URLEncoding.Alphabet.unreserved.union(.reserved)
}

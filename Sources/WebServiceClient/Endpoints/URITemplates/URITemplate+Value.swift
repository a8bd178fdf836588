extension URITemplate {
    /// What a variable stands for (RFC 6570 section 2.3).
    ///
    /// Literals do: `"text"`, `["a", "b"]`, `["key": "value"]` and `nil`. An undefined value, an empty list and an empty map vanish
    /// alike, with their operator if nothing else is defined in the expression. An empty string is a value.
    public enum Value: Hashable, Sendable {
        /// One text.
        case string(String)
        /// Texts in their order.
        case list([String])
        /// Names and values in their order.
        case associative([Pair])
        /// No value.
        case undefined

        /// Whether the value vanishes from an expansion.
        var isUndefined: Bool {
            switch self {
            case .string: false
            case .list(let members): members.isEmpty
            case .associative(let pairs): pairs.isEmpty
            case .undefined: true
            }
        }

        /// Whether nothing of the value is seen in an expansion without names.
        var isBlank: Bool {
            switch self {
            case .string(let text): text.isEmpty
            case .list(let members): members.allSatisfy(\.isEmpty)
            case .associative(let pairs): pairs.isEmpty
            case .undefined: true
            }
        }

        /// Whether it is, or has, an empty text.
        var hasEmptyText: Bool {
            switch self {
            case .string(let text): text.isEmpty
            case .list(let members): members.contains("")
            case .associative, .undefined: false
            }
        }
    }

    /// A name and its value inside an associative value.
    public struct Pair: Hashable, Sendable {
        /// The name, not encoded.
        public var name: String
        /// The value, not encoded.
        public var value: String

        /// A pair of a name and a value, neither encoded.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }
}

extension URITemplate.Value: ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    /// One text.
    public init(stringLiteral value: String) { self = .string(value) }

    /// A list of texts.
    public init(arrayLiteral elements: String...) { self = .list(elements) }

    /// Names and values in the order of the literal.
    public init(dictionaryLiteral elements: (String, String)...) { self = .associative(elements.map { URITemplate.Pair($0, $1) }) }

    /// No value.
    public init(nilLiteral: ()) { self = .undefined }
}

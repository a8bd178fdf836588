public import Foundation

/// Any value of a JSON payload, for what no Swift type was declared for. Values nest 512 levels deep at most; see ``Elements``.
public enum ODataValue: Sendable, Hashable {
    /// Null.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A whole number that fits.
    case integer(Int64)
    /// Any other number, by its digits.
    case decimal(EdmDecimal)
    /// Text; dates, Guids and so on are texts in JSON.
    case string(String)
    /// A collection.
    case array(Elements)
    /// An entity or complex value.
    case object(DynamicEntity)

    /// The text, if it is one.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The Boolean, if it is one.
    public var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The number, if it is whole and fits, or a text of such a number, which is how some services send `Int64`.
    public var integer: Int64? {
        if case .integer(let value) = self { value } else { number?.integer() }
    }

    /// The number, if it is one that `Decimal` holds, or a text of such a number, which is how some services send `Decimal`.
    public var decimal: Decimal? {
        if case .integer(let value) = self { Decimal(value) } else { number?.decimal }
    }

    /// The number as the nearest `Double`, if it is one, or a text of one: also `INF`, `-INF` and `NaN`.
    public var double: Double? {
        number?.double
    }

    /// The number by its digits, if it is one, or a text of one.
    public var number: EdmDecimal? {
        switch self {
        case .integer(let value): EdmDecimal(value)
        case .decimal(let value): value
        case .string(let text): EdmDecimal(text)
        default: nil
        }
    }

    /// The elements, if it is a collection.
    public var array: [ODataValue]? {
        if case .array(let value) = self { value.list } else { nil }
    }

    /// The properties, if it is an entity or complex value.
    public var object: DynamicEntity? {
        if case .object(let value) = self { value } else { nil }
    }

    /// Whether it is null.
    public var isNull: Bool {
        self == .null
    }

    /// The property of an entity or complex value; `nil` for all else.
    public subscript(_ name: String) -> ODataValue? {
        object?[name]
    }
}

extension ODataValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Text.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// A whole number.
    public init(integerLiteral value: Int64) {
        self = .integer(value)
    }

    /// `true` or `false`.
    public init(booleanLiteral value: Bool) {
        self = .boolean(value)
    }

    /// A collection.
    public init(arrayLiteral elements: ODataValue...) {
        self = .array(elements)
    }

    /// An entity or complex value.
    public init(dictionaryLiteral elements: (String, ODataValue)...) {
        self = .object(DynamicEntity(elements.map { DynamicEntity.Property($0, $1) }))
    }
}

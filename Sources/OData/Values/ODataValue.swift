public import Foundation
import WebServiceClient

/// Any value of a JSON payload, for properties without a declared Swift type. Values nest at most 512 levels deep; see ``Elements``.
public enum ODataValue: Sendable, Hashable {
    /// Null.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A whole number within `Int64`.
    case integer(Int64)
    /// Any other number, with all its digits.
    case decimal(EdmDecimal)
    /// Text; JSON represents dates, Guids and others as text.
    case string(String)
    /// A collection.
    case array(Elements)
    /// An entity or complex value.
    case object(DynamicEntity)

    /// The text if the value is a string.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The Boolean if the value is one.
    public var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The number if it is whole and fits, also from text, because some services send `Int64` as text.
    public var integer: Int64? {
        if case .integer(let value) = self { value } else { number?.integer() }
    }

    /// The number if `Decimal` can hold it, also from text, because some services send `Decimal` as text.
    public var decimal: Decimal? {
        if case .integer(let value) = self { Decimal(value) } else { number?.decimal }
    }

    /// The nearest `Double` of a number or numeric text, including `INF`, `-INF` and `NaN`.
    public var double: Double? {
        number?.double
    }

    /// The number with all its digits, also from text.
    public var number: EdmDecimal? {
        switch self {
        case .integer(let value): EdmDecimal(value)
        case .decimal(let value): value
        case .string(let text): EdmDecimal(text)
        default: nil
        }
    }

    /// The elements if the value is a collection.
    public var array: [ODataValue]? {
        if case .array(let value) = self { value.list } else { nil }
    }

    /// The properties if the value is an entity or complex value.
    public var object: DynamicEntity? {
        if case .object(let value) = self { value } else { nil }
    }

    /// A Boolean value that indicates whether the value is null.
    public var isNull: Bool {
        self == .null
    }

    /// Returns the property of an entity or complex value; `nil` for other values.
    public subscript(_ name: String) -> ODataValue? {
        object?[name]
    }
}

extension ODataValue: PropertySample {
    /// Returns a number, which suffices to distinguish samples.
    public static func propertySample(_ number: Int) -> ODataValue? {
        .integer(Int64(number))
    }
}

extension ODataValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Creates text.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Creates a whole number.
    public init(integerLiteral value: Int64) {
        self = .integer(value)
    }

    /// Creates `true` or `false`.
    public init(booleanLiteral value: Bool) {
        self = .boolean(value)
    }

    /// Creates a collection.
    public init(arrayLiteral elements: ODataValue...) {
        self = .array(elements)
    }

    /// Creates an entity or complex value.
    public init(dictionaryLiteral elements: (String, ODataValue)...) {
        self = .object(DynamicEntity(elements.map { DynamicEntity.Property($0, $1) }))
    }
}

extension ODataValue {
    /// The elements of a collection.
    ///
    /// Values nest at most 512 levels deep, the limit for decoding and encoding. Deeper values are dropped, and encoding a value that
    /// contained one throws an `EncodingError`.
    public struct Elements: Sendable, Hashable, RandomAccessCollection, ExpressibleByArrayLiteral {
        package let list: [ODataValue]
        let nesting: Nesting

        /// Creates the elements of a list.
        public init(_ elements: some Sequence<ODataValue>) {
            var list = Array(elements)
            nesting = Nesting(of: &list)
            self.list = list
        }

        /// Creates the elements of a literal.
        public init(arrayLiteral elements: ODataValue...) {
            self.init(elements)
        }

        fileprivate init(cut: Void) {
            list = []
            nesting = .cut
        }

        /// Zero.
        public var startIndex: Int { 0 }
        /// The number of elements.
        public var endIndex: Int { list.count }
        /// Returns the element at a valid position.
        public subscript(position: Int) -> ODataValue { list[position] }
    }

    /// Returns a collection.
    public static func array(_ elements: [ODataValue]) -> ODataValue {
        .array(Elements(elements))
    }

    /// The maximum nesting depth of arrays and objects, which is that of the JSON reader.
    static let depthLimit = JSONReader.greatestDepth

    /// The replacement for an array that nests too deeply.
    static let cut = ODataValue.array(Elements(cut: ()))

    /// The nesting depth of the value.
    var nesting: Nesting {
        switch self {
        case .array(let elements): elements.nesting
        case .object(let object): object.nesting
        case .null, .boolean, .integer, .decimal, .string: .none
        }
    }

    /// The value if it can be nested in another one, otherwise its replacement.
    var bounded: ODataValue {
        guard nesting.isTooDeep(for: ODataValue.depthLimit) else { return self }
        if case .object = self { return .object(DynamicEntity(cut: ())) }
        return .cut
    }

    /// The reason why the value can't be written; `nil` if it can.
    var refusal: PayloadRefusal? {
        nesting.isCut ? PayloadRefusal(description: "The value nests more than \(ODataValue.depthLimit) levels deep.") : nil
    }
}

extension Nesting {
    /// Creates the nesting of a list, and replaces elements that nest too deeply.
    init(of list: inout [ODataValue]) {
        self.init()
        for index in list.indices {
            let inner = list[index].nesting
            if inner.isTooDeep(for: ODataValue.depthLimit) { list[index] = list[index].bounded }
            add(list[index].nesting)
        }
    }
}

/// The nesting depth of a value, and whether it lost parts that nested too deeply.
typealias Nesting = ValueNesting

extension ValueNesting {
    /// The most levels of a query's expressions, and of a spatial literal.
    static let queryLimit = 128
}

/// The reason why a value can't be written.
struct PayloadRefusal: Error, CustomStringConvertible {
    let description: String
}

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

extension ODataValue {
    /// The elements of a collection.
    ///
    /// Values nest 512 levels deep at most, which is as deep as they are read and written. What would be deeper is left out, and what it was to be
    /// in can't be written: that is an `EncodingError`.
    public struct Elements: Sendable, Hashable, RandomAccessCollection, ExpressibleByArrayLiteral {
        let list: [ODataValue]
        let nesting: Nesting

        /// The elements of a list.
        public init(_ elements: some Sequence<ODataValue>) {
            var list = Array(elements)
            nesting = Nesting(of: &list)
            self.list = list
        }

        /// The elements of a literal.
        public init(arrayLiteral elements: ODataValue...) {
            self.init(elements)
        }

        fileprivate init(cut: Void) {
            list = []
            nesting = .cut
        }

        /// Zero.
        public var startIndex: Int { 0 }
        /// How many elements there are.
        public var endIndex: Int { list.count }
        /// An element by its position, which must be one.
        public subscript(position: Int) -> ODataValue { list[position] }
    }

    /// A collection.
    public static func array(_ elements: [ODataValue]) -> ODataValue {
        .array(Elements(elements))
    }

    /// What stands in place of an array that is too deep.
    static let cut = ODataValue.array(Elements(cut: ()))

    /// How deep the value nests.
    var nesting: Nesting {
        switch self {
        case .array(let elements): elements.nesting
        case .object(let object): object.nesting
        case .null, .boolean, .integer, .decimal, .string: .none
        }
    }

    /// The value where it may be in another one, else what stands in its place.
    var bounded: ODataValue {
        guard nesting.isTooDeep(for: PayloadScanner.depthLimit) else { return self }
        if case .object = self { return .object(DynamicEntity(cut: ())) }
        return .cut
    }

    /// Why the value can't be written; `nil` where it can.
    var refusal: PayloadRefusal? {
        nesting.isCut ? PayloadRefusal(description: "The value nests more than \(PayloadScanner.depthLimit) levels deep.") : nil
    }
}

extension Nesting {
    /// The nesting of a list, in which what is too deep is replaced.
    init(of list: inout [ODataValue]) {
        self.init()
        for index in list.indices {
            let inner = list[index].nesting
            if inner.isTooDeep(for: PayloadScanner.depthLimit) { list[index] = list[index].bounded }
            add(list[index].nesting)
        }
    }
}

/// How deep a value nests, and whether something in it was left out as it was deeper than values may be.
struct Nesting: Sendable, Hashable {
    /// What has nothing in it.
    static let none = Nesting(height: 0, isCut: false)
    /// What stands in place of what is too deep.
    static let cut = Nesting(height: 1, isCut: true)

    private(set) var height: UInt16 = 1
    private(set) var isCut = false

    /// Takes in what lies in the value.
    mutating func add(_ inner: Nesting) {
        height = max(height, inner.height + 1)
        isCut = isCut || inner.isCut
    }

    /// Whether something with this nesting is to be left out of what has at most so many levels.
    func isTooDeep(for limit: Int) -> Bool {
        height >= limit
    }
}

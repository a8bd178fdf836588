public import Foundation

/// Any JSON value, for services without a schema and for parts of a payload without one.
///
///     let answer = try await client.http.get("/anything").value(JSONValue.self)
///     let city = answer["addresses"][0]?["city"]?.string
///     let body: JSONValue = ["name": "Ada", "tags": ["a", "b"], "parent": nil, "ratio": 0.5]
///
/// Numbers are exact: they keep the digits of the text. Objects keep the order of their members when a ``JSONReader`` reads them, as in
/// declared calls, and when ``JSONSerializer`` or ``json()`` writes them; Foundation's `JSONDecoder` and `JSONEncoder` keep no order. A
/// name occurs once: the reader refuses a text with a duplicate, and an object that is built with a duplicate keeps the last value.
///
/// Values nest at most 512 levels deep, as in the reader. Deeper ones are dropped when a value is built, and then encoding the value throws
/// an `EncodingError`.
public enum JSONValue: Sendable, Hashable {
    /// Null.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A number.
    case number(Number)
    /// A text.
    case string(String)
    /// An array.
    case array(Elements)
    /// An object.
    case object(Members)

    /// Creates a number.
    public static func number(_ value: some BinaryInteger) -> JSONValue { .number(Number(value)) }

    /// Creates a number; null for infinity and NaN, which JSON doesn't have.
    public static func number(_ value: Double) -> JSONValue { Number(value).map { .number($0) } ?? .null }

    /// Creates an array.
    public static func array(_ elements: some Sequence<JSONValue>) -> JSONValue { .array(Elements(elements)) }

    /// Creates an object. Its members are in the order of the dictionary's names.
    public static func object(_ members: [String: JSONValue]) -> JSONValue {
        .object(Members(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }))
    }

    // MARK: Contents

    /// Whether the value is null.
    public var isNull: Bool { self == .null }
    /// The Boolean, if the value is one.
    public var bool: Bool? { if case .boolean(let value) = self { value } else { nil } }
    /// The text, if the value is one.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The number, if the value is one.
    public var number: Number? { if case .number(let value) = self { value } else { nil } }
    /// The number, if it is whole and an `Int` can represent it.
    public var int: Int? { number?.integer() }
    /// The nearest `Double` of the number.
    public var double: Double? { number?.double }
    /// The number, if a `Decimal` can represent all of its digits.
    public var decimal: Decimal? { number?.decimal }
    /// The elements, if the value is an array.
    public var array: [JSONValue]? { if case .array(let value) = self { value.list } else { nil } }
    /// The members, if the value is an object.
    public var object: Members? { if case .object(let value) = self { value } else { nil } }

    /// The value of an object's member; `nil` if there is none, or the value isn't an object.
    ///
    /// A member that is null has the value ``null``, not `nil`. Setting a value replaces or appends the member, and turns a null value into
    /// an object; setting `nil` removes the member. Setting has no effect on values of other kinds.
    public subscript(_ name: String) -> JSONValue? {
        get { object?[name] }
        set {
            switch self {
            case .object(var members):
                // Releases the only other reference, so that a change doesn't copy.
                self = .null
                members[name] = newValue
                self = .object(members)
            case .null: if let newValue { self = .object(Members([(name, newValue)])) }
            default: break
            }
        }
    }

    /// The element of an array, counted from 0; `nil` if there is none, or the value isn't an array.
    ///
    /// Setting a value replaces an existing element, or appends one at the index after the last; setting `nil` removes the element.
    public subscript(_ index: Int) -> JSONValue? {
        get {
            guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
            return elements.list[index]
        }
        set {
            guard case .array(var elements) = self else { return }
            // Releases the only other reference, so that a change doesn't copy.
            self = .null
            elements.set(newValue, at: index)
            self = .array(elements)
        }
    }

    /// Decodes the value as a type, with the strategies of a reader.
    ///
    /// - Throws: `DecodingError`, or the error of the type's own coding; `EncodingError` if the value nests too deeply.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, with reader: JSONReader = JSONReader()) throws -> Value {
        try reader.decode(type, from: Data(json().utf8))
    }
}

// MARK: Subscripts of optionals

/// Lets `value["a"][0]` look inside a value that may be missing, without optional chaining.
extension Optional where Wrapped == JSONValue {
    /// The value of an object's member; `nil` if there is none.
    public subscript(_ name: String) -> JSONValue? { self.flatMap { $0[name] } }
    /// The element of an array; `nil` if there is none.
    public subscript(_ index: Int) -> JSONValue? { self.flatMap { $0[index] } }
}

// MARK: Literals

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates null.
    public init(nilLiteral: ()) { self = .null }
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Creates a whole number.
    public init(integerLiteral value: Int64) { self = .number(Number(value)) }
    /// Creates a number; null for infinity and NaN.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Creates a text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(Elements(elements)) }
    /// Creates an object.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(Members(elements)) }
}

// MARK: Depth

extension JSONValue {
    var nesting: ValueNesting {
        switch self {
        case .array(let elements): elements.nesting
        case .object(let members): members.nesting
        case .null, .boolean, .number, .string: .none
        }
    }

    /// The value if another one can contain it, otherwise an empty replacement.
    var bounded: JSONValue {
        guard nesting.isTooDeep(for: JSONReader.greatestDepth) else { return self }
        if case .object = self { return .object(Members(cut: ())) }
        return .array(Elements(cut: ()))
    }

    /// The elements of an array.
    public struct Elements: Sendable, Hashable, RandomAccessCollection, ExpressibleByArrayLiteral {
        private(set) var list: [JSONValue]
        private(set) var nesting: ValueNesting

        /// Creates the elements of an array; those that nest too deeply are dropped, as described for ``JSONValue``.
        public init(_ elements: some Sequence<JSONValue>) {
            var list = Array(elements)
            var nesting = ValueNesting()
            for index in list.indices where list[index].nesting.height > 0 {
                list[index] = list[index].bounded
                nesting.add(list[index].nesting)
            }
            self.list = list
            self.nesting = nesting
        }

        /// Creates the elements of a literal.
        public init(arrayLiteral elements: JSONValue...) { self.init(elements) }

        init(cut: Void) {
            list = []
            nesting = .cut
        }

        /// Replaces or appends an element; `nil` removes it.
        mutating func set(_ value: JSONValue?, at index: Int) {
            guard list.indices.contains(index) else {
                guard index == list.count, let value = value?.bounded else { return }
                list.append(value)
                return count(value)
            }
            let old = list[index].nesting
            if let value = value?.bounded {
                list[index] = value
                count(value)
            } else {
                list.remove(at: index)
            }
            // Only the deepest element, or one that was cut, may have been the last of its kind.
            guard old.height > 0, old.isCut || old.height + 1 >= nesting.height else { return }
            nesting = ValueNesting()
            for element in list { count(element) }
        }

        private mutating func count(_ element: JSONValue) {
            if element.nesting.height > 0 { nesting.add(element.nesting) }
        }

        /// Zero.
        public var startIndex: Int { 0 }
        /// The number of elements.
        public var endIndex: Int { list.count }
        /// Returns the element at a valid position.
        public subscript(position: Int) -> JSONValue { list[position] }
    }
}

/// The nesting depth of an untyped value, and whether it lost parts that nested too deeply.
///
/// Untyped values bound their depth when they are built: comparing, hashing, writing or releasing a deeper one could overflow a thread's
/// stack.
package struct ValueNesting: Sendable, Hashable {
    /// The nesting of a value without contents.
    package static let none = ValueNesting(height: 0, isCut: false)
    /// The nesting of a replacement for a value that nests too deeply.
    package static let cut = ValueNesting(height: 1, isCut: true)

    package private(set) var height: UInt16
    package private(set) var isCut: Bool

    private init(height: UInt16, isCut: Bool) {
        self.height = height
        self.isCut = isCut
    }

    /// Creates the nesting of an empty container.
    package init() { self.init(height: 1, isCut: false) }

    /// Includes a contained value.
    package mutating func add(_ inner: ValueNesting) {
        height = max(height, inner.height + 1)
        isCut = isCut || inner.isCut
    }

    /// Returns whether a value with this nesting exceeds what a container of `limit` levels can hold.
    package func isTooDeep(for limit: Int) -> Bool { height >= limit }
}

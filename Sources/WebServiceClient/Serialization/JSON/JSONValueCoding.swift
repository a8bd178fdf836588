public import Foundation

extension JSONValue {
    /// A number with all of its digits.
    ///
    /// Two numbers are equal if they have the same value, however they are written: `1`, `1.0` and `10e-1`.
    public struct Number: Sendable, Hashable, CustomStringConvertible {
        /// The number as JSON, such as `12.50` or `1e400`.
        public let text: String

        /// Creates a number from its JSON; `nil` if the text isn't a number in JSON (RFC 8259 §6).
        public init?(_ text: String) {
            guard Self.isNumber(text) else { return nil }
            self.text = text
        }

        /// Creates a whole number.
        public init(_ value: some BinaryInteger) { text = String(value) }

        /// Creates a number with the shortest digits that identify it; `nil` for infinity and NaN.
        public init?(_ value: Double) {
            guard value.isFinite else { return nil }
            // Swift writes 1e16 as 1e+16 and 1 as 1.0; a whole number is shorter without its fraction, and just as exact.
            let text = value.description
            self.text = text.hasSuffix(".0") && value != 0 ? String(text.dropLast(2)) : text == "0.0" ? "0" : text
        }

        /// Creates a number; `nil` for NaN.
        public init?(_ value: Decimal) {
            guard value.isFinite, Self.isNumber(value.description) else { return nil }
            text = value.description
        }

        init(checked text: String) { self.text = text }

        /// The number, if it is whole and the type can represent it. `1.0` and `12e3` are whole.
        public func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) -> Value? {
            withDigits { Value(text) ?? JSONNumber.integer(ofDecimal: $0, $1) }
        }

        /// The nearest `Double`; `nil` if the number is too large.
        public var double: Double? { withDigits { JSONNumber.double($0, $1) } }

        /// The number, if a `Decimal` can represent all of its digits.
        public var decimal: Decimal? { withDigits { JSONNumber.decimal($0, $1) } }

        /// The number as JSON.
        public var description: String { text }

        private func withDigits<Value>(_ body: (UnsafePointer<UInt8>, Int) -> Value?) -> Value? {
            Array(text.utf8).withUnsafeBufferPointer { digits in digits.baseAddress.flatMap { body($0, digits.count) } }
        }

        /// Whether a text is a number by JSON's grammar.
        private static func isNumber(_ text: String) -> Bool {
            var rest = text.utf8[...]
            func digits() -> Int {
                let digits = rest.prefix { $0 &- 48 < 10 }
                rest = rest.dropFirst(digits.count)
                return digits.count
            }
            if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
            let startsWithZero = rest.first == UInt8(ascii: "0")
            let whole = digits()
            guard whole == 1 || whole > 1 && !startsWithZero else { return false }
            if rest.first == UInt8(ascii: ".") {
                rest.removeFirst()
                guard digits() > 0 else { return false }
            }
            if rest.first.map({ $0 | 0x20 == UInt8(ascii: "e") }) ?? false {
                rest.removeFirst()
                if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
                guard digits() > 0 else { return false }
            }
            return rest.isEmpty
        }

        /// Returns whether both have the same value.
        public static func == (one: Self, other: Self) -> Bool {
            one.text == other.text || one.canonical == other.canonical
        }

        /// Hashes the number regardless of how it's written.
        public func hash(into hasher: inout Hasher) { hasher.combine(canonical) }

        private var canonical: JSONCanonicalNumber { JSONCanonicalNumber(text) }
    }
}

/// A number's digits without zeros at their ends, and its exponent as text, since an exponent may have any number of digits.
private struct JSONCanonicalNumber: Hashable {
    let isNegative: Bool
    let digits: String
    let exponent: Int?
    /// The text, if the exponent is too large to compare: such numbers are equal only if their texts are.
    let text: String?

    init(_ text: String) {
        let parts = Array(text.utf8).withUnsafeBufferPointer { bytes in bytes.baseAddress.flatMap { JSONDecimalParts($0, bytes.count) } }
        guard let parts else {
            (isNegative, digits, exponent, self.text) = (false, "", nil, text)
            return
        }
        let isZero = parts.digits.isEmpty
        isNegative = parts.isNegative && !isZero
        digits = String(decoding: parts.digits, as: UTF8.self)
        exponent = isZero ? 0 : parts.exponent
        self.text = nil
    }
}

extension JSONValue: Codable, JSONReadable {
    /// Decodes any value. With a ``JSONReader``, as in declared calls, numbers are exact and members are in order. With other decoders,
    /// members are sorted; whole numbers of 64 bits are exact, decimals too if the decoder supports them, and other numbers are the nearest
    /// `Double`.
    ///
    /// - Throws: `DecodingError` if the format has no such value, or values nest more than 512 levels deep.
    public init(from decoder: any Decoder) throws {
        if let node = JSONNode(decoder) {
            self = Self(node)
            return
        }
        guard decoder.codingPath.count < JSONReader.greatestDepth else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "The value nests more than \(JSONReader.greatestDepth) levels deep."))
        }
        if let members = try? decoder.container(keyedBy: WireKey.self) {
            self = .object(
                Members(
                    try members.allKeys.map(\.stringValue).sorted().map { ($0, try members.decode(JSONValue.self, forKey: WireKey($0))) }))
        } else if var elements = try? decoder.unkeyedContainer() {
            var list: [JSONValue] = []
            while !elements.isAtEnd { list.append(try elements.decode(JSONValue.self)) }
            self = .array(Elements(list))
        } else {
            self = try Self(simple: decoder.singleValueContainer())
        }
    }

    private init(simple value: any SingleValueDecodingContainer) throws {
        if value.decodeNil() {
            self = .null
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let boolean = try? value.decode(Bool.self) {
            self = .boolean(boolean)
        } else if let number = try? value.decode(Int64.self) {
            self = .number(Number(number))
        } else if let number = try? value.decode(UInt64.self) {
            self = .number(Number(number))
        } else {
            let double = try value.decode(Double.self)
            // A Decimal has more digits, but Foundation's decoders may return one for numbers that it can't represent.
            let decimal = (try? value.decode(Decimal.self)).flatMap {
                NSDecimalNumber(decimal: $0).doubleValue == double ? Number($0) : nil
            }
            guard let number = decimal ?? Number(double) else {
                throw DecodingError.dataCorruptedError(in: value, debugDescription: "\(double) isn't a number in JSON.")
            }
            self = .number(number)
        }
    }

    /// Reads any value.
    public init(from json: borrowing JSONCursor) throws { self.init(JSONNode(json.document, json.place)) }

    /// The value of a node. The reader bounds the depth.
    init(_ node: JSONNode) {
        switch node.content {
        case .null: self = .null
        case .boolean(let value): self = .boolean(value)
        case .number(let text, _): self = .number(Number(checked: text))
        case .string(let text): self = .string(text)
        case .array:
            var elements: [JSONValue] = []
            elements.reserveCapacity(min(node.count, 1 << 16))
            node.forEachElement { elements.append(JSONValue($0)) }
            self = .array(Elements(elements))
        case .object:
            var members = Members()
            // The reader has refused duplicate names, except those that differ only in their canonical form.
            node.forEachMember { members[$0] = JSONValue($1) }
            self = .object(members)
        }
    }

    /// Encodes the value. Whole numbers of 64 bits and numbers that a `Decimal` represents are exact; another number is encoded as the
    /// nearest `Double`. ``JSONSerializer``, unless it sorts or indents, and ``json()`` write all digits, and keep the names and the order
    /// of members.
    ///
    /// - Throws: `EncodingError` if the value nests too deeply, or a number is too large for the encoder.
    public func encode(to encoder: any Encoder) throws {
        try checkDepth(encoder.codingPath)
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .boolean(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .string(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .number(let number):
            var container = encoder.singleValueContainer()
            if let value = Int64(number.text) { return try container.encode(value) }
            if try JSONValueSlots.take(encoder, { write(to: &$0) }) { return }
            if let value: Int64 = number.integer() { return try container.encode(value) }
            if let value: UInt64 = number.integer() { return try container.encode(value) }
            if let value = number.decimal { return try container.encode(value) }
            guard let value = number.double else {
                throw EncodingError.invalidValue(
                    number.text,
                    EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "The number is too large for this encoder."))
            }
            try container.encode(value)
        case .array(let elements):
            if try JSONValueSlots.take(encoder, { write(to: &$0) }) { return }
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .object(let members):
            if try JSONValueSlots.take(encoder, { write(to: &$0) }) { return }
            var container = encoder.container(keyedBy: WireKey.self)
            for (name, value) in members { try container.encode(value, forKey: WireKey(name)) }
        }
    }

    private func checkDepth(_ path: [any CodingKey]) throws {
        guard nesting.isCut else { return }
        throw EncodingError.invalidValue(
            self,
            EncodingError.Context(
                codingPath: path, debugDescription: "The value nests more than \(JSONReader.greatestDepth) levels deep."))
    }

    /// Returns the value as compact JSON, with all digits of numbers and members in their order.
    ///
    /// - Throws: `EncodingError` if the value nests too deeply.
    public func json() throws -> String {
        try checkDepth([])
        var text: [UInt8] = []
        write(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Writes the value. The nesting is bounded, so recursion is safe.
    private func write(to text: inout [UInt8]) {
        switch self {
        case .null: text += "null".utf8
        case .boolean(let value): text += (value ? "true" : "false").utf8
        case .number(let number): text += number.text.utf8
        case .string(let value): JSONEscapes.append(value, to: &text)
        case .array(let elements):
            var separator = UInt8(ascii: "[")
            if elements.isEmpty { text.append(separator) }
            for element in elements {
                text.append(separator)
                element.write(to: &text)
                separator = UInt8(ascii: ",")
            }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            var separator = UInt8(ascii: "{")
            if members.isEmpty { text.append(separator) }
            for (name, value) in members {
                text.append(separator)
                JSONEscapes.append(name, to: &text)
                text.append(UInt8(ascii: ":"))
                value.write(to: &text)
                separator = UInt8(ascii: ",")
            }
            text.append(UInt8(ascii: "}"))
        }
    }
}

extension JSONValue {
    /// The value as JSON for readers, with a line for each member and element. The nesting is bounded, so recursion is safe.
    var indentedJSON: String {
        var text: [UInt8] = []
        write(to: &text, indentation: 0)
        return String(decoding: text, as: UTF8.self)
    }

    private func write(to text: inout [UInt8], indentation: Int) {
        switch self {
        case .array(let elements) where !elements.isEmpty:
            Self.writeLines("[", "]", elements, to: &text, indentation) { element, text in
                element.write(to: &text, indentation: indentation + 1)
            }
        case .object(let members) where !members.isEmpty:
            Self.writeLines("{", "}", members, to: &text, indentation) { member, text in
                JSONEscapes.append(member.name, to: &text)
                text += ": ".utf8
                member.value.write(to: &text, indentation: indentation + 1)
            }
        default: write(to: &text)
        }
    }

    private static func writeLines<Member>(
        _ open: String, _ close: String, _ members: some Sequence<Member>, to text: inout [UInt8], _ indentation: Int,
        _ write: (Member, inout [UInt8]) -> Void
    ) {
        var separator = open
        for member in members {
            text += (separator + "\n" + String(repeating: "  ", count: indentation + 1)).utf8
            write(member, &text)
            separator = ","
        }
        text += ("\n" + String(repeating: "  ", count: indentation) + close).utf8
    }
}

extension JSONValue: CustomStringConvertible {
    /// The JSON of the value, or the reason why it has none.
    public var description: String {
        do {
            return try json()
        } catch {
            return DecodingErrorText.text(of: error)
        }
    }
}

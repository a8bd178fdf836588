import Foundation

/// A type with an OData spelling, which is decoded without a container.
protocol PayloadReadable {
    static func read(_ payload: PayloadDecoder) throws -> Self
}

extension PayloadDecoder {
    /// Returns the text of a string.
    func text(_ type: any Any.Type) throws -> String {
        guard case .string(let text) = value else { throw mismatch(type, "a text") }
        return text
    }

    /// Returns the exact number of a number or a string: services write Int64 and Decimal as strings if asked to, V2 always does.
    func number(_ type: any Any.Type) throws -> EdmDecimal {
        switch value {
        case .integer(let value): return EdmDecimal(value)
        case .decimal(let value): return value
        case .string(let text):
            guard let number = EdmDecimal(text) else { throw corrupted("'\(text.prefix(60))' isn't a number.") }
            return number
        default: throw mismatch(type, "a number")
        }
    }

    func floating<Value: BinaryFloatingPoint & LosslessStringConvertible>(_ type: Value.Type) throws -> Value {
        let number = try number(type)
        guard let value = number.floating(type) else { throw corrupted("\(number) doesn't fit into \(type).") }
        return value
    }

    /// Returns a value made from a string.
    func value<Value>(like example: String, _ make: (String) -> Value?) throws -> Value {
        let text = try text(Value.self)
        guard let value = make(text) else { throw corrupted("'\(text.prefix(60))' isn't \(example).") }
        return value
    }
}

extension PayloadReadable where Self: FixedWidthInteger {
    static func read(_ payload: PayloadDecoder) throws -> Self {
        if case .integer(let value) = payload.value, let exact = Self(exactly: value) { return exact }
        let number = try payload.number(Self.self)
        guard let value = number.integer(Self.self) else {
            throw payload.corrupted("\(String(describing: number).prefix(60)) isn't a whole number that fits into \(Self.self).")
        }
        return value
    }
}

extension Int: PayloadReadable {}
extension Int8: PayloadReadable {}
extension Int16: PayloadReadable {}
extension Int32: PayloadReadable {}
extension Int64: PayloadReadable {}
extension UInt: PayloadReadable {}
extension UInt8: PayloadReadable {}
extension UInt16: PayloadReadable {}
extension UInt32: PayloadReadable {}
extension UInt64: PayloadReadable {}

extension Double: PayloadReadable {
    static func read(_ payload: PayloadDecoder) throws -> Double { try payload.floating(Double.self) }
}

extension Float: PayloadReadable {
    static func read(_ payload: PayloadDecoder) throws -> Float { try payload.floating(Float.self) }
}

extension Bool: PayloadReadable {
    static func read(_ payload: PayloadDecoder) throws -> Bool {
        guard case .boolean(let value) = payload.value else { throw payload.mismatch(Bool.self, "a Boolean") }
        return value
    }
}

extension String: PayloadReadable {
    static func read(_ payload: PayloadDecoder) throws -> String { try payload.text(String.self) }
}

extension EdmDecimal: PayloadReadable {
    static func read(_ payload: PayloadDecoder) throws -> EdmDecimal { try payload.number(EdmDecimal.self) }
}

extension Decimal: PayloadReadable {
    static func read(_ payload: PayloadDecoder) throws -> Decimal {
        let number = try payload.number(Decimal.self)
        guard let value = number.decimal else {
            throw payload.corrupted("Decimal doesn't hold all digits of \(number.description.prefix(80)): declare it as EdmDecimal.")
        }
        return value
    }
}

extension Date: PayloadReadable {
    static func read(_ payload: PayloadDecoder) throws -> Date {
        // Edm.DateTime of versions 2 and 3 has no offset and is read as UTC; a V4 value without an offset is invalid.
        try payload.value(like: "a DateTimeOffset such as 2012-12-03T07:16:23Z") { text in
            if text.hasPrefix("/") { return V2DateText.value(text)?.instant }
            guard let value = EdmDateTimeOffset(text), value.offset != nil || payload.settings.context.isBeforeVersion4 else { return nil }
            return value.instant
        }
    }
}

extension Data: PayloadReadable {
    static func read(_ payload: PayloadDecoder) throws -> Data {
        try payload.value(like: "base64url or base64") { EdmBinary.bytes($0) }
    }
}

extension UUID: PayloadReadable {
    static func read(_ payload: PayloadDecoder) throws -> UUID { try payload.value(like: "a Guid") { UUID(uuidString: $0) } }
}

extension URL: PayloadReadable {
    static func read(_ payload: PayloadDecoder) throws -> URL { try payload.value(like: "a URL") { NextLink.resolved($0, against: nil) } }
}

extension Duration: PayloadReadable {
    static func read(_ payload: PayloadDecoder) throws -> Duration {
        try payload.value(like: "a duration such as P1DT2H3M4.5S") { NumberText.duration(payload: $0) }
    }
}

extension ODataValue: PayloadReadable {
    static func read(_ payload: PayloadDecoder) throws -> ODataValue { payload.value }
}

extension DynamicEntity: PayloadReadable {
    static func read(_ payload: PayloadDecoder) throws -> DynamicEntity {
        guard case .object(let object) = payload.value else { throw payload.mismatch(DynamicEntity.self, "an object") }
        return object
    }
}

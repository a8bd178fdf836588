import Foundation

/// A type with an OData spelling, which is encoded without a container.
protocol PayloadWritable {
    /// - Throws: ``PayloadRefusal`` if the format has no spelling for the value.
    func payload(_ format: PayloadFormat) throws -> ODataValue
}

extension Int8: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue { .integer(Int64(self)) }
}

extension Int16: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue { .integer(Int64(self)) }
}

extension Int32: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue { .integer(Int64(self)) }
}

extension UInt8: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue { .integer(Int64(self)) }
}

extension UInt16: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue { .integer(Int64(self)) }
}

extension UInt32: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue { .integer(Int64(self)) }
}

/// A value beyond `Edm.Int32` must be an `Edm.Int64` or a decimal in the service's model. Declare `Int64` to write all values as strings.
extension Int: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue {
        Int32(exactly: self) != nil ? .integer(Int64(self)) : Int64(self).payload(format)
    }
}

extension Int64: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue { format.hasTextNumbers ? .string(String(self)) : .integer(self) }
}

extension UInt: PayloadWritable {
    func payload(_ format: PayloadFormat) throws -> ODataValue { try UInt64(self).payload(format) }
}

extension UInt64: PayloadWritable {
    func payload(_ format: PayloadFormat) throws -> ODataValue {
        if let value = Int(exactly: self) { return value.payload(format) }
        return try EdmDecimal(self).payload(format)
    }
}

extension Double: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue { NumberText.payload(self, format) }
}

extension Float: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue { NumberText.payload(self, format) }
}

extension NumberText {
    /// V2 writes `Edm.Double` and `Edm.Single` as strings; `INF`, `-INF` and `NaN` are strings in all versions.
    fileprivate static func payload(_ value: some BinaryFloatingPoint & CustomStringConvertible, _ format: PayloadFormat) -> ODataValue {
        let text = floating(value)
        guard format.version != .v2, value.isFinite else { return .string(text) }
        return .decimal(EdmDecimal(digits: text))
    }
}

extension Bool: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue { .boolean(self) }
}

extension String: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue { .string(self) }
}

extension EdmDecimal: PayloadWritable {
    /// Writes the number without an exponent, which services needn't support.
    func payload(_ format: PayloadFormat) throws -> ODataValue {
        guard isFinite else {
            guard format.version >= .v401 else {
                throw PayloadRefusal(description: "\(self) isn't a valid Edm.Decimal before version 4.01.")
            }
            return .string(description)
        }
        guard let text = plainText else {
            throw PayloadRefusal(description: "\(description.prefix(60)) has more than a thousand digits when written without an exponent.")
        }
        return format.hasTextNumbers ? .string(text) : .decimal(EdmDecimal(digits: text))
    }
}

extension Decimal: PayloadWritable {
    func payload(_ format: PayloadFormat) throws -> ODataValue { try EdmDecimal(self).payload(format) }
}

/// V2 has whole milliseconds. Dates are rounded because finer fractions come from clocks, such as `Date.now`.
extension Date: PayloadWritable {
    func payload(_ format: PayloadFormat) throws -> ODataValue {
        guard format.version == .v2 else {
            do {
                return .string(try LiteralText.instant(self))
            } catch {
                throw PayloadRefusal(description: error.description)
            }
        }
        var milliseconds = (timeIntervalSince1970 * 1_000).rounded()
        // The last moment of the year 9999 stays in it.
        if milliseconds == LiteralText.endOfDates * 1_000, timeIntervalSince1970 < LiteralText.endOfDates { milliseconds -= 1 }
        guard let whole = Int64(exactly: milliseconds) else {
            throw PayloadRefusal(description: "The date is too far away for V2's milliseconds.")
        }
        return .string("/Date(\(whole))/")
    }
}

extension EdmDateTimeOffset: PayloadWritable {
    func payload(_ format: PayloadFormat) throws -> ODataValue {
        guard format.version == .v2 else {
            guard offset != nil else {
                throw PayloadRefusal(description: "'\(self)' lacks the offset from UTC that every Edm.DateTimeOffset has; add 'Z'.")
            }
            return .string(description)
        }
        guard let text = V2DateText.text(self) else {
            throw PayloadRefusal(
                description: "'\(self)' doesn't fit into V2's whole milliseconds; cut it by truncated(toFractionDigits: 3).")
        }
        return .string(text)
    }
}

extension EdmDate: PayloadWritable {
    func payload(_ format: PayloadFormat) throws -> ODataValue {
        guard format.version == .v2, let midnight else { return .string(description) }
        return try midnight.payload(format)
    }
}

extension EdmTimeOfDay: PayloadWritable {
    func payload(_ format: PayloadFormat) throws -> ODataValue {
        if format.version == .v2 { return .string(v2Text) }
        guard self != .endOfDay else {
            throw PayloadRefusal(description: "'\(self)' isn't a time of day in version 4, whose days end before 24:00.")
        }
        return .string(description)
    }
}

extension Duration: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue { .string(LiteralText.duration(self)) }
}

extension EdmDuration: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue { .string(description) }
}

extension Data: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue {
        .string(format.version == .v2 ? base64EncodedString() : LiteralText.base64URL(self))
    }
}

extension EdmBinary: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue { data.payload(format) }
}

extension UUID: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue { .string(uuidString.lowercased()) }
}

extension URL: PayloadWritable {
    func payload(_ format: PayloadFormat) -> ODataValue { .string(absoluteString) }
}

extension ODataValue: PayloadWritable {
    func payload(_ format: PayloadFormat) throws -> ODataValue {
        if let refusal { throw refusal }
        return self
    }
}

extension DynamicEntity: PayloadWritable {
    func payload(_ format: PayloadFormat) throws -> ODataValue { try ODataValue.object(self).payload(format) }
}

public import Foundation

/// A type of the values of ``ItemField``, which is created from a payload's value and written as one.
///
/// The primitive types of `Edm`, ``OpenMember``, ``OpenFlags``, items, ``ODataValue``, and arrays of these conform.
public protocol ItemValue: Sendable {
    /// Creates a value from a payload's value, in the spelling of any version; `nil` if that is null or of another kind.
    init?(odata value: ODataValue)
    /// The payload's value, in the spelling of version 4.
    var odataValue: ODataValue { get }
}

extension Bool: ItemValue {
    /// Reads a Boolean.
    public init?(odata value: ODataValue) {
        guard case .boolean(let found) = value else { return nil }
        self = found
    }

    /// The Boolean.
    public var odataValue: ODataValue { .boolean(self) }
}

extension String: ItemValue {
    /// Reads a text.
    public init?(odata value: ODataValue) {
        guard case .string(let text) = value else { return nil }
        self = text
    }

    /// The text.
    public var odataValue: ODataValue { .string(self) }
}

extension ItemValue where Self: FixedWidthInteger {
    /// Reads a whole number that fits, from a number or a text.
    public init?(odata value: ODataValue) {
        if case .integer(let number) = value {
            self.init(exactly: number)
            return
        }
        guard let number = value.number?.integer(Self.self) else { return nil }
        self = number
    }

    /// The number.
    public var odataValue: ODataValue { Int64(exactly: self).map { .integer($0) } ?? .decimal(EdmDecimal(self)) }
}

extension Int: ItemValue {}
extension Int8: ItemValue {}
extension Int16: ItemValue {}
extension Int32: ItemValue {}
extension Int64: ItemValue {}
extension UInt8: ItemValue {}

extension ItemValue where Self: BinaryFloatingPoint & LosslessStringConvertible & CustomStringConvertible {
    /// Reads the nearest number, from a number or a text, including `INF`, `-INF` and `NaN`.
    public init?(odata value: ODataValue) {
        guard let number = value.number?.floating(Self.self) else { return nil }
        self = number
    }

    /// The number, or the text `INF`, `-INF` or `NaN`.
    public var odataValue: ODataValue {
        let text = NumberText.floating(self)
        return isFinite ? .decimal(EdmDecimal(digits: text)) : .string(text)
    }
}

extension Double: ItemValue {}
extension Float: ItemValue {}

extension EdmDecimal: ItemValue {
    /// Reads a number with all its digits, from a number or a text.
    public init?(odata value: ODataValue) {
        guard let number = value.number else { return nil }
        self = number
    }

    /// The number, or the text `INF`, `-INF` or `NaN`.
    public var odataValue: ODataValue { isFinite ? .decimal(self) : .string(description) }
}

extension Decimal: ItemValue {
    /// Reads a number if `Decimal` can hold all its digits.
    public init?(odata value: ODataValue) {
        guard let number = value.number?.decimal else { return nil }
        self = number
    }

    /// The number.
    public var odataValue: ODataValue { EdmDecimal(self).odataValue }
}

extension UUID: ItemValue {
    /// Reads a Guid.
    public init?(odata value: ODataValue) {
        guard case .string(let text) = value else { return nil }
        self.init(uuidString: text)
    }

    /// The text in lower case.
    public var odataValue: ODataValue { .string(uuidString.lowercased()) }
}

extension URL: ItemValue {
    /// Reads a URL from a text.
    public init?(odata value: ODataValue) {
        guard case .string(let text) = value, let url = NextLink.resolved(text, against: nil) else { return nil }
        self = url
    }

    /// The text.
    public var odataValue: ODataValue { .string(absoluteString) }
}

extension EdmDate: ItemValue {
    /// Reads a date, also from midnight in the spelling of version 2.
    public init?(odata value: ODataValue) {
        guard case .string(let text) = value else { return nil }
        self.init(payload: text)
    }

    /// The text.
    public var odataValue: ODataValue { .string(description) }
}

extension EdmDateTimeOffset: ItemValue {
    /// Reads a point in time, also in the spelling of version 2.
    public init?(odata value: ODataValue) {
        guard case .string(let text) = value else { return nil }
        self.init(payload: text)
    }

    /// The text.
    public var odataValue: ODataValue { .string(description) }
}

extension EdmTimeOfDay: ItemValue {
    /// Reads a time of day, also from a duration as in version 2.
    public init?(odata value: ODataValue) {
        guard case .string(let text) = value else { return nil }
        self.init(payload: text)
    }

    /// The text.
    public var odataValue: ODataValue { .string(description) }
}

extension Duration: ItemValue {
    /// Reads a duration.
    public init?(odata value: ODataValue) {
        guard case .string(let text) = value, let duration = NumberText.duration(payload: text) else { return nil }
        self = duration
    }

    /// The text.
    public var odataValue: ODataValue { .string(LiteralText.duration(self)) }
}

extension EdmDuration: ItemValue {
    /// Reads a duration.
    public init?(odata value: ODataValue) {
        guard let duration = Duration(odata: value) else { return nil }
        self.init(duration)
    }

    /// The text.
    public var odataValue: ODataValue { .string(description) }
}

extension EdmBinary: ItemValue {
    /// Reads bytes from base64url or base64.
    public init?(odata value: ODataValue) {
        guard case .string(let text) = value else { return nil }
        self.init(text)
    }

    /// The text in base64url.
    public var odataValue: ODataValue { .string(description) }
}

extension Data: ItemValue {
    /// Reads bytes from base64url or base64.
    public init?(odata value: ODataValue) {
        guard let binary = EdmBinary(odata: value) else { return nil }
        self = binary.data
    }

    /// The text in base64url.
    public var odataValue: ODataValue { EdmBinary(self).odataValue }
}

extension EdmSpatial: ItemValue {
    /// Reads GeoJSON.
    public init?(odata value: ODataValue) {
        guard case .object = value, let found = try? PayloadDecoder(value, settings: .plain).decode(EdmSpatial.self) else { return nil }
        self = found
    }

    /// The value in GeoJSON. A shape that nests too deeply results in a value that can't be written.
    public var odataValue: ODataValue {
        (try? PayloadEncoder.payload(of: self, PayloadEncoder.Settings(PayloadFormat()))) ?? .cut
    }
}

extension ODataValue: ItemValue {
    /// Reads any value except null.
    public init?(odata value: ODataValue) {
        guard !value.isNull else { return nil }
        self = value
    }

    /// The value itself.
    public var odataValue: ODataValue { self }
}

extension Array: ItemValue where Element: ItemValue {
    /// Reads a collection; `nil` if an element is of another kind.
    public init?(odata value: ODataValue) {
        let list: [ODataValue]
        switch value {
        case .array(let elements): list = elements.list
        // Version 2 encloses a collection in an object.
        case .object(let object):
            guard let elements = object["results"]?.array else { return nil }
            list = elements
        default: return nil
        }
        self.init()
        reserveCapacity(list.count)
        for value in list {
            guard let element = Element(odata: value) else { return nil }
            append(element)
        }
    }

    /// The collection.
    public var odataValue: ODataValue { .array(map(\.odataValue)) }
}

/// An element of a collection whose elements may be null.
extension Optional: ItemValue where Wrapped: ItemValue {
    /// Reads null or a value.
    public init?(odata value: ODataValue) {
        guard !value.isNull else {
            self = .none
            return
        }
        guard let wrapped = Wrapped(odata: value) else { return nil }
        self = .some(wrapped)
    }

    /// The value, or null.
    public var odataValue: ODataValue { self?.odataValue ?? .null }
}

extension PayloadSettings {
    /// The settings for values that are read outside of a payload.
    static let plain = PayloadSettings()
}

import Foundation

/// The kind of a declared property's values: an `Edm` type, an enumeration or a structured type.
enum ItemKind: Sendable, Hashable {
    case boolean
    case integer(ClosedRange<Int64>)
    case int64
    case decimal
    case double
    case single
    case string
    case guid
    case date
    case dateTimeOffset
    case timeOfDay
    case duration
    case binary
    case spatial
    case enumeration
    /// An entity or a complex value, with the name of its type.
    case structured(String)
    /// Any value: `Edm.Untyped`, an abstract type, a stream, or a type that the schema doesn't have.
    case any

    /// Creates the kind for a type's name: `Edm.String`, or the qualified name of one of the schema's types.
    init(_ name: String, in schema: ItemSchema) {
        switch name {
        case "Edm.Boolean": self = .boolean
        case "Edm.SByte": self = .integer(-128...127)
        case "Edm.Byte": self = .integer(0...255)
        case "Edm.Int16": self = .integer(Int64(Int16.min)...Int64(Int16.max))
        case "Edm.Int32": self = .integer(Int64(Int32.min)...Int64(Int32.max))
        case "Edm.Int64": self = .int64
        case "Edm.Decimal": self = .decimal
        case "Edm.Double": self = .double
        case "Edm.Single": self = .single
        case "Edm.String": self = .string
        case "Edm.Guid": self = .guid
        case "Edm.Date": self = .date
        case "Edm.DateTimeOffset", "Edm.DateTime": self = .dateTimeOffset
        case "Edm.TimeOfDay", "Edm.Time": self = .timeOfDay
        case "Edm.Duration": self = .duration
        case "Edm.Binary": self = .binary
        default:
            if name.hasPrefix("Edm.Geo") {
                self = .spatial
            } else if schema.isEnumeration(name) {
                self = .enumeration
            } else {
                self = schema.contains(name) ? .structured(name) : .any
            }
        }
    }

    /// The expected value, for error texts.
    var wanted: String {
        switch self {
        case .boolean: "a Boolean"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .int64: "a whole number of 64 bits"
        case .decimal, .double, .single: "a number"
        case .string: "a text"
        case .guid: "a Guid"
        case .date: "a date such as 2026-11-21"
        case .dateTimeOffset: "a point in time such as 2026-11-21T07:59:59Z"
        case .timeOfDay: "a time of day such as 07:59:59"
        case .duration: "a duration such as P1DT2H3M4.5S"
        case .binary: "base64url or base64"
        case .spatial: "a geographic or geometric value"
        case .enumeration: "the name or number of an enumeration's member"
        case .structured: "an object"
        case .any: "a value"
        }
    }

    /// Returns whether ``ItemValue/init(odata:)`` accepts a value other than null. Members of objects aren't examined.
    func accepts(_ value: ODataValue) -> Bool {
        switch (self, value) {
        // The common forms first, because the check runs for every property of a payload.
        case (.string, .string), (.enumeration, .string), (.boolean, .boolean), (.int64, .integer), (.decimal, .integer),
            (.decimal, .decimal), (.structured, .object), (.any, _):
            true
        case (.integer(let range), .integer(let number)): range.contains(number)
        default: isConvertible(value)
        }
    }

    private func isConvertible(_ value: ODataValue) -> Bool {
        switch self {
        case .boolean: value.boolean != nil
        case .integer(let range): value.integer.map { range.contains($0) } ?? false
        case .int64: value.integer != nil
        case .decimal: value.number != nil
        case .double: Double(odata: value) != nil
        case .single: Float(odata: value) != nil
        case .string: value.string != nil
        case .guid: UUID(odata: value) != nil
        case .date: EdmDate(odata: value) != nil
        case .dateTimeOffset: EdmDateTimeOffset(odata: value) != nil
        case .timeOfDay: EdmTimeOfDay(odata: value) != nil
        case .duration: EdmDuration(odata: value) != nil
        case .binary: EdmBinary(odata: value) != nil
        case .spatial: EdmSpatial(odata: value) != nil
        case .enumeration: ItemKind.memberName(value) != nil
        case .structured: value.object != nil
        case .any: true
        }
    }

    /// Returns the text of an enumeration's member; services send its name or its number.
    static func memberName(_ value: ODataValue) -> String? {
        switch value {
        case .string(let name): name
        case .integer(let number): String(number)
        default: nil
        }
    }
}

// Payloads in a format's spelling. A value keeps its text if the format has the same spelling, so that a value is written as it was read.
extension ItemKind {
    /// Returns a value in a format's spelling.
    ///
    /// - Throws: ``PayloadRefusal`` if the format has no spelling for the value.
    func spelled(_ value: ODataValue, _ format: PayloadFormat) throws -> ODataValue {
        switch self {
        case .integer:
            if case .string = value, let number = value.integer { return .integer(number) }
        case .int64:
            if let number = value.integer { return number.payload(format) }
        case .decimal:
            if let number = value.number { return try number.payload(format) }
        case .double:
            if isSpelledOtherwise(value, format), let number = Double(odata: value) { return number.payload(format) }
        case .single:
            if isSpelledOtherwise(value, format), let number = Float(odata: value) { return number.payload(format) }
        case .date, .dateTimeOffset, .timeOfDay:
            if let text = value.string { return try spelled(time: text, value, format) }
        case .binary:
            if let bytes = EdmBinary(odata: value) { return bytes.payload(format) }
        case .boolean, .string, .guid, .duration, .spatial, .enumeration, .structured, .any:
            break
        }
        return value
    }

    /// Returns whether the format writes a floating-point number as a string but the value is a number, or vice versa.
    private func isSpelledOtherwise(_ value: ODataValue, _ format: PayloadFormat) -> Bool {
        if case .string(let text) = value { return format.version != .v2 && !["INF", "-INF", "NaN"].contains(text) }
        return format.version == .v2
    }

    private func spelled(time text: String, _ value: ODataValue, _ format: PayloadFormat) throws -> ODataValue {
        let isV2Text = text.hasPrefix("/") || self == .timeOfDay && text.hasPrefix("P")
        guard format.version == .v2 ? !isV2Text : isV2Text || self == .dateTimeOffset else { return value }
        switch self {
        case .date: return try EdmDate(odata: value)?.payload(format) ?? value
        case .timeOfDay: return try EdmTimeOfDay(odata: value)?.payload(format) ?? value
        default:
            guard let time = EdmDateTimeOffset(odata: value) else { return value }
            return format.version != .v2 && !isV2Text && time.offset != nil ? value : try time.payload(format)
        }
    }
}

extension ItemKind {
    /// Returns a value as a literal for keys and queries; `nil` if it isn't a primitive value of this kind.
    func literal(_ value: ODataValue, type: String? = nil) -> EdmValue? {
        switch self {
        case .boolean: value.boolean?.edmValue
        case .integer: value.integer.map { .integer($0) }
        case .int64: value.integer?.edmValue
        case .decimal: value.number?.edmValue
        case .double: Double(odata: value)?.edmValue
        case .single: Float(odata: value)?.edmValue
        case .string: value.string?.edmValue
        case .guid: UUID(odata: value)?.edmValue
        case .date: EdmDate(odata: value)?.edmValue
        case .dateTimeOffset: EdmDateTimeOffset(odata: value)?.edmValue
        case .timeOfDay: EdmTimeOfDay(odata: value)?.edmValue
        case .duration: EdmDuration(odata: value)?.edmValue
        case .binary: EdmBinary(odata: value)?.edmValue
        case .enumeration: ItemKind.memberName(value).map { .enumeration(type: type, member: $0) }
        case .spatial, .structured, .any: nil
        }
    }
}

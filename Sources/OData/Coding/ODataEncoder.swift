public import Foundation
import WebServiceClient

/// An encoder of OData's JSON that spells every `Edm` type as the version requires.
///
///     let body = try ODataEncoder(.init(version: .v2)).encode(order)
///
/// V2 uses `/Date(…)/`, base64, and strings for `Int64`, `Decimal`, `Double` and `Float`. V4 uses numbers, or strings for `Int64` and
/// `Decimal` if the format is compatible with IEEE 754. Decimals have no exponent. Properties keep their encoding order.
public struct ODataEncoder: Sendable {
    /// The spelling of values.
    public var format: PayloadFormat
    /// The types whose values include their type names if they derive from another.
    public var types: TypeRegistry
    /// The `Encoder.userInfo` for the types' own encoding.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Creates an encoder.
    public init(
        _ format: PayloadFormat = PayloadFormat(), types: TypeRegistry = TypeRegistry(), userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) {
        self.format = format
        self.types = types
        self.userInfo = userInfo
    }

    /// Returns the payload of a value.
    ///
    /// - Throws: `EncodingError` if the format has no spelling for a value, or an error of the type's own encoding.
    public func encode(_ value: any Encodable) throws -> Data {
        try PayloadWriter.data(payload(of: value))
    }

    /// Returns the payload of a value as a tree.
    ///
    /// - Throws: The errors of ``encode(_:)``.
    public func payload(of value: any Encodable) throws -> ODataValue {
        try PayloadEncoder.payload(of: value, PayloadEncoder.Settings(format, types: types, userInfo: userInfo))
    }
}

/// Writes a value as a JSON text (RFC 8259): compact, with members in order, exact numbers and unescaped slashes.
struct PayloadWriter {
    private var bytes: [UInt8] = []

    static func data(_ value: ODataValue) throws -> Data {
        var writer = PayloadWriter()
        if let refusal = value.refusal {
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: refusal.description))
        }
        writer.write(value)
        return Data(writer.bytes)
    }

    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    private mutating func write(_ value: ODataValue) {
        switch value {
        case .null: append("null")
        case .boolean(let value): append(value ? "true" : "false")
        case .integer(let value): bytes.append(contentsOf: String(value).utf8)
        case .decimal(let value):
            // OData writes values without a JSON number, such as INF, as strings.
            if value.isFinite {
                bytes.append(contentsOf: value.description.utf8)
            } else {
                write(value.description)
            }
        case .string(let value): write(value)
        case .array(let elements):
            append("[")
            for (position, element) in elements.enumerated() {
                if position > 0 { append(",") }
                write(element)
            }
            append("]")
        case .object(let object):
            append("{")
            for position in 0..<object.count {
                if position > 0 { append(",") }
                write(object.name(at: position))
                append(":")
                write(object.value(at: position))
            }
            append("}")
        }
    }

    private mutating func write(_ text: String) { JSONEscapes.append(text, to: &bytes) }
}

import Foundation
import WebServiceClient

extension ODataValue: Codable {
    /// Reads any value.
    public init(from decoder: any Decoder) throws {
        if let payload = try PayloadDecoder.of(decoder) {
            self = payload.value
            return
        }
        if let object = try? decoder.container(keyedBy: JSONKey.self) {
            self = .object(try DynamicEntity(from: object))
            return
        }
        if var array = try? decoder.unkeyedContainer() {
            var values: [ODataValue] = []
            while !array.isAtEnd { values.append(try array.decode(ODataValue.self)) }
            self = .array(values)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Decimal.self), !value.isNaN {
            self = .decimal(EdmDecimal(value))
        } else {
            self = .decimal(EdmDecimal(try container.decode(Double.self)))
        }
    }

    /// Writes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let refusal {
            throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: refusal.description))
        }
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value.list)
        case .object(let value): try container.encode(value)
        }
    }
}

import Foundation

extension EdmDecimal: Codable {
    /// Reads a number, or the text of one.
    public init(from decoder: any Decoder) throws {
        if let payload = try PayloadDecoder.of(decoder) {
            self = try Self.read(payload)
            return
        }
        let container = try decoder.singleValueContainer()
        if let whole = try? container.decode(Int64.self) {
            self.init(whole)
        } else if let text = try? container.decode(String.self) {
            guard let value = EdmDecimal(text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text.prefix(60))' isn't a decimal number.")
            }
            self = value
        } else {
            self.init(try container.decode(Decimal.self))
        }
    }

    /// Writes a number where the encoder can, else its text: ``ODataEncoder`` writes what the service's version wants.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let decimal {
            try container.encode(decimal)
        } else {
            try container.encode(plainText ?? description)
        }
    }
}

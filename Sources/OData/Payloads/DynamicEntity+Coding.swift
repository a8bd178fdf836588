import WebServiceClient

extension DynamicEntity: Codable {
    /// Reads all properties there are.
    public init(from decoder: any Decoder) throws {
        if let payload = try PayloadDecoder.of(decoder) {
            self = try Self.read(payload)
        } else {
            try self.init(from: try decoder.container(keyedBy: JSONKey.self))
        }
    }

    init(from container: KeyedDecodingContainer<JSONKey>) throws {
        for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
            self[key.stringValue] = try container.decode(ODataValue.self, forKey: key)
        }
    }

    /// Writes all properties.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: JSONKey.self)
        if let refusal = ODataValue.object(self).refusal {
            throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: refusal.description))
        }
        for property in properties { try container.encode(property.value, forKey: JSONKey(property.name)) }
    }
}

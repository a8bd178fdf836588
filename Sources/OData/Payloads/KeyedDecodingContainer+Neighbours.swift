extension KeyedDecodingContainer {
    /// A value that is made of what stands beside the property, too, and so may be there without it; `nil` where a decoder other than ours
    /// doesn't have the property.
    func decodeWithNeighbours<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        if contains(key) { return try decodePlainly(type, forKey: key) }
        let decoder: any Decoder
        do {
            decoder = try superDecoder(forKey: key)
        } catch DecodingError.keyNotFound {
            return nil
        }
        guard let payload = try PayloadDecoder.of(decoder) else { return nil }
        return try Value(from: payload)
    }
}

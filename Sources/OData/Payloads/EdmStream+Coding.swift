extension EdmStream: Decodable {
    /// Reads the links beside the property; with other decoders than ``ODataDecoder`` they aren't to be had, and the stream is empty.
    public init(from decoder: any Decoder) throws {
        guard let payload = try PayloadDecoder.of(decoder) else {
            self.init()
            return
        }
        if let object = payload.value.object?["__mediaresource"]?.object {
            self.init(v2: object)
        } else {
            self.init(payload.control)
        }
    }
}

extension KeyedDecodingContainer {
    /// A stream's links, which stand beside the property: the property itself is absent.
    public func decode(_ type: EdmStream.Type, forKey key: Key) throws -> EdmStream {
        try decodeWithNeighbours(type, forKey: key) ?? EdmStream()
    }
}

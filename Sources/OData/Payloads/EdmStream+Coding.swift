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
        linkBase = payload.linkBase
    }
}

extension EdmStream: Encodable {
    /// Writes nothing, as a stream is written by its link; null where that can't be left out, in an array.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}

extension EdmStream {
    /// What control information says: that of a property, or of the entity itself.
    init(_ control: ControlInformation) {
        readLink = control["mediaReadLink"]?.string
        editLink = control["mediaEditLink"]?.string
        contentType = control["mediaContentType"]?.string
        // 4.0 wrote it with a capital T in its first drafts, and services still do.
        etag = control["mediaEtag"]?.string ?? control["mediaETag"]?.string
    }

    /// V2 and V3: `{"media_src": …, "edit_media": …, "content_type": …, "media_etag": …}`.
    init(v2 object: DynamicEntity) {
        readLink = object["media_src"]?.string
        editLink = object["edit_media"]?.string
        contentType = object["content_type"]?.string
        etag = object["media_etag"]?.string
    }
}

extension KeyedDecodingContainer {
    /// A stream's links, which stand beside the property: the property itself is absent.
    public func decode(_ type: EdmStream.Type, forKey key: Key) throws -> EdmStream {
        try decodeWithNeighbours(type, forKey: key) ?? EdmStream()
    }

    /// The same; `nil` where nothing is said of the stream.
    public func decodeIfPresent(_ type: EdmStream.Type, forKey key: Key) throws -> EdmStream? {
        let stream = try decode(type, forKey: key)
        return stream.isEmpty ? nil : stream
    }
}

extension KeyedEncodingContainer {
    /// Writes nothing: a stream is written by its link.
    public mutating func encode(_ value: EdmStream, forKey key: Key) throws {}

    /// Writes nothing: a stream is written by its link.
    public mutating func encodeIfPresent(_ value: EdmStream?, forKey key: Key) throws {}
}

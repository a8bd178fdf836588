import Foundation
import WebServiceClient

// Streams in payloads: their links and, from 4.01 on, their bytes.

extension EdmStream: Decodable {
    /// Decodes the links of the property's control information. Decoders other than ``ODataDecoder`` can't access these and decode an empty
    /// stream.
    public init(from decoder: any Decoder) throws {
        guard let payload = try PayloadDecoder.of(decoder) else {
            self.init()
            return
        }
        if let object = payload.value.object?["__mediaresource"]?.object {
            self.init(v2: object)
        } else {
            self.init(payload.control)
            guard payload.isPresent, !payload.value.isNull, payload.deferredLink == nil else {
                linkBase = payload.linkBase
                return
            }
            data = Self.inlineBytes(payload.value, contentType)
            guard data != nil || contentType == nil else {
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: decoder.codingPath,
                        debugDescription: "The stream's value isn't of the form for its media type, \(contentType ?? "")."))
            }
        }
        linkBase = payload.linkBase
    }
}

extension EdmStream: Encodable {
    /// Encodes null, which an array can't omit. A stream is written by its link.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}

extension EdmStream {
    /// Creates a stream from the control information of a property or of the entity itself.
    init(_ control: ControlInformation) {
        readLink = control["mediaReadLink"]?.string
        editLink = control["mediaEditLink"]?.string
        contentType = control["mediaContentType"]?.string
        // The first drafts of 4.0 spelled it with a capital T, and some services still do.
        etag = control["mediaEtag"]?.string ?? control["mediaETag"]?.string
    }

    /// Creates a stream from V2 and V3: `{"media_src": …, "edit_media": …, "content_type": …, "media_etag": …}`.
    init(v2 object: DynamicEntity) {
        readLink = object["media_src"]?.string
        editLink = object["edit_media"]?.string
        contentType = object["content_type"]?.string
        etag = object["media_etag"]?.string
    }
}

// Bytes inside of a payload (JSON Format 4.01, section 9).
extension EdmStream {
    /// Returns the bytes of an inline value: JSON unchanged, text as UTF-8, and others from base64url; `nil` for values of other forms.
    static func inlineBytes(_ value: ODataValue, _ contentType: String?) -> Data? {
        let type = contentType.flatMap { MediaType($0) }
        if let type, type.isJSON { return try? PayloadWriter.data(value) }
        guard let text = value.string else { return nil }
        return type?.type == "text" ? Data(text.utf8) : EdmBinary.bytes(text)
    }

    /// Returns the inline value of bytes.
    ///
    /// - Throws: `EncodingError` if the bytes don't fit the media type.
    static func inlineValue(_ data: Data, _ contentType: String) throws -> ODataValue {
        func fault(_ reason: String) -> EncodingError {
            .invalidValue(
                data, .init(codingPath: [], debugDescription: "The stream's bytes \(reason); their media type is '\(contentType)'."))
        }
        guard let type = MediaType(contentType) else { throw fault("need a media type, such as image/jpeg") }
        if type.isJSON {
            guard let value = try? ODataValue(json: data) else { throw fault("aren't JSON") }
            return value
        }
        guard type.type == "text" else { return .string(LiteralText.base64URL(data)) }
        guard let text = String(validating: data, as: UTF8.self) else { throw fault("aren't UTF-8") }
        return .string(text)
    }
}

extension MediaType {
    var isJSON: Bool { subtype == "json" || suffix == "json" }
}

extension KeyedDecodingContainer {
    /// Decodes a stream's links from the property's control information; the property itself is absent.
    public func decode(_ type: EdmStream.Type, forKey key: Key) throws -> EdmStream {
        try decodeWithNeighbours(type, forKey: key) ?? EdmStream()
    }

    /// Decodes a stream's links, or `nil` if there are none.
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

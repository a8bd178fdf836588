public import Foundation
public import WebServiceClient

/// Writes and reads the bodies of OData calls, by ``ODataEncoder`` and ``ODataDecoder``.
public struct ODataSerializer: SerializationDelegate {
    /// How values are spelled in what is written.
    public var format: PayloadFormat
    /// The types that ``Polymorphic`` values are decoded as, and whose values say what they are.
    public var types: TypeRegistry
    /// What the types' own coding finds in `userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable]
    /// Where texts and bytes are.
    var plainValues = PlainValues.byMediaType

    /// Where a result that is a `String` or a `Data` is in a response's body.
    enum PlainValues: Sendable, Hashable {
        /// In JSON it is a value, in every other type the whole body.
        case byMediaType
        /// It is a value in JSON. Bytes of another type may be those of a stream property, which has no path of its own.
        case inside
        /// It is the whole body: a raw value, an entity's media, a count, the metadata.
        case whole
    }

    /// A serializer.
    public init(
        format: PayloadFormat = PayloadFormat(), types: TypeRegistry = TypeRegistry(), userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) {
        self.format = format
        self.types = types
        self.userInfo = userInfo
    }

    /// The media type of what is written.
    public var contentType: String { format.contentType }

    /// The payload of a value.
    ///
    /// - Throws: like ``ODataEncoder/encode(_:)``.
    public func encode(_ value: any Encodable) throws -> Data {
        try ODataEncoder(format, types: types, userInfo: userInfo).encode(value)
    }

    /// A value of a payload, or of the root inside it.
    ///
    /// - Throws: like ``ODataDecoder``; `SerializationError` where the charset is unknown or wrong.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value {
        try decode(type, from: data, at: path, contentType: contentType, url: nil)
    }

    /// The same, where it is known from which URL the payload came: there relative links begin that no context says more of.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, at path: [String], contentType: String?, url: URL?
    ) throws -> Value {
        let text = try TextEncoding.utf8(from: data, contentType: contentType)
        return try decoder(at: url).decode(type, from: text, at: path)
    }

    /// What decodes payloads that come from a URL.
    func decoder(at url: URL?) -> ODataDecoder {
        var decoder = ODataDecoder(types: types, userInfo: userInfo)
        decoder.url = url.map { LongQueryPolicy.base(of: $0) }
        decoder.version = format.version
        return decoder
    }

    /// Whether a `String` or a `Data` is a value of OData and not the whole body: it is in JSON, where the path doesn't say otherwise.
    public func readsInsidePayload(_ type: any Any.Type, contentType: String?) -> Bool {
        let media = contentType.flatMap { MediaType($0) }
        let isJSON = media.map { $0.subtype == "json" || $0.suffix == "json" } ?? false
        switch plainValues {
        case .whole: return false
        case .byMediaType: return isJSON
        case .inside:
            // An empty body, which has no type, is no value.
            guard type == Data.self || type == Data?.self, let media, !isJSON else { return true }
            // What no stream is likely to hold can't be read, which is told.
            let answers = ["text/html", "text/plain", "application/xhtml+xml", "application/atom+xml", "application/atomsvc+xml"]
            return media.type == "multipart" || answers.contains(media.essence)
        }
    }
}

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

extension EndpointDefaults {
    static func headers(of version: ODataVersion) -> [(String, String)] {
        switch version {
        case .v2: [("DataServiceVersion", "2.0"), ("MaxDataServiceVersion", "2.0")]
        case .v4, .v401: [("OData-MaxVersion", version.rawValue)]
        }
    }

    /// The headers, the JSON and the errors of a version of OData, for the declared endpoints of an ``ODataClient``'s subclass.
    ///
    /// Endpoints that give `String` or `Data` read it as a value inside JSON, and take the whole body of any other media type; one that is
    /// `.raw()` always takes the whole body.
    ///
    /// - Parameters:
    ///   - version: the version.
    ///   - types: the types that ``Polymorphic`` values are decoded as.
    ///   - userInfo: what the types' own coding finds in `userInfo`.
    public static func odata(
        _ version: ODataVersion = .v4, types: TypeRegistry = TypeRegistry(), userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) -> EndpointDefaults {
        let serializer = ODataSerializer(format: PayloadFormat(version: version), types: types, userInfo: userInfo)
        var headers = HTTPFields()
        for (name, value) in Self.headers(of: version) { headers[HTTPFields.Name(name)] = value }
        // What is accepted is left to what is read, so that streams and raw endpoints accept any type.
        var reader = serializer
        reader.format = PayloadFormat(accepting: version)
        return EndpointDefaults(headers: headers, errorHandler: ODataErrorHandler(), serializer: serializer).decoding(with: reader)
    }
}

extension PayloadFormat {
    /// The format whose media type is what is accepted. The prefix `odata.` is known to services of 4.0 and of 4.01.
    init(accepting version: ODataVersion, isIEEE754Compatible: Bool = false) {
        self.init(version: min(version, .v4), isIEEE754Compatible: isIEEE754Compatible)
    }
}

/// Makes ``ODataErrorBody`` the error body of every failure that has one.
///
/// What a proxy says in HTML, or anything else that is no OData error, is left to the check of the status.
struct ODataErrorHandler: ErrorHandler {
    func verdict(on outcome: CallOutcome) -> ErrorVerdict {
        guard case .response(let response) = outcome.result, !outcome.isSuccess else { return .default }
        // JSON is UTF-8 whatever charset is named (RFC 8259 §8.1); some services really use the one that they name.
        let named = { try? TextEncoding.utf8(from: response.body, contentType: response.headers[.contentType]) }
        guard let body = ODataErrorBody(response.body) ?? named().flatMap({ ODataErrorBody($0) }) else { return .default }
        return .fail(DecodedErrorBody(status: response.status, body: body))
    }
}

extension ServiceError.Kind {
    /// An OData query can't be said as a URL; the cause is ``ODataQueryError``.
    public static let query = Self(rawValue: "query")
    /// The service answered in a later version of OData than it was asked for.
    public static let version = Self(rawValue: "version")
    /// A link of the service isn't followed; the cause is ``ODataLinkError``.
    public static let link = Self(rawValue: "link")
}

public import Foundation
public import WebServiceClient

/// A serializer of OData bodies, based on ``ODataEncoder`` and ``ODataDecoder``.
public struct ODataSerializer: SerializationDelegate {
    /// The spelling of written values.
    public var format: PayloadFormat
    /// The types that ``Polymorphic`` values are decoded as, and whose values include their type names.
    public var types: TypeRegistry
    /// The `userInfo` for the types' own coding.
    public var userInfo: [CodingUserInfoKey: any Sendable]
    /// The location of strings and bytes.
    var plainValues = PlainValues.byMediaType

    /// The location of a `String` or `Data` result in a response's body.
    enum PlainValues: Sendable, Hashable {
        /// A value in JSON, the whole body in every other media type.
        case byMediaType
        /// A value in JSON. A `Data` of another media type is the whole body, since a stream property's path looks like any property's.
        case inside
        /// The whole body: a raw value, an entity's media, a count, the metadata.
        case whole
    }

    /// Creates a serializer.
    public init(
        format: PayloadFormat = PayloadFormat(), types: TypeRegistry = TypeRegistry(), userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) {
        self.format = format
        self.types = types
        self.userInfo = userInfo
    }

    /// The media type of written bodies.
    public var contentType: String { format.contentType }

    /// Returns the payload of a value.
    ///
    /// - Throws: The errors of ``ODataEncoder/encode(_:)``.
    public func encode(_ value: any Encodable) throws -> Data {
        try ODataEncoder(format, types: types, userInfo: userInfo).encode(value)
    }

    /// Decodes a value from a payload, or from the path inside it.
    ///
    /// - Throws: The errors of ``ODataDecoder``; `SerializationError` if the charset is unknown or wrong.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value {
        try decode(type, from: data, at: path, contentType: contentType, url: nil)
    }

    /// Decodes a value from a payload whose URL is known. The URL is the base of relative links without a context.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, at path: [String], contentType: String?, url: URL?
    ) throws -> Value {
        if type == Confirmation?.self, let confirmation = try Confirmation(data, contentType: contentType) as? Value {
            return confirmation
        }
        if plainValues == .whole, path.isEmpty, let bytes = EdmBinary(data) as? Value { return bytes }
        let text = try TextEncoding.utf8(from: data, contentType: contentType)
        do {
            return try decoder(at: url).decode(type, from: text, at: path)
        } catch {
            guard plainValues == .whole, path.isEmpty, let value = rawValue(type, in: text, contentType, url) else { throw error }
            return value
        }
    }

    /// Returns the value whose text is a whole body (Protocol 4.01, section 11.2.4.1), such as a date: only numbers and Booleans are JSON as
    /// well. `nil` for types with another text, and for other media types than plain text.
    private func rawValue<Value: Decodable>(_ type: Value.Type, in text: Data, _ contentType: String?, _ url: URL?) -> Value? {
        guard contentType.map({ $0.isEmpty || MediaType($0)?.essence == "text/plain" }) ?? true else { return nil }
        let raw = String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return try? decoder(at: url).decode(type, from: ODataValue.string(raw))
    }

    /// Returns the decoder of payloads from a URL.
    func decoder(at url: URL?) -> ODataDecoder {
        var decoder = ODataDecoder(types: types, userInfo: userInfo)
        decoder.url = url.map { LongQueryPolicy.base(of: $0) }
        decoder.version = format.version
        return decoder
    }

    /// Returns whether a `String` or a `Data` is an OData value instead of the whole body: in JSON, unless the path determines otherwise.
    public func readsInsidePayload(_ type: any Any.Type, contentType: String?) -> Bool {
        let media = contentType.flatMap { MediaType($0) }
        let isJSON = media.map { $0.subtype == "json" || $0.suffix == "json" } ?? false
        switch plainValues {
        case .whole: return false
        case .byMediaType: return isJSON
        case .inside:
            // An empty body has no type and isn't a value.
            guard type == Data.self || type == Data?.self, let media, !isJSON else { return true }
            // Media types that a stream hardly has are read as a payload, which fails with an error.
            let answers = ["text/html", "text/plain", "application/xhtml+xml", "application/atom+xml", "application/atomsvc+xml"]
            return media.type == "multipart" || answers.contains(media.essence)
        }
    }
}

/// The answer to a change whose content doesn't matter, if it is the service's: a page of a proxy that asks users to sign in confirms
/// nothing.
struct Confirmation: Decodable, Sendable {
    /// The maximum number of bytes of a body that may be an error.
    private static let longestError = 1 << 16

    init(from decoder: any Decoder) {}

    /// - Throws: `SerializationError` for a web page, and ``ODataErrorBody`` for an error with the status of a success.
    init(_ body: Data, contentType: String?) throws {
        let begin = body.first { $0 > 0x20 }
        if begin == UInt8(ascii: "<"), let type = contentType.flatMap({ MediaType($0) }), type.isHTML {
            throw SerializationError(
                .format, "The body is a web page (\(type.essence)), and not an answer of the service: check the credentials.")
        }
        guard begin == UInt8(ascii: "{"), body.count <= Self.longestError, let root = try? ODataValue(json: body),
            let error = PayloadRoot.error(in: root)
        else { return }
        throw error
    }
}

extension EndpointDefaults {
    static func headers(of version: ODataVersion) -> [(String, String)] {
        switch version {
        case .v2: [("DataServiceVersion", "2.0"), ("MaxDataServiceVersion", "2.0")]
        case .v4, .v401: [("OData-MaxVersion", version.rawValue)]
        }
    }

    /// Returns the headers, the JSON format and the error format of a version of OData, for the declared endpoints of an ``ODataClient``
    /// subclass.
    ///
    /// Endpoints that return `String` or `Data` read a value inside JSON, and the whole body of any other media type; `.raw()` endpoints
    /// always read the whole body.
    ///
    /// - Parameters:
    ///   - version: The version.
    ///   - types: The types that ``Polymorphic`` values are decoded as.
    ///   - userInfo: The `userInfo` for the types' own coding.
    public static func odata(
        _ version: ODataVersion = .v4, types: TypeRegistry = TypeRegistry(), userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) -> EndpointDefaults {
        let serializer = ODataSerializer(format: PayloadFormat(version: version), types: types, userInfo: userInfo)
        var headers = HTTPFields()
        for (name, value) in Self.headers(of: version) { headers[HTTPFields.Name(name)] = value }
        // The reader sets `Accept`, so that streams and raw endpoints accept any type.
        var reader = serializer
        reader.format = PayloadFormat(accepting: version)
        return EndpointDefaults(headers: headers, errorHandler: ODataErrorHandler(), serializer: serializer).decoding(with: reader)
    }
}

extension PayloadFormat {
    /// Creates the format whose media type is accepted. Services of 4.0 and of 4.01 know the prefix `odata.`.
    init(accepting version: ODataVersion, isIEEE754Compatible: Bool = false) {
        self.init(version: min(version, .v4), isIEEE754Compatible: isIEEE754Compatible)
    }
}

/// An error handler that makes ``ODataErrorBody`` the error body of every failure that has one.
///
/// Other bodies, such as a proxy's HTML, are left to the status check.
struct ODataErrorHandler: ErrorHandler {
    func verdict(on outcome: CallOutcome) -> ErrorVerdict {
        guard case .response(let response) = outcome.result, !outcome.isSuccess else { return .default }
        // JSON is UTF-8 whatever charset is declared (RFC 8259 §8.1), but some services really use the declared one.
        let named = { try? TextEncoding.utf8(from: response.body, contentType: response.headers[.contentType]) }
        guard let body = ODataErrorBody(response.body) ?? named().flatMap({ ODataErrorBody($0) }) else { return .default }
        return .fail(DecodedErrorBody(status: response.status, body: body))
    }
}

extension ServiceError.Kind {
    /// An OData query can't be expressed as a URL; the cause is ``ODataQueryError``.
    public static let query = Self(rawValue: "query")
    /// The service answered in a later version of OData than requested.
    public static let version = Self(rawValue: "version")
    /// A link of the service isn't followed; the cause is ``ODataLinkError``.
    public static let link = Self(rawValue: "link")
}

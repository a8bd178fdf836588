public import Foundation

/// Reads and writes XML, with an ``XMLEncoder`` and an ``XMLDecoder``.
///
///     XMLSerializer(XMLRules(), contentType: "application/soap+xml") { encoder, decoder in
///         encoder.rules.namespaces = ["soap": "http://www.w3.org/2003/05/soap-envelope"]
///         decoder.rules = encoder.rules
///     }
///
/// The standard registry reads `application/xml`, `text/xml` and types that end in `+xml` with the default rules; a client with this
/// serializer reads them with its own.
public struct XMLSerializer: SerializationDelegate {
    /// The media type of the output: `application/xml` by default, with the charset if that isn't UTF-8.
    public let contentType: String
    /// The encoder.
    public let encoder: XMLEncoder
    /// The decoder.
    public let decoder: XMLDecoder

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - rules: How values map to XML.
    ///   - contentType: The media type of the output.
    ///   - configure: Changes any other setting.
    public init(
        _ rules: XMLRules = XMLRules(), contentType: String = "application/xml",
        configure: (_ encoder: inout XMLEncoder, _ decoder: inout XMLDecoder) -> Void = { _, _ in }
    ) {
        var encoder = XMLEncoder(rules)
        var decoder = XMLDecoder(rules)
        configure(&encoder, &decoder)
        self.encoder = encoder
        self.decoder = decoder
        self.contentType = encoder.encoding == .utf8 ? contentType : contentType + "; charset=" + encoder.encoding.name
    }

    /// Encodes the value as XML.
    ///
    /// - Throws: The errors of ``XMLEncoder/encode(_:)``.
    public func encode(_ value: any Encodable) throws -> Data { try encoder.encode(value) }

    /// Decodes a value from XML, or from an element inside it.
    ///
    /// - Throws: The errors of ``XMLDecoder/decode(_:from:at:contentType:)``.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value {
        try decoder.decode(type, from: data, at: path, contentType: contentType)
    }
}

extension XMLSerializer: DescribedSerializer {
    /// The rules; the media type has the charset.
    var settings: [String] {
        let rules = encoder.rules.settings
        let (writer, reader) = (XMLEncoder(), XMLDecoder())
        let isPlain =
            decoder.rules.settings == rules && encoder.writesDeclaration == writer.writesDeclaration && encoder.userInfo.isEmpty
            && decoder.userInfo.isEmpty && decoder.limits == reader.limits && decoder.documentType == reader.documentType
            && decoder.refusesUnknown == reader.refusesUnknown
        return isPlain ? rules : rules + [SerializerCatalog.configured]
    }

    init?(contentType: String, settings: [Substring]) {
        var rules = XMLRules()
        for text in settings where !rules.read(text) { return nil }
        let name = contentType.divided(by: "; charset=")?.after
        guard let name, let encoding = TextEncoding(String(name)), encoding != .utf8 else {
            self.init(rules, contentType: contentType)
            return
        }
        let mediaType = String(contentType.dropLast("; charset=".count + name.count))
        self.init(rules, contentType: mediaType) { encoder, _ in encoder.encoding = encoding }
    }
}

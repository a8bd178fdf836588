import HTTPTransport

/// A serializer of this library, whose settings leave the program as data: descriptions contain them, and exported tables are read again.
protocol DescribedSerializer: SerializationDelegate {
    /// The texts of the settings, except for the media type. A setting that a text can't represent has one that isn't read.
    var settings: [String] { get }

    /// Creates the serializer with a media type and the texts of its settings.
    ///
    /// It may be lenient: `SerializerCatalog` refuses the serializer if its own text isn't exactly the same.
    ///
    /// - Returns: `nil` if a text is unknown.
    init?(contentType: String, settings: [Substring])
}

/// The serializers of this library, as texts of descriptions.
///
/// To add a serializer, let it conform to `DescribedSerializer` in its file, and add its type here.
enum SerializerCatalog {
    /// The types of the serializers.
    static let types: [any DescribedSerializer.Type] = [
        FormSerializer.self, JSONSerializer.self, PlainTextSerializer.self, PropertyListSerializer.self, RawDataSerializer.self,
        XMLSerializer.self,
    ]

    /// The names of the serializers that aren't data, each with the reason.
    static let others = ["OData.ODataSerializer": "it has a registry of types, and the client of a service sets it"]

    /// The setting of a serializer whose further settings have no text.
    static let configured = "configured"

    private static let typesByName = Dictionary(uniqueKeysWithValues: types.map { (String(describing: $0), $0) })

    /// Returns the name of a serializer with its media type and settings. For a type of the program, only the name and the media type are
    /// known.
    static func text(of serializer: any SerializationDelegate) -> String {
        let settings = (serializer as? any DescribedSerializer)?.settings ?? []
        return "\(MaskedMirror.typeName(of: serializer))(\(([serializer.contentType] + settings).joined(separator: ", ")))"
    }

    /// Returns the serializer with a text; `nil` if it is a type of the program, has settings without a text, or isn't known.
    static func serializer(_ text: String) -> (any SerializationDelegate)? {
        guard let (name, rest) = text.divided(by: "("), let type = typesByName[String(name)], let parts = rest.inside("")?.listed(),
            let found = type.init(contentType: String(parts.first ?? ""), settings: Array(parts.dropFirst()))
        else { return nil }
        return self.text(of: found) == text ? found : nil
    }
}

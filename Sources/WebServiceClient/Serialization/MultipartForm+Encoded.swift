extension MultipartForm.Part {
    /// A text field in a charset, with a media type that names it.
    ///
    /// - Throws: ``SerializationError`` when the charset lacks one of the text's characters.
    public static func text(_ name: String, _ value: String, in encoding: TextEncoding) throws -> Self {
        Self(name: name, contentType: "text/plain; charset=" + encoding.name, content: .data(try encoding.encode(value)))
    }

    /// A value in a serializer's format, JSON by default, with its media type.
    ///
    /// - Throws: what the serializer throws.
    public static func value(
        _ name: String, _ value: any Encodable, with serializer: any SerializationDelegate = JSONSerializer(), fileName: String? = nil
    ) throws -> Self {
        Self(name: name, fileName: fileName, contentType: serializer.contentType, content: .data(try serializer.encode(value)))
    }
}

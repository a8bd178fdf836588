public import Foundation

/// Reads and writes plain text, and simple values as text: numbers, Booleans, dates, UUIDs, URLs, enums.
public struct PlainTextSerializer: SerializationDelegate {
    /// The charset of the output.
    public let encoding: TextEncoding
    /// The media type of the output, with the charset, such as `text/plain; charset=utf-8`.
    public let contentType: String

    /// Creates a serializer that writes in a charset.
    public init(_ encoding: TextEncoding = .utf8, mediaType: String = "text/plain") {
        self.encoding = encoding
        contentType = mediaType + "; charset=" + encoding.name
    }

    /// Encodes the text of the value in the serializer's charset.
    ///
    /// - Throws: ``ReflectionError`` if the value isn't a simple one; ``SerializationError`` if it is nil, or the charset lacks one of
    ///   its characters.
    public func encode(_ value: any Encodable) throws -> Data {
        guard let text = try ArgumentText.text(of: value) else {
            throw SerializationError(.encoding, "nil has no plain text: omit the body.")
        }
        return try encoding.encode(text)
    }

    /// Decodes the text, or the simple value that it represents.
    ///
    /// - Throws: ``SerializationError`` if the charset is unknown, the bytes aren't valid in it, or the text doesn't represent such a
    ///   value.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value {
        guard path.isEmpty else {
            throw SerializationError(.root, "Plain text has no root “\(path.joined(separator: "."))”: remove the path.")
        }
        return try TextValue.read(type, from: Self.text(of: data, contentType: contentType))
    }

    /// Whether a body is JSON, for which a charset in the header has no meaning (RFC 8259 §11).
    private static func isJSON(_ contentType: String) -> Bool {
        guard let type = MediaType(contentType) else { return false }
        return type.subtype == "json" || type.suffix == "json"
    }

    /// Decodes the text of a body. JSON follows its own rules (RFC 8259 §8.1). Other text uses the charset of its byte order mark, else of
    /// the header, else UTF-8: a mark is more certain than a header, which many servers add by default (Encoding Standard, §6). If it isn't
    /// UTF-8 and the header's type is `text/…`, ISO-8859-1 applies, the default of older HTTP (RFC 2616 §3.7.1).
    ///
    /// - Throws: ``SerializationError`` if the charset is unknown, or the bytes aren't valid in it.
    public static func text(of data: Data, contentType: String?) throws -> String {
        if let contentType, Self.isJSON(contentType) {
            if let text = String(data: try TextEncoding.utf8(from: data, contentType: contentType), encoding: .utf8) { return text }
        }
        let mark = TextEncoding.byteOrderMark(of: data)
        // The mark of UTF-32 may be that of UTF-16 and a NUL, if the header says UTF-16.
        if let mark, mark.length < 4 || contentType?.lowercased().contains("utf-16") != true, let text = try? mark.encoding.decode(data) {
            return text
        }
        if let encoding = try TextEncoding.named(in: contentType) { return try encoding.decode(data) }
        if let mark { return try mark.encoding.decode(data) }
        do {
            return try TextEncoding.utf8.decode(data)
        } catch {
            guard let contentType, MediaType(contentType)?.type == "text" else {
                throw SerializationError(
                    .charset,
                    "The body isn't UTF-8 text, and its Content-Type, “\(contentType ?? "missing")”, names no charset: request it as Data.")
            }
            return try TextEncoding.isoLatin1.decode(data)
        }
    }
}

extension PlainTextSerializer: DescribedSerializer {
    /// None: the media type has the charset.
    var settings: [String] { [] }

    init?(contentType: String, settings: [Substring]) {
        let mark = "; charset="
        guard let name = contentType.split(mark: mark).last, let encoding = TextEncoding(String(name)) else { return nil }
        self.init(encoding, mediaType: String(contentType.dropLast(name.count + mark.count)))
    }
}

/// Passes bytes through unchanged: `Data` in, `Data` out.
public struct RawDataSerializer: SerializationDelegate {
    /// The media type of the output.
    public let contentType: String

    /// Creates a serializer of bytes with that media type.
    public init(contentType: String = "application/octet-stream") {
        self.contentType = contentType
    }

    /// Returns the bytes of a `Data`.
    ///
    /// - Throws: ``SerializationError`` for any other value.
    public func encode(_ value: any Encodable) throws -> Data {
        if let data = value as? Data { return data }
        if let bytes = value as? [UInt8] { return Data(bytes) }
        throw SerializationError(
            .encoding, "A \(type(of: value)) can't be sent as raw bytes: pass Data, or set a serializer that knows its format.")
    }

    /// Returns the bytes as `Data` or `[UInt8]`.
    ///
    /// - Throws: ``SerializationError`` for any other type, and for a path, since raw bytes have no structure.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value {
        guard path.isEmpty else {
            throw SerializationError(.root, "Raw bytes have no root “\(path.joined(separator: "."))”: remove the path.")
        }
        if let value = data as? Value { return value }
        if let value = Array(data) as? Value { return value }
        throw SerializationError(
            .structure, "Raw bytes can't be read as \(type): return Data, or set a serializer that knows the format.")
    }
}

extension RawDataSerializer: DescribedSerializer {
    /// None.
    var settings: [String] { [] }

    init?(contentType: String, settings: [Substring]) {
        self.init(contentType: contentType)
    }
}

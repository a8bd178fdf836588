public import Foundation

/// Plain text, and simple values as text: numbers, Booleans, dates, UUIDs, URLs, enums.
public struct PlainTextSerializer: SerializationDelegate {
    /// The charset of what is written.
    public let encoding: TextEncoding
    /// The media type of what is written, with the charset, such as `text/plain; charset=utf-8`.
    public let contentType: String

    /// A serializer that writes in a charset.
    public init(_ encoding: TextEncoding = .utf8, mediaType: String = "text/plain") {
        self.encoding = encoding
        contentType = mediaType + "; charset=" + encoding.name
    }

    /// The text of the value in the serializer's charset.
    ///
    /// - Throws: ``ReflectionError`` when the value isn't a simple one; ``SerializationError`` when it is nil, or the charset lacks one of
    ///   its characters.
    public func encode(_ value: any Encodable) throws -> Data {
        guard let text = try ArgumentText.text(of: value) else {
            throw SerializationError(.encoding, "nil has no plain text: leave the body out.")
        }
        return try encoding.encode(text)
    }

    /// The text, or the simple value that it stands for.
    ///
    /// - Throws: ``SerializationError`` when the charset is unknown, the bytes are none of it, or the text is no such value.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value {
        guard path.isEmpty else {
            throw SerializationError(.root, "Plain text has no root “\(path.joined(separator: "."))”: take the path away.")
        }
        return try TextValue.read(type, from: Self.text(of: data, contentType: contentType))
    }

    /// Whether a body is JSON, where a charset in the header means nothing (RFC 8259 §11).
    private static func isJSON(_ contentType: String) -> Bool {
        guard let type = MediaType(contentType) else { return false }
        return type.subtype == "json" || type.suffix == "json"
    }

    /// The text of a body: JSON by its own rules (RFC 8259 §8.1); else in the charset of its header, else in that of its byte order mark, else in UTF-8; and where it is none, but
    /// the header says `text/…`, in ISO-8859-1, which is what the older HTTP said (RFC 2616 §3.7.1).
    ///
    /// - Throws: ``SerializationError`` when the charset is unknown, or the bytes are none of it.
    public static func text(of data: Data, contentType: String?) throws -> String {
        if let contentType, Self.isJSON(contentType) {
            if let text = String(data: try TextEncoding.utf8(from: data, contentType: contentType), encoding: .utf8) { return text }
        }
        if let encoding = try TextEncoding.named(in: contentType) { return try encoding.decode(data) }
        if let mark = TextEncoding.byteOrderMark(of: data) { return try mark.encoding.decode(data) }
        do {
            return try TextEncoding.utf8.decode(data)
        } catch {
            guard let contentType, MediaType(contentType)?.type == "text" else {
                throw SerializationError(
                    .charset,
                    "The body is no UTF-8 text, and its Content-Type, “\(contentType ?? "missing")”, names no charset: take it as Data.")
            }
            return try TextEncoding.isoLatin1.decode(data)
        }
    }
}

/// Bytes as they are: `Data` in, `Data` out.
public struct RawDataSerializer: SerializationDelegate {
    /// The media type of what is written.
    public let contentType: String

    /// A serializer of bytes of that media type.
    public init(contentType: String = "application/octet-stream") {
        self.contentType = contentType
    }

    /// The bytes of a `Data`.
    ///
    /// - Throws: ``SerializationError`` for any other value.
    public func encode(_ value: any Encodable) throws -> Data {
        if let data = value as? Data { return data }
        if let bytes = value as? [UInt8] { return Data(bytes) }
        throw SerializationError(
            .encoding, "A \(type(of: value)) can't be sent as raw bytes: pass Data, or set a serializer that knows its format.")
    }

    /// The bytes, for `Data` and `[UInt8]`.
    ///
    /// - Throws: ``SerializationError`` for any other type, and for a path: raw bytes have no inside.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value {
        guard path.isEmpty else {
            throw SerializationError(.root, "Raw bytes have no root “\(path.joined(separator: "."))”: take the path away.")
        }
        if let value = data as? Value { return value }
        if let value = Array(data) as? Value { return value }
        throw SerializationError(
            .structure, "Raw bytes can't be read as \(type): return Data, or set a serializer that knows the format.")
    }
}

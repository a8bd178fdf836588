public import Foundation

/// Forms, `application/x-www-form-urlencoded`.
public struct FormSerializer: SerializationDelegate {
    /// The media type of what is written.
    public let contentType = "application/x-www-form-urlencoded"

    /// A serializer.
    public init() {}

    /// The value's fields as a form.
    public func encode(_ value: any Encodable) throws -> Data {
        throw SerializationError(.encoding, "")
    }

    /// The value of a form, or of the root inside it.
    ///
    /// - Throws: `DecodingError` where a field is missing; ``SerializationError`` where one doesn't fit, the root is missing, or the bytes
    ///   are none of the charset, which is UTF-8 unless the header names another.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value {
        let tree = try FormTree(data, encoding: TextEncoding.named(in: contentType) ?? .utf8).node(at: path)
        return try FormDecoder(tree: tree, codingPath: path.map { WireKey($0) }).value(type)
    }
}

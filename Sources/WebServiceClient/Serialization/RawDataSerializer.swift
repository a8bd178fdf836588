public import Foundation

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

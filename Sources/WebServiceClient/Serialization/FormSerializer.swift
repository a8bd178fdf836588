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

    /// The value of a form.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value {
        throw SerializationError(.encoding, "")
    }
}

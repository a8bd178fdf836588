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
        let text = try TextEncoding.utf8(from: data, contentType: contentType)
        return try ODataDecoder(types: types, userInfo: userInfo).decode(type, from: text, at: path)
    }
}

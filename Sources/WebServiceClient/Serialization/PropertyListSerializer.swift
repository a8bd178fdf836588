public import Foundation

/// Property lists, XML or binary; both are read, whichever is written.
public struct PropertyListSerializer: SerializationDelegate {
    /// What is written.
    public enum Format: Sendable, Hashable {
        /// XML in UTF-8.
        case xml
        /// Apple's binary form.
        case binary
    }

    /// The media type of what is written: `application/x-plist`.
    public let contentType: String
    private let encoder: PropertyListEncoder
    private let decoder = PropertyListDecoder()

    /// A serializer.
    public init(_ format: Format = .xml, contentType: String = "application/x-plist") {
        self.contentType = contentType
        encoder = PropertyListEncoder()
        encoder.outputFormat = format == .xml ? .xml : .binary
    }

    /// The value as a property list.
    ///
    /// - Throws: `EncodingError`: a property list is a dictionary or an array at its top.
    public func encode(_ value: any Encodable) throws -> Data {
        try encoder.encode(value)
    }

    /// The value of a property list, or of the root inside it.
    ///
    /// - Throws: `DecodingError`; ``SerializationError`` when the root is missing, or lists are nested more than 512 levels deep.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value {
        try PropertyListBounds.check(data)
        if path.isEmpty { return try decoder.decode(type, from: data) }
        return try PayloadPath(names: path).decode(type) { try decoder.decode($0, from: data) }
    }
}

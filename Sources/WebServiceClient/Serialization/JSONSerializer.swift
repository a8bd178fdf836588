public import Foundation

/// JSON (RFC 8259), by Foundation's encoder and decoder, which are made once and used by all calls.
///
///     JSONSerializer(dates: .milliseconds, keys: .snakeCase)
///     JSONSerializer { encoder, decoder in
///         encoder.dataEncodingStrategy = .deferredToData
///         decoder.nonConformingFloatDecodingStrategy = .convertFromString(positiveInfinity: "INF", negativeInfinity: "-INF", nan: "NaN")
///     }
///
/// It writes compact UTF-8 with slashes as they are. It reads any charset that the header names or a byte order mark tells, and any
/// value at the top: an object, an array, a number, a string, null.
public struct JSONSerializer: SerializationDelegate {
    /// How the names of properties become the names on the wire.
    public enum Keys: Sendable, Hashable {
        /// As the type declares them.
        case asDeclared
        /// `pageCount` is `page_count` on the wire, by Foundation's rules.
        case snakeCase
    }

    /// The media type of what is written: `application/json`.
    public let contentType: String
    private let encoder: JSONEncoder
    private let decoder: JSONDecoder
    private let key: @Sendable (_ name: String, _ path: [any CodingKey]) -> String

    /// A serializer.
    ///
    /// - Parameters:
    ///   - contentType: the media type of what is written, such as `application/vnd.api+json`.
    ///   - dates: how dates stand on the wire.
    ///   - keys: how names stand on the wire.
    ///   - configure: sets up what else there is to set. It is called once, now; neither object may be changed, nor kept, after it.
    public init(
        contentType: String = "application/json", dates: JSONDates = .iso8601, keys: Keys = .asDeclared,
        configure: (_ encoder: JSONEncoder, _ decoder: JSONDecoder) -> Void = { _, _ in }
    ) {
        let encoder = JSONEncoder()
        let decoder = JSONDecoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        encoder.dateEncodingStrategy = dates.encoding
        decoder.dateDecodingStrategy = dates.decoding
        if keys == .snakeCase {
            encoder.keyEncodingStrategy = .convertToSnakeCase
            decoder.keyDecodingStrategy = .convertFromSnakeCase
        }
        configure(encoder, decoder)
        self.contentType = contentType
        self.encoder = encoder
        self.decoder = decoder
        key = Self.key(of: decoder.keyDecodingStrategy)
    }

    /// The value as JSON.
    ///
    /// - Throws: `EncodingError`, or what the value's own coding throws.
    public func encode(_ value: any Encodable) throws -> Data {
        try encoder.encode(value)
    }

    /// The value of a JSON text, or of the root inside it.
    ///
    /// - Throws: `DecodingError`, or what the type's own coding throws; ``SerializationError`` when the root is missing, the charset is
    ///   unknown, or the bytes are none of it.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value {
        let text = try TextEncoding.utf8(from: data, contentType: contentType)
        if path.isEmpty { return try decoder.decode(type, from: text) }
        return try PayloadPath(names: path, key: key).decode(type) { try decoder.decode($0, from: text) }
    }

    /// What a name on the wire is called in the decoder's containers.
    private static func key(
        of strategy: JSONDecoder.KeyDecodingStrategy
    ) -> @Sendable (_ name: String, _ path: [any CodingKey]) -> String {
        switch strategy {
        case .useDefaultKeys: { name, _ in name }
        case .convertFromSnakeCase: { name, _ in camelCase(name) }
        case .custom(let convert): { name, path in convert(path + [WireKey(name)]).stringValue }
        @unknown default: { name, _ in name }
        }
    }

    /// The same as `convertFromSnakeCase` makes of a name: underscores at either end stay.
    private static func camelCase(_ name: String) -> String {
        let head = name.prefix { $0 == "_" }
        let rest = name.dropFirst(head.count)
        guard let last = rest.lastIndex(where: { $0 != "_" }) else { return name }
        let words = rest[...last].split(separator: "_")
        guard words.count > 1, let first = words.first else { return name }
        return head + first.lowercased() + words.dropFirst().map(\.capitalized).joined() + rest[rest.index(after: last)...]
    }
}

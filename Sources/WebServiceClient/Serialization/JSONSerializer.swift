public import Foundation

/// JSON (RFC 8259), written by Foundation's encoder and read by a ``JSONReader``, which are made once and used by all calls.
///
///     JSONSerializer(dates: .milliseconds, keys: .snakeCase)
///     JSONSerializer { encoder, decoder in
///         encoder.dataEncodingStrategy = .deferredToData
///         decoder.nonConformingFloatDecodingStrategy = .convertFromString(positiveInfinity: "INF", negativeInfinity: "-INF", nan: "NaN")
///     }
///
/// Members are written in an order that differs from process to process, as Foundation does, which is the fastest; dry runs and
/// ``ServiceRequest/curlCommand`` show them sorted. `encoder.outputFormatting.insert(.sortedKeys)` sorts them on the wire, too.
///
/// It writes compact UTF-8, with slashes as they are and dates as ``JSONDates`` says, unless an encoder of yours is given. It reads any charset that the header names or a byte order mark tells, and any
/// value at the top: an object, an array, a number, a string, null. What `JSONDecoder` lets pass, such as a comma at the end or a name
/// that an object has twice, is an error; ``init(contentType:encoder:decoder:)`` reads by a `JSONDecoder` nevertheless.
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
    private let parser: Parser

    private enum Parser: Sendable {
        case reader(JSONReader)
        case foundation(JSONDecoder)
    }

    /// A serializer.
    ///
    /// - Parameters:
    ///   - contentType: the media type of what is written, such as `application/vnd.api+json`.
    ///   - dates: how dates stand on the wire.
    ///   - keys: how names stand on the wire.
    ///   - configure: sets up what else there is to set. It is called once, now; neither object may be changed, nor kept, after it. The
    ///     decoder's settings become a ``JSONReader``'s. Only where it is to read JSON5, or texts without braces at the top, it reads
    ///     itself.
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
        parser = JSONReader.isAble(toReadAs: decoder) ? .reader(JSONReader(settingsOf: decoder)) : .foundation(decoder)
    }

    /// A serializer that reads by a reader of yours.
    ///
    /// - Parameter encoder: it may not be changed any more. Without one, Foundation's writes with its own defaults: dates as seconds since
    ///   2001, slashes escaped.
    public init(contentType: String = "application/json", encoder: JSONEncoder = JSONEncoder(), reader: JSONReader) {
        self.contentType = contentType
        self.encoder = encoder
        parser = .reader(reader)
    }

    /// A serializer that reads by a decoder of yours, with what it lets pass, and as slowly. Neither object may be changed any more.
    /// Without an encoder, Foundation's writes with its own defaults: dates as seconds since 2001, slashes escaped.
    public init(contentType: String = "application/json", encoder: JSONEncoder = JSONEncoder(), decoder: JSONDecoder) {
        self.contentType = contentType
        self.encoder = encoder
        parser = .foundation(decoder)
    }

    /// Whether members are written in an order of chance.
    var hasUnorderedKeys: Bool { !encoder.outputFormatting.contains(.sortedKeys) }

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
        switch parser {
        case .reader(let reader):
            return try reader.decode(type, utf8: text, at: path)
        case .foundation(let decoder):
            if path.isEmpty { return try decoder.decode(type, from: text) }
            let key = Self.key(of: decoder.keyDecodingStrategy)
            return try PayloadPath(names: path, key: key).decode(type) { try decoder.decode($0, from: text) }
        }
    }

    /// What a name on the wire is called in a decoder's containers.
    private static func key(
        of strategy: JSONDecoder.KeyDecodingStrategy
    ) -> @Sendable (_ name: String, _ path: [any CodingKey]) -> String {
        switch strategy {
        case .useDefaultKeys: { name, _ in name }
        case .convertFromSnakeCase: { name, _ in JSONNameConversion.fromSnakeCase(name) }
        case .custom(let convert): { name, path in convert(path + [WireKey(name)]).stringValue }
        @unknown default: { name, _ in name }
        }
    }
}

/// How dates stand in JSON.
public struct JSONDates: Sendable {
    let encoding: JSONEncoder.DateEncodingStrategy
    let decoding: JSONDecoder.DateDecodingStrategy

    /// ISO 8601: written in UTC with milliseconds where there are any; see ``iso8601(fractionDigits:)`` for what is read.
    public static let iso8601 = iso8601(fractionDigits: 3)

    /// ISO 8601 with that many digits of a second, 0 to 9, to which a date is rounded; with none when it is a whole second.
    ///
    /// Read are texts with and without fraction, seconds and zone (UTC without one), `T`, `t` or a blank between date and time, offsets
    /// with and without colon, and a date alone as its midnight in UTC.
    public static func iso8601(fractionDigits: Int) -> JSONDates {
        custom(
            write: { date in ISO8601.text(of: date, fractionDigits: fractionDigits) },
            read: { text in ISO8601.date(from: text) }, expected: "ISO 8601")
    }

    /// Seconds since 1970 as a number, with a fraction.
    public static let seconds = JSONDates(encoding: .secondsSince1970, decoding: .secondsSince1970)

    /// Milliseconds since 1970 as a number.
    public static let milliseconds = JSONDates(encoding: .millisecondsSince1970, decoding: .millisecondsSince1970)

    /// Texts of your own format.
    ///
    /// - Parameters:
    ///   - write: the text of a date; `nil` when it has none, which is an encoding error.
    ///   - read: the date of a text; `nil` when it is none, which is a decoding error.
    public static func custom(
        write: @escaping @Sendable (Date) -> String?, read: @escaping @Sendable (String) -> Date?
    ) -> JSONDates {
        custom(write: write, read: read, expected: "the service's own format")
    }

    private static func custom(
        write: @escaping @Sendable (Date) -> String?, read: @escaping @Sendable (String) -> Date?, expected: String
    ) -> JSONDates {
        JSONDates(
            encoding: .custom { date, encoder in
                guard let text = write(date) else {
                    // Not the date itself: describing one can end the process.
                    throw EncodingError.invalidValue(
                        date.timeIntervalSince1970,
                        EncodingError.Context(
                            codingPath: encoder.codingPath, debugDescription: "The date can't be written in \(expected)."))
                }
                var container = encoder.singleValueContainer()
                try container.encode(text)
            },
            decoding: .custom { decoder in
                let container = try decoder.singleValueContainer()
                let text = try container.decode(String.self)
                guard let date = read(text) else {
                    throw DecodingError.dataCorruptedError(
                        in: container, debugDescription: "“\(SerializationError.excerpt(text))” is no date in \(expected).")
                }
                return date
            })
    }
}

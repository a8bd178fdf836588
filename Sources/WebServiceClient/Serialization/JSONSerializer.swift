public import Foundation

/// Reads and writes JSON (RFC 8259), with Foundation's encoder and a ``JSONReader`` that are created once and shared by all calls.
///
///     JSONSerializer(dates: .milliseconds, keys: .snakeCase)
///     JSONSerializer { encoder, decoder in
///         encoder.dataEncodingStrategy = .deferredToData
///         decoder.nonConformingFloatDecodingStrategy = .convertFromString(positiveInfinity: "INF", negativeInfinity: "-INF", nan: "NaN")
///     }
///
/// The order of an object's members differs from process to process, as in Foundation, which is fastest; dry runs and
/// ``ServiceRequest/curlCommand`` sort them. `encoder.outputFormatting.insert(.sortedKeys)` sorts them on the wire, too.
///
/// The output is compact UTF-8 with unescaped slashes and dates in the form of ``JSONDates``, unless you pass an encoder. The input may
/// be in any charset named by the header or a byte order mark, with any value at the top: an object, an array, a number, a string, null.
/// Input that `JSONDecoder` tolerates, such as a trailing comma or a duplicate name in an object, is an error; use
/// ``init(contentType:encoder:decoder:)`` to read with a `JSONDecoder` instead.
public struct JSONSerializer: SerializationDelegate {
    /// How property names map to names on the wire.
    public enum Keys: Sendable, Hashable {
        /// As the type declares them.
        case asDeclared
        /// `pageCount` becomes `page_count` on the wire, by Foundation's rules.
        case snakeCase
    }

    /// The media type of the output: `application/json` by default. With a charset, such as `application/json; charset=utf-8`, bodies are
    /// written in it.
    public let contentType: String
    private let encoder: JSONEncoder
    private let parser: Parser
    /// How the serializer writes names and dates, for queries and forms.
    let fieldStrategies: FieldStrategies
    /// The charset of the media type, if it isn't UTF-8.
    private let charset: Result<TextEncoding?, any Error>
    /// Whether the coders may have more settings than ``fieldStrategies``.
    private let isConfigured: Bool

    private enum Parser: Sendable {
        case reader(JSONReader)
        case foundation(JSONDecoder)
    }

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - contentType: The media type of the output, such as `application/vnd.api+json`.
    ///   - dates: How dates are written on the wire.
    ///   - keys: How names are written on the wire.
    ///   - configure: Changes any other setting. It is called once, during initialization; don't keep or change either object afterwards.
    ///     The decoder's settings configure a ``JSONReader``. If they ask for JSON5, or for texts without braces at the top, the decoder
    ///     itself reads.
    public init(
        contentType: String = "application/json", dates: JSONDates = .iso8601, keys: Keys = .asDeclared,
        configure: ((_ encoder: JSONEncoder, _ decoder: JSONDecoder) -> Void)? = nil
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
        configure?(encoder, decoder)
        isConfigured = configure != nil
        self.contentType = contentType
        charset = Self.charset(of: contentType)
        JSONValueSlots.mark(encoder)
        self.encoder = encoder
        fieldStrategies = FieldStrategies(encoder, dates: configure == nil ? dates.fields : nil)
        parser = JSONReader.isAble(toReadAs: decoder) ? .reader(JSONReader(settingsOf: decoder)) : .foundation(decoder)
    }

    /// Creates a serializer that reads with the given reader.
    ///
    /// - Parameter encoder: The encoder, which must not be changed afterwards. The default is Foundation's encoder with its defaults:
    ///   dates as seconds since 2001, slashes escaped.
    public init(contentType: String = "application/json", encoder: JSONEncoder = JSONEncoder(), reader: JSONReader) {
        self.contentType = contentType
        charset = Self.charset(of: contentType)
        JSONValueSlots.mark(encoder)
        self.encoder = encoder
        fieldStrategies = FieldStrategies(encoder)
        isConfigured = true
        parser = .reader(reader)
    }

    /// Creates a serializer that reads with the given decoder, which is more lenient and slower. Neither object may be changed
    /// afterwards. The default encoder is Foundation's with its defaults: dates as seconds since 2001, slashes escaped.
    public init(contentType: String = "application/json", encoder: JSONEncoder = JSONEncoder(), decoder: JSONDecoder) {
        self.contentType = contentType
        charset = Self.charset(of: contentType)
        JSONValueSlots.mark(encoder)
        self.encoder = encoder
        fieldStrategies = FieldStrategies(encoder)
        isConfigured = true
        parser = .foundation(decoder)
    }

    /// A serializer with the names and dates of fields, for the JSON in forms and parameters. Its JSON is in UTF-8.
    func following(_ fields: FieldReflection) -> JSONSerializer {
        let copy = JSONEncoder()
        copy.outputFormatting = encoder.outputFormatting
        copy.dataEncodingStrategy = encoder.dataEncodingStrategy
        copy.nonConformingFloatEncodingStrategy = encoder.nonConformingFloatEncodingStrategy
        copy.userInfo = encoder.userInfo
        // An encoder's own conversions may know more than the fields' copies of them.
        let hasKeys = fields.keys == fieldStrategies.keys ?? .asDeclared
        let hasDates = fields.dates == fieldStrategies.dates ?? .iso8601
        copy.keyEncodingStrategy = hasKeys ? encoder.keyEncodingStrategy : fields.keys.encoding
        copy.dateEncodingStrategy = hasDates ? encoder.dateEncodingStrategy : fields.dates.encoding
        return JSONSerializer(encoder: copy, reader: JSONReader())
    }

    /// Reads the elements of arrays that arrive in pieces, with the same strategies.
    var reader: JSONReader {
        switch parser {
        case .reader(let reader): reader
        case .foundation(let decoder): JSONReader(settingsOf: decoder)
        }
    }

    /// Whether the order of members varies.
    var hasUnorderedKeys: Bool { !encoder.outputFormatting.contains(.sortedKeys) }

    /// Encodes the value as JSON.
    ///
    /// - Throws: `EncodingError`, or the error of the value's own coding; ``SerializationError`` if the charset of the media type is
    ///   unknown or lacks a character.
    public func encode(_ value: any Encodable) throws -> Data {
        let json = try json(value)
        guard let charset = try charset.get() else { return json }
        return try charset.encode(String(decoding: json, as: UTF8.self))
    }

    private func json(_ value: any Encodable) throws -> Data {
        // Foundation's encoder would lose the order of members and the digits of long numbers.
        guard encoder.outputFormatting == .withoutEscapingSlashes else { return try JSONNumberCheck.checked(encoder.encode(value)) }
        if type(of: value) == JSONValue.self, let value = value as? JSONValue { return Data(try value.json().utf8) }
        return try JSONNumberCheck.checked(JSONValueSlots.encode(value, with: encoder))
    }

    /// The charset that a media type names; `nil` for UTF-8.
    private static func charset(of contentType: String) -> Result<TextEncoding?, any Error> {
        guard contentType.utf8.contains(UInt8(ascii: ";")) else { return .success(nil) }
        return Result { try TextEncoding.named(in: contentType).flatMap { $0 == .utf8 ? nil : $0 } }
    }

    /// Decodes a value from a JSON text, or from the root inside it.
    ///
    /// - Throws: `DecodingError`, or the error of the type's own coding; ``SerializationError`` if the root is missing, the charset is
    ///   unknown, or the bytes aren't valid in it.
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

    /// Returns the key by which a decoder's containers know a name on the wire.
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

extension JSONSerializer: DescribedSerializer {
    /// The names and the dates.
    var settings: [String] {
        [fieldStrategies.keys?.description, fieldStrategies.dates?.description, isConfigured ? SerializerCatalog.configured : nil]
            .compactMap(\.self)
    }

    init?(contentType: String, settings: [Substring]) {
        let isSnakeCase = settings.contains { $0 == FieldReflection.KeyStrategy.snakeCase.description }
        let known = [JSONDates.seconds, .milliseconds] + (0...9).map { .iso8601(fractionDigits: $0) }
        guard let dates = known.first(where: { dates in settings.contains { $0 == dates.fields.description } }) else { return nil }
        self.init(contentType: contentType, dates: dates, keys: isSnakeCase ? .snakeCase : .asDeclared)
    }
}

/// How dates are written in JSON.
public struct JSONDates: Sendable {
    let encoding: JSONEncoder.DateEncodingStrategy
    let decoding: JSONDecoder.DateDecodingStrategy
    /// The same form in queries and forms.
    let fields: FieldReflection.DateStrategy

    /// ISO 8601, in UTC and with milliseconds unless they are zero; see ``iso8601(fractionDigits:)`` for the accepted input.
    public static let iso8601 = iso8601(fractionDigits: 3)

    /// ISO 8601, rounded to this number of fraction digits, 0 to 9; without a fraction for a whole second.
    ///
    /// Accepts texts with and without fraction, seconds and zone (UTC by default), with `T`, `t` or a blank between date and time,
    /// offsets with and without colon, and a date alone, which is its midnight in UTC or in its zone.
    public static func iso8601(fractionDigits: Int) -> JSONDates {
        custom(
            write: { date in ISO8601.text(of: date, fractionDigits: fractionDigits) },
            read: { text in ISO8601.date(from: text) }, expected: "ISO 8601", fields: .iso8601(fractionDigits: fractionDigits))
    }

    /// Seconds since 1970 as a number, with a fraction.
    public static let seconds = JSONDates(encoding: .secondsSince1970, decoding: .secondsSince1970, fields: .seconds)

    /// Milliseconds since 1970 as a number.
    public static let milliseconds = JSONDates(encoding: .millisecondsSince1970, decoding: .millisecondsSince1970, fields: .milliseconds)

    /// Texts in a custom format.
    ///
    /// - Parameters:
    ///   - write: Returns the text of a date; `nil` if it has none, which is an encoding error.
    ///   - read: Returns the date of a text; `nil` if it isn't a date, which is a decoding error.
    public static func custom(
        write: @escaping @Sendable (Date) -> String?, read: @escaping @Sendable (String) -> Date?
    ) -> JSONDates {
        custom(write: write, read: read, expected: "the service's own format", fields: .custom(read: read, write))
    }

    private static func custom(
        write: @escaping @Sendable (Date) -> String?, read: @escaping @Sendable (String) -> Date?, expected: String,
        fields: FieldReflection.DateStrategy
    ) -> JSONDates {
        JSONDates(
            encoding: .custom { date, encoder in
                guard let text = write(date) else {
                    throw EncodingError.invalidValue(
                        Unwritable.Date(date),
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
                        in: container, debugDescription: "“\(SerializationError.excerpt(text))” isn't a date in \(expected).")
                }
                return date
            }, fields: fields)
    }
}

/// How a serializer writes names and dates. Queries and forms of the same client follow it.
struct FieldStrategies: Sendable {
    var keys: FieldReflection.KeyStrategy?
    var dates: FieldReflection.DateStrategy?

    /// The strategies of an encoder.
    ///
    /// - Parameter dates: The form of dates, if it is known better than by the encoder.
    init(_ encoder: JSONEncoder, dates: FieldReflection.DateStrategy? = nil) {
        keys =
            switch encoder.keyEncodingStrategy {
            case .useDefaultKeys: nil
            case .convertToSnakeCase: .snakeCase
            case .custom(let convert): .custom(byPath: convert)
            @unknown default: nil
            }
        self.dates = dates ?? Self.dates(encoder.dateEncodingStrategy)
    }

    private static func dates(_ strategy: JSONEncoder.DateEncodingStrategy) -> FieldReflection.DateStrategy? {
        switch strategy {
        case .secondsSince1970: .seconds
        case .millisecondsSince1970: .milliseconds
        case .iso8601: .iso8601(fractionDigits: 0)
        #if canImport(Darwin)
        // Elsewhere it is a custom strategy.
        case .formatted(let formatter): .custom { formatter.string(from: $0) }
        #endif
        case .custom(let write): .custom(encoding: write)
        // Seconds since 2001, the encoder's default, aren't a useful format for a query.
        case .deferredToDate: nil
        @unknown default: nil
        }
    }
}

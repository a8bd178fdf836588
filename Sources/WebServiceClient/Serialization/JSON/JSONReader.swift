public import Foundation

/// Decodes values from JSON (RFC 8259): what `JSONDecoder` does, by the same strategies and with the same errors, several times faster
/// and stricter.
///
///     var reader = JSONReader()
///     reader.keyDecodingStrategy = .convertFromSnakeCase
///     let products = try reader.decode([Product].self, from: data, at: ["result", "items"])
///
/// The whole of the text is checked, also what the type doesn't ask for. Errors, where `JSONDecoder` lets them pass, are a name that an
/// object has twice, a comma at the end, half of a surrogate pair, a control character in a string, an escape that doesn't exist,
/// bytes that are no UTF-8, a number such as `02`. They are `DecodingError.dataCorrupted` with a ``JSONSyntaxError`` that tells the place.
///
/// A `Decimal` and an integer of any width get exactly the number whose digits stand in the text, also from `1.0` or `12e3`; one that
/// the type can't hold is an error. UTF-16 and UTF-32 are read, too, as are byte order marks.
///
/// A type that conforms to ``JSONReadable`` is read without the detour through `Decodable`.
public struct JSONReader: Sendable {
    /// How dates are read. Default: as `Date` decodes itself.
    public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy = .deferredToDate
    /// How `Data` is read. Default: base64.
    public var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy = .base64
    /// Which texts are numbers that JSON can't write. Default: none.
    public var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy = .throw
    /// How names on the wire become those of properties. Default: not at all. Keys of dictionaries with `String` keys are left alone.
    public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys
    /// What types that decode themselves find in their decoder.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// How many containers may stand inside each other, 1 to ``greatestDepth``. Default: 512.
    public var depthLimit = JSONReader.greatestDepth
    /// The most bytes that a text may have, up to ``largestSize``, which is the default.
    public var sizeLimit = JSONReader.largestSize

    /// What is read otherwise than JSON says.
    package var dialect: (any JSONDialect)?

    /// The greatest depth that a reader can be set to, 512: decoding deeper values could need more than a thread's stack.
    public static let greatestDepth = 512
    /// The largest text that a reader reads as a whole: 1 GiB.
    public static let largestSize = 1 << 30

    /// A reader with the defaults, which are those of `JSONDecoder`.
    public init() {}

    /// A reader with the strategies and the user info of a decoder. What it doesn't do are JSON5 and texts without the braces at the
    /// top: ``isAble(toReadAs:)`` tells.
    public init(settingsOf decoder: JSONDecoder) {
        dateDecodingStrategy = decoder.dateDecodingStrategy
        dataDecodingStrategy = decoder.dataDecodingStrategy
        nonConformingFloatDecodingStrategy = decoder.nonConformingFloatDecodingStrategy
        keyDecodingStrategy = decoder.keyDecodingStrategy
        userInfo = decoder.userInfo
    }

    /// Whether a reader with the decoder's settings reads what the decoder does: not with JSON5, texts without braces at the top, or a
    /// subclass, which may do anything.
    public static func isAble(toReadAs decoder: JSONDecoder) -> Bool {
        type(of: decoder) == JSONDecoder.self && !decoder.allowsJSON5 && !decoder.assumesTopLevelDictionary
    }

    /// A value from a text, or from the root inside it.
    ///
    /// - Parameters:
    ///   - data: the text in UTF-8, UTF-16 or UTF-32. Its bytes are read where they lie and mustn't change before the call returns: no file
    ///     that is mapped while others write it.
    ///   - path: the names, as they stand in the text, and indices that lead to the root; empty for the text's own value.
    /// - Throws: `DecodingError`, or what the type's own coding throws; ``SerializationError`` when the root isn't there or the bytes
    ///   are of no charset.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String] = []) throws -> Value {
        try decode(type, utf8: TextEncoding.utf8(from: data, contentType: nil), at: path)
    }

    /// The same from a text in UTF-8 without a byte order mark.
    func decode<Value: Decodable>(_ type: Value.Type, utf8 text: Data, at path: [String]) throws -> Value {
        try JSONDocument.withDocument(text, self) { document in
            let place = try document.place(at: path)
            if !document.convertsNames, let readable = type as? any JSONReadable.Type,
                let value = try JSONReader.read(type, directly: readable, document, place)
            {
                return value
            }
            return try document.decode(type, at: place)
        }
    }

    var boundedDepth: Int { min(max(depthLimit, 1), Self.greatestDepth) }
    var boundedSize: Int { min(max(sizeLimit, 0), Self.largestSize) }
}

extension JSONReader {
    /// A value that reads itself, from a text or from the root inside it.
    ///
    /// - Parameters:
    ///   - data: the text in UTF-8, UTF-16 or UTF-32. Its bytes are read where they lie and mustn't change before the call returns: no file
    ///     that is mapped while others write it.
    ///   - path: the names, as they stand in the text, and indices that lead to the root; empty for the text's own value.
    /// - Throws: `DecodingError`, or what the type throws; ``SerializationError`` when the root isn't there or the bytes are of no charset.
    public func read<Value: JSONReadable>(_ type: Value.Type, from data: Data, at path: [String] = []) throws -> Value {
        try JSONDocument.withDocument(TextEncoding.utf8(from: data, contentType: nil), self) { document in
            try Value(from: JSONCursor(document, document.place(at: path)))
        }
    }

    /// The same for a type of which it is known only now that it reads itself.
    static func read<Value>(_ type: Value.Type, directly readable: any JSONReadable.Type, _ document: JSONDocument, _ place: JSONPlace)
        throws -> Value?
    {
        func read<Readable: JSONReadable>(_ type: Readable.Type) throws -> Value? {
            try Readable(from: JSONCursor(document, place)) as? Value
        }
        return try read(readable)
    }
}

@_spi(Fuzzing) extension JSONReader {
    /// The elements of an array inside a payload that is given to the parser in pieces of one size: what ``elements(of:in:at:bounds:)``
    /// does, without waiting for anything.
    public func elements<Element: Decodable>(
        of type: Element.Type, inPiecesOf size: Int, of payload: Data, at path: [String]
    ) throws -> [Element] {
        let parser = JSONElementParser(self, path: path, bounds: JSONStreamBounds())
        var elements: [Element] = []
        var rest = payload
        while true {
            while let place = try parser.next() { elements.append(try parser.document.decode(type, at: place)) }
            if parser.isAtEnd { return elements }
            let piece = rest.prefix(max(size, 1))
            rest = rest.dropFirst(piece.count)
            if piece.isEmpty { try parser.finish() } else { try piece.withUnsafeBytes { try parser.feed($0) } }
        }
    }
}

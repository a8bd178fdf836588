public import Foundation

/// Decodes values from JSON (RFC 8259), with the strategies and errors of `JSONDecoder`, but several times faster and more strictly.
///
///     var reader = JSONReader()
///     reader.keyDecodingStrategy = .convertFromSnakeCase
///     let products = try reader.decode([Product].self, from: data, at: ["result", "items"])
///
/// The whole text is checked, including the parts that the type doesn't read. Unlike `JSONDecoder`, it rejects duplicate names in an
/// object, trailing commas, half a surrogate pair, control characters in strings, unknown escapes, bytes that aren't UTF-8, and numbers
/// such as `02`. These errors are `DecodingError.dataCorrupted` with a ``JSONSyntaxError`` that has the place.
///
/// A `Decimal` or an integer of any width gets exactly the number that the text's digits denote, also from `1.0` or `12e3`; a number that
/// the type can't represent is an error. UTF-16, UTF-32 and byte order marks are supported, too.
///
/// A type that conforms to ``JSONReadable`` is read directly, without `Decodable`.
public struct JSONReader: Sendable {
    /// How dates are read. Default: as `Date` decodes itself.
    public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy = .deferredToDate
    /// How `Data` is read. Default: base64.
    public var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy = .base64
    /// The texts that represent numbers that JSON can't. Default: none.
    public var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy = .throw
    /// How names on the wire map to property names. Default: unchanged. Keys of dictionaries with `String` keys are never converted.
    public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys
    /// The user info of the decoders.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// The maximum nesting of containers, 1 to ``greatestDepth``. Default: 512.
    public var depthLimit = JSONReader.greatestDepth
    /// The maximum size of a text in bytes, up to ``largestSize``, which is the default.
    public var sizeLimit = JSONReader.largestSize

    /// The differences from plain JSON.
    package var dialect: (any JSONDialect)?

    /// The maximum depth limit, 512: decoding deeper values could overflow a thread's stack.
    public static let greatestDepth = 512
    /// The maximum size of a text that is read as a whole: 1 GiB.
    public static let largestSize = 1 << 30

    /// Creates a reader with the defaults, which are those of `JSONDecoder`.
    public init() {}

    /// Creates a reader with the strategies and user info of a decoder. JSON5 and texts without braces at the top aren't supported; see
    /// ``isAble(toReadAs:)``.
    public init(settingsOf decoder: JSONDecoder) {
        dateDecodingStrategy = decoder.dateDecodingStrategy
        dataDecodingStrategy = decoder.dataDecodingStrategy
        nonConformingFloatDecodingStrategy = decoder.nonConformingFloatDecodingStrategy
        keyDecodingStrategy = decoder.keyDecodingStrategy
        userInfo = decoder.userInfo
    }

    /// Returns whether a reader with the decoder's settings reads the same texts as the decoder. This excludes JSON5, texts without
    /// braces at the top, and subclasses, which may behave in any way.
    public static func isAble(toReadAs decoder: JSONDecoder) -> Bool {
        type(of: decoder) == JSONDecoder.self && !decoder.allowsJSON5 && !decoder.assumesTopLevelDictionary
    }

    /// Decodes a value from a text, or from the root inside it.
    ///
    /// - Parameters:
    ///   - data: The text in UTF-8, UTF-16 or UTF-32. Its bytes are read in place and mustn't change before the call returns; don't pass
    ///     a mapped file that other processes write.
    ///   - path: The raw names and indices that lead to the root; empty for the text's own value.
    /// - Throws: `DecodingError`, or the error of the type's own coding; ``SerializationError`` if the root is missing or the bytes
    ///   aren't valid in a supported charset.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String] = []) throws -> Value {
        try decode(type, utf8: TextEncoding.utf8(from: data, contentType: nil), at: path)
    }

    /// Decodes a value from a text in UTF-8 without a byte order mark.
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

    /// Reads a text in UTF-8 without a byte order mark, and passes its value to a closure.
    ///
    /// - Throws: `DecodingError.dataCorrupted` with a ``JSONSyntaxError``, and the closure's errors.
    package func withNode<Value>(of text: Data, _ body: (JSONNode) throws -> Value) throws -> Value {
        try JSONDocument.withDocument(text, self) { try body(JSONNode($0, .root)) }
    }

    /// Returns the index after the value that begins a text, which isn't checked; `nil` if the text ends before the value does.
    package static func endOfValue(in text: Data) -> Data.Index? {
        var end = JSONValueEnd()
        let length = text.withUnsafeBytes { end.feed($0.bindMemory(to: UInt8.self)) }
        return length.map { text.startIndex + $0 }
    }

    var boundedDepth: Int { min(max(depthLimit, 1), Self.greatestDepth) }
    var boundedSize: Int { min(max(sizeLimit, 0), Self.largestSize) }
}

extension JSONReader {
    /// Reads a value of a type that reads itself, from a text or from the root inside it.
    ///
    /// - Parameters:
    ///   - data: The text in UTF-8, UTF-16 or UTF-32. Its bytes are read in place and mustn't change before the call returns; don't pass
    ///     a mapped file that other processes write.
    ///   - path: The raw names and indices that lead to the root; empty for the text's own value.
    /// - Throws: `DecodingError`, or the type's error; ``SerializationError`` if the root is missing or the bytes aren't valid in a
    ///   supported charset.
    public func read<Value: JSONReadable>(_ type: Value.Type, from data: Data, at path: [String] = []) throws -> Value {
        try JSONDocument.withDocument(TextEncoding.utf8(from: data, contentType: nil), self) { document in
            try Value(from: JSONCursor(document, document.place(at: path)))
        }
    }

    /// Reads a value of a type whose ``JSONReadable`` conformance is known only at run time.
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
    /// Returns the elements of an array inside a payload that is passed to the parser in pieces of one size: a synchronous form of
    /// ``elements(of:in:at:bounds:)``.
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

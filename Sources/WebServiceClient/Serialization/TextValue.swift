import Foundation

/// Reads simple values from texts, as in plain text bodies and form fields.
enum TextValue {
    /// Reads the value that a text represents.
    ///
    /// - Throws: ``SerializationError`` if the text doesn't represent such a value, or the type isn't a simple one.
    static func read<Value: Decodable>(_ type: Value.Type, from text: String, path: [any CodingKey] = []) throws -> Value {
        if let value = text as? Value { return value }
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let special: (any Decodable)?
        switch type {
        case is Date.Type: special = ISO8601.date(from: trimmed)
        case is Data.Type: special = Data(base64Encoded: trimmed)
        case is URL.Type: special = trimmed.isEmpty ? nil : URL(string: trimmed)
        case is Decimal.Type: special = DecimalText.decimal(trimmed)
        default: return try Value(from: TextValueDecoder(text: text, trimmed: trimmed, codingPath: path))
        }
        guard let value = special as? Value else { throw invalid(text, type, path) }
        return value
    }

    static func invalid(_ text: String, _ type: Any.Type, _ path: [any CodingKey]) -> SerializationError {
        SerializationError(.value, "“\(shown(text, path))”\(place(path)) can't be read as \(type).")
    }

    /// The beginning of a text, masked if a name on its path denotes a secret.
    static func shown(_ text: String, _ path: [any CodingKey]) -> String {
        path.contains { SecretMask.hidesMember(named: $0.stringValue) }
            ? SecretMask.mask : SerializationError.excerpt(SecretMask.text(String(text.prefix(SecretMask.margin))))
    }

    static func place(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "" : " at “\(path.map(\.stringValue).joined(separator: "."))”"
    }
}

/// Decodes one value from a text.
struct TextValueDecoder: Decoder, SingleValueDecodingContainer {
    let text: String
    let trimmed: String
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw structureNeeded("an object")
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw structureNeeded("an array")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { false }
    func decode(_ type: String.Type) throws -> String { text }
    func decode(_ type: Double.Type) throws -> Double { try convert(DecimalText.floating) }
    func decode(_ type: Float.Type) throws -> Float { try convert(DecimalText.floating) }
    func decode(_ type: Int.Type) throws -> Int { try convert(Int.init) }
    func decode(_ type: Int8.Type) throws -> Int8 { try convert(Int8.init) }
    func decode(_ type: Int16.Type) throws -> Int16 { try convert(Int16.init) }
    func decode(_ type: Int32.Type) throws -> Int32 { try convert(Int32.init) }
    func decode(_ type: Int64.Type) throws -> Int64 { try convert(Int64.init) }
    func decode(_ type: UInt.Type) throws -> UInt { try convert(UInt.init) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try convert(UInt8.init) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try convert(UInt16.init) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try convert(UInt32.init) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try convert(UInt64.init) }

    func decode(_ type: Bool.Type) throws -> Bool {
        try convert { text in
            switch text.lowercased() {
            case "true", "1": true
            case "false", "0": false
            default: nil
            }
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try TextValue.read(type, from: text, path: codingPath)
    }

    private func convert<Value>(_ read: (String) -> Value?) throws -> Value {
        guard let value = read(trimmed) else { throw TextValue.invalid(text, Value.self, codingPath) }
        return value
    }

    private func structureNeeded(_ what: String) -> SerializationError {
        SerializationError(
            .structure,
            "The text “\(TextValue.shown(text, codingPath))”\(TextValue.place(codingPath)) is a simple value; \(what) is needed."
        )
    }
}

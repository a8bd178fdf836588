public import Foundation

/// Reads and writes forms, `application/x-www-form-urlencoded`, with the fields that a reflection finds and names.
///
/// Lists and nested values are read in the notation that is written: `a=1&a=2` or `a[]=1&a[]=2` or `a=1,2`; `a[b]=1` or `a.b=1`. A form
/// can't distinguish an empty list, an empty dictionary or a nested value without fields from a missing one: empty lists and dictionaries
/// are read as empty, such a nested value as missing, which suits an optional.
public struct FormSerializer: SerializationDelegate {
    /// The media type of the output, with the charset if one was given.
    public let contentType: String
    /// How fields are named.
    public let fields: FieldReflection
    /// The charset of names and values.
    public let charset: TextEncoding

    /// Whether the settings of the endpoint, the class and the client decide how fields are written.
    let followsSettings: Bool

    /// Creates a serializer that follows the settings of the endpoint, the class and the client: how lists, nested values and `nil` are
    /// written, and the names and dates of the client's JSON serializer.
    ///
    /// - Parameter charset: The charset, which the media type then names. By default UTF-8, which it doesn't name.
    public init(charset: TextEncoding? = nil) {
        self.init(FieldReflection(), charset: charset, followsSettings: true)
    }

    /// Creates a serializer that names fields by these rules, regardless of settings elsewhere.
    ///
    /// - Parameter charset: The charset, which the media type then names. By default UTF-8, which it doesn't name.
    public init(_ fields: FieldReflection, charset: TextEncoding? = nil) {
        self.init(fields, charset: charset, followsSettings: false)
    }

    private init(_ fields: FieldReflection, charset: TextEncoding?, followsSettings: Bool) {
        self.fields = fields
        self.charset = charset ?? .utf8
        contentType = "application/x-www-form-urlencoded" + (charset.map { "; charset=\($0.name)" } ?? "")
        self.followsSettings = followsSettings
    }

    private init(_ other: FormSerializer, following fields: FieldReflection) {
        self.fields = fields
        (charset, contentType, followsSettings) = (other.charset, other.contentType, true)
    }

    /// The serializer for an endpoint with these settings, or `nil` if they make no difference.
    func following(_ settings: FieldReflection) -> FormSerializer? {
        guard followsSettings, settings != fields else { return nil }
        return FormSerializer(self, following: settings)
    }

    /// Encodes the value's fields as a form.
    ///
    /// - Throws: ``ReflectionError`` with the place and the type of a value that can't be a field, ``SerializationError`` if the charset
    ///   lacks a character, or the error of the value's own coding.
    public func encode(_ value: any Encodable) throws -> Data {
        let fields = try fields.fields(of: value)
        if charset == .utf8 { return Data(URLEncoding.form(of: fields).utf8) }
        guard try charset.encode("a=&%") == Data("a=&%".utf8) else {
            throw SerializationError(.charset, "A form can't be written in \(charset.name), which doesn't extend ASCII: use utf-8.")
        }
        return Data(try URLEncoding.form(of: fields) { try charset.encode($0) }.utf8)
    }

    /// Decodes a value from a form, or from the root inside it.
    ///
    /// - Throws: `DecodingError` if a field is missing; ``SerializationError`` if a field doesn't fit, the root is missing, or the bytes
    ///   aren't valid in the charset, which is UTF-8 unless the header names another.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value {
        let encoding = try TextEncoding.named(in: contentType) ?? .utf8
        let tree = try FormTree(data, encoding: encoding, fields: fields).node(at: path)
        return try FormDecoder(tree: tree, codingPath: path.map { WireKey($0) }, fields: fields).value(type)
    }
}

extension FormSerializer: DescribedSerializer {
    /// The rules; empty if the settings of the endpoint, the class and the client decide.
    var settings: [String] {
        guard !followsSettings else { return [] }
        var texts = ["\(fields.arrays)", "\(fields.keys)", "\(fields.dates)", "\(fields.nesting)", "\(fields.missing)"]
        let usual = FieldReflection()
        if fields.objects != usual.objects { texts.append("objects \(fields.objects)") }
        if fields.depthLimit != usual.depthLimit { texts.append("depth \(fields.depthLimit)") }
        return texts
    }

    init?(contentType: String, settings: [Substring]) {
        let name = contentType.divided(by: "; charset=")?.after
        let charset = name.flatMap { TextEncoding(String($0)) }
        guard (charset == nil) == (name == nil) else { return nil }
        guard !settings.isEmpty else {
            self.init(charset: charset)
            return
        }
        guard settings.count >= 5, let arrays = FieldReflection.ArrayStrategy(rawValue: String(settings[0])),
            let keys = FieldReflection.KeyStrategy(described: String(settings[1])),
            let dates = FieldReflection.DateStrategy(described: String(settings[2])),
            let nesting = FieldReflection.NestingStrategy(rawValue: String(settings[3])),
            let missing = FieldReflection.NilStrategy(rawValue: String(settings[4]))
        else { return nil }
        var fields = FieldReflection(arrays: arrays, nesting: nesting, missing: missing, keys: keys, dates: dates)
        for text in settings.dropFirst(5) {
            if let objects = text.inside("objects ", "").flatMap({ FieldReflection.ObjectStrategy(rawValue: String($0)) }) {
                fields.objects = objects
            } else if let depth = text.inside("depth ", "").flatMap({ Int($0) }) {
                fields.depthLimit = depth
            }
        }
        self.init(fields, charset: charset)
    }
}

/// Decodes from a form's tree.
struct FormDecoder: Decoder {
    let tree: FormTree
    let codingPath: [any CodingKey]
    /// How names and dates are written.
    let fields: FieldReflection
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard tree.texts.isEmpty else { throw mismatch("an object is") }
        return KeyedDecodingContainer(FormObject(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = tree.elements() else { throw mismatch("an array is") }
        return FormArray(elements: elements, codingPath: codingPath, fields: fields)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        FormValue(decoder: self)
    }

    /// Decodes a value of a type at this place. Text types are read from a single text; other types decode themselves.
    func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        switch type {
        case is Date.Type where !fields.dates.isDefault:
            if let date = fields.dates.date(from: try text()) as? Value { return date }
            return try TextValue.read(type, from: text(), path: codingPath)
        case is String.Type, is Date.Type, is Data.Type, is URL.Type, is Decimal.Type:
            return try TextValue.read(type, from: text(), path: codingPath)
        default: return try Value(from: self)
        }
    }

    /// The single text at this place, which may contain the separator of lists.
    func text() throws -> String {
        guard tree.children.isEmpty, let text = tree.whole else { throw mismatch("one value is") }
        return text
    }

    func scalar() throws -> TextValueDecoder {
        let text = try text()
        return TextValueDecoder(text: text, trimmed: text.trimmingCharacters(in: .whitespacesAndNewlines), codingPath: codingPath)
    }

    private func mismatch(_ needed: String) -> SerializationError {
        let found =
            tree.children.isEmpty
            ? (tree.texts.count == 1 ? "one value" : "\(tree.texts.count) values") : "a structure of \(tree.names.count) fields"
        return SerializationError(.structure, "The form has \(found)\(TextValue.place(codingPath)), where \(needed) needed.")
    }
}

private struct FormObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: FormDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { decoder.tree.names.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { tree(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { tree(key)?.isNil ?? true }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try child(key).scalar().decode(type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try child(key).text() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try child(key).scalar().decode(type) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try child(key).scalar().decode(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try child(key).scalar().decode(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try child(key).scalar().decode(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try child(key).scalar().decode(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try child(key).scalar().decode(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try child(key).scalar().decode(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try child(key).scalar().decode(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try child(key).scalar().decode(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try child(key).scalar().decode(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try child(key).scalar().decode(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try child(key).scalar().decode(type) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        // A form can't represent an empty list or dictionary.
        let mayBeEmpty = type is any ExpressibleByArrayLiteral.Type || type is any ExpressibleByDictionaryLiteral.Type
        if mayBeEmpty, !contains(key) {
            return try FormDecoder(tree: FormTree(), codingPath: codingPath + [key], fields: decoder.fields).value(type)
        }
        return try child(key).value(type)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try child(key).unkeyedContainer() }
    func superDecoder() throws -> any Decoder { try child(WireKey("super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try child(key) }

    /// The fields of a key, under its own name or the name on the wire. Keys of dictionaries have their own.
    private func tree(_ key: any CodingKey) -> FormTree? {
        if let own = decoder.tree.children[key.stringValue] { return own }
        guard !decoder.fields.keys.isIdentity else { return nil }
        return decoder.tree.children[decoder.fields.keys.name(key.stringValue, at: decoder.codingPath)]
    }

    private func child(_ key: any CodingKey) throws -> FormDecoder {
        guard let tree = tree(key) else {
            throw DecodingError.keyNotFound(
                key,
                DecodingError.Context(codingPath: codingPath, debugDescription: "The form has no field “\(key.stringValue)”."))
        }
        return FormDecoder(tree: tree, codingPath: codingPath + [key], fields: decoder.fields)
    }
}

private struct FormArray: UnkeyedDecodingContainer {
    let elements: [FormTree]
    let codingPath: [any CodingKey]
    let fields: FieldReflection
    private(set) var currentIndex = 0

    init(elements: [FormTree], codingPath: [any CodingKey], fields: FieldReflection) {
        self.elements = elements
        self.codingPath = codingPath
        self.fields = fields
    }

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    mutating func decodeNil() throws -> Bool {
        guard currentIndex < elements.count, elements[currentIndex].isNil else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try next().scalar().decode(type) }
    mutating func decode(_ type: String.Type) throws -> String { try next().text() }
    mutating func decode(_ type: Double.Type) throws -> Double { try next().scalar().decode(type) }
    mutating func decode(_ type: Float.Type) throws -> Float { try next().scalar().decode(type) }
    mutating func decode(_ type: Int.Type) throws -> Int { try next().scalar().decode(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next().scalar().decode(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next().scalar().decode(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next().scalar().decode(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next().scalar().decode(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try next().scalar().decode(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next().scalar().decode(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next().scalar().decode(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next().scalar().decode(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next().scalar().decode(type) }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().value(type) }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try next() }

    private mutating func next() throws -> FormDecoder {
        guard currentIndex < elements.count else {
            throw DecodingError.valueNotFound(
                FormTree.self, DecodingError.Context(codingPath: codingPath, debugDescription: "The form has no more values here."))
        }
        defer { currentIndex += 1 }
        return FormDecoder(tree: elements[currentIndex], codingPath: codingPath + [WireKey(String(currentIndex))], fields: fields)
    }
}

private struct FormValue: SingleValueDecodingContainer {
    let decoder: FormDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.tree.isNil }
    func decode(_ type: Bool.Type) throws -> Bool { try decoder.scalar().decode(type) }
    func decode(_ type: String.Type) throws -> String { try decoder.text() }
    func decode(_ type: Double.Type) throws -> Double { try decoder.scalar().decode(type) }
    func decode(_ type: Float.Type) throws -> Float { try decoder.scalar().decode(type) }
    func decode(_ type: Int.Type) throws -> Int { try decoder.scalar().decode(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try decoder.scalar().decode(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try decoder.scalar().decode(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try decoder.scalar().decode(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try decoder.scalar().decode(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try decoder.scalar().decode(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.scalar().decode(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.scalar().decode(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.scalar().decode(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.scalar().decode(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value(type) }
}

extension MultipartForm.Part {
    /// Creates a text field in a charset, with a media type that names it.
    ///
    /// - Throws: ``SerializationError`` if the charset lacks one of the text's characters.
    public static func text(_ name: String, _ value: String, in encoding: TextEncoding) throws -> Self {
        Self(name: name, contentType: "text/plain; charset=" + encoding.name, content: .data(try encoding.encode(value)))
    }

    /// Creates a field with a value in a serializer's format, JSON by default, with its media type.
    ///
    /// - Throws: The serializer's error.
    public static func value(
        _ name: String, _ value: any Encodable, with serializer: any SerializationDelegate = JSONSerializer(), fileName: String? = nil
    ) throws -> Self {
        Self(name: name, fileName: fileName, contentType: serializer.contentType, content: .data(try serializer.encode(value)))
    }
}

public import Foundation

/// Forms, `application/x-www-form-urlencoded`: a value's fields, as a reflection finds and names them, and back.
///
/// Lists and nested values are read in the spelling that is written: `a=1&a=2` or `a[]=1&a[]=2` or `a=1,2`; `a[b]=1` or `a.b=1`. A form can't
/// tell an empty list, an empty dictionary, or a nested value that has no field from one that isn't there: the first two are read as
/// empty, the last is missing, which suits an optional.
public struct FormSerializer: SerializationDelegate {
    /// The media type of what is written.
    public let contentType = "application/x-www-form-urlencoded"
    /// How fields are named.
    public let fields: FieldReflection

    /// Whether lists are written as the endpoint, the class or the client says.
    private let followsArrays: Bool

    /// A serializer that writes lists as the endpoint, the class or the client says with `arrays`, and all else by the rules that
    /// ``FieldReflection`` has by default.
    public init() {
        fields = FieldReflection()
        followsArrays = true
    }

    /// A serializer that names fields by these rules, whatever is said of arrays elsewhere.
    public init(_ fields: FieldReflection) {
        self.fields = fields
        followsArrays = false
    }

    private init(following arrays: FieldReflection.ArrayStrategy) {
        fields = FieldReflection(arrays: arrays)
        followsArrays = true
    }

    /// The serializer for an endpoint whose lists are written in that way; `nil` where that changes nothing.
    func following(_ arrays: FieldReflection.ArrayStrategy?) -> FormSerializer? {
        guard let arrays, followsArrays, arrays != fields.arrays else { return nil }
        return FormSerializer(following: arrays)
    }

    /// The value's fields as a form in UTF-8.
    ///
    /// - Throws: ``ReflectionError`` that names the place and the type of what can't be a field; what the value's own coding throws.
    public func encode(_ value: any Encodable) throws -> Data {
        Data(URLEncoding.form(of: try fields.fields(of: value)).utf8)
    }

    /// The value of a form, or of the root inside it.
    ///
    /// - Throws: `DecodingError` where a field is missing; ``SerializationError`` where one doesn't fit, the root is missing, or the bytes
    ///   are none of the charset, which is UTF-8 unless the header names another.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value {
        let encoding = try TextEncoding.named(in: contentType) ?? .utf8
        let tree = try FormTree(data, encoding: encoding, fields: fields).node(at: path)
        return try FormDecoder(tree: tree, codingPath: path.map { WireKey($0) }).value(type)
    }
}

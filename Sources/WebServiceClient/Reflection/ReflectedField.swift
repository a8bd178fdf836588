import Foundation

/// A name with its value, both plain text: a query item, a form field or a header.
public struct ReflectedField: Hashable, Sendable {
    /// The name, not encoded.
    public let name: String
    /// The value, not encoded; `nil` for a bare name without `=`.
    public let value: String?
    /// The members of a list that a strategy such as ``FieldReflection/ArrayStrategy/comma`` joined into the value, else nil.
    ///
    /// An encoder that works member by member distinguishes a comma inside a member from a separator.
    public let members: [String]?
    /// The character between the members.
    public let separator: Character

    /// Creates a field with one value, or a bare name if the value is nil.
    public init(name: String, value: String?) {
        self.name = name
        self.value = value
        members = nil
        separator = ","
    }

    /// Creates a field whose value is the members, joined by a separator.
    public init(name: String, members: [String], separator: Character = ",") {
        self.name = name
        value = members.joined(separator: String(separator))
        self.members = members
        self.separator = separator
    }
}

extension URLEncoding {
    /// Returns the fields as a query without its `?`, in order. Commas between list members stay raw; commas inside members become `%2C`.
    public static func query(of fields: [ReflectedField]) -> String {
        joined(fields, encode: queryValue, encodeValue: queryValue)
    }

    /// Returns the fields as a query without its `?`, in order, with the reserved characters in values unencoded that don't end the value
    /// or change its meaning: all but `&`, `#`, `+`, `[` and `]`.
    static func query(keepingReservedOf fields: [ReflectedField]) -> String {
        joined(fields, encode: queryValue, encodeValue: { encode($0, allowing: .reservedInQueryValues) })
    }

    /// Returns the fields as a form body, in order. Commas between list members stay raw; commas inside members become `%2C`.
    public static func form(of fields: [ReflectedField]) -> String {
        joined(fields, encode: formField, encodeValue: formField)
    }

    /// Returns the fields as a form body in another charset than UTF-8.
    ///
    /// - Parameter bytes: Returns the bytes of a text in the charset.
    static func form(of fields: [ReflectedField], bytes: (String) throws -> Data) throws -> String {
        // Each byte as a character, so that the encoding of ASCII texts serves. Escapes of other characters are those of their bytes.
        func encode(_ text: String) throws -> String {
            try bytes(text).map { byte in
                byte < 0x80 ? formField(String(UnicodeScalar(byte))) : "%" + String(byte, radix: 16, uppercase: true)
            }.joined()
        }
        return try joined(fields, encode: encode, encodeValue: encode)
    }

    private static func joined(
        _ fields: [ReflectedField], encode: (String) throws -> String, encodeValue: (String) throws -> String
    ) rethrows -> String {
        try fields.map { field in
            let separator = field.separator == "," ? "," : try encode(String(field.separator))
            let value = try field.members.map { try $0.map(encodeValue).joined(separator: separator) } ?? field.value.map(encodeValue)
            return try encode(field.name) + (value.map { "=" + $0 } ?? "")
        }
        .joined(separator: "&")
    }
}

extension URLEncoding.Alphabet {
    /// The characters of a query's value that are kept if reserved characters are.
    fileprivate static let reservedInQueryValues = unreserved.union(Self(":/?@!$'()*,;="))
}

/// The path to a value in an argument: keys and indices from the outermost inwards, each linked to its parent.
indirect enum FieldPath: CustomStringConvertible {
    case root
    case key(String, FieldPath)
    case index(Int, FieldPath)

    /// The path in source notation: `filter.tags[2]`.
    var description: String {
        switch self {
        case .root: ""
        case .key(let name, .root): name
        case .key(let name, let parent): parent.description + "." + name
        case .index(let index, let parent): parent.description + "[\(index)]"
        }
    }

    /// The path as coding keys, for types that read their encoder's path.
    var codingPath: [any CodingKey] {
        switch self {
        case .root: []
        case .key(let name, let parent): parent.codingPath + [FieldKey(stringValue: name)]
        case .index(let index, let parent): parent.codingPath + [FieldKey(intValue: index)]
        }
    }
}

/// A coding key of any name or index.
struct FieldKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}

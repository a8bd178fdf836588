import Foundation

/// A name with its value, both plain text: a query item, a form field or a header.
public struct ReflectedField: Hashable, Sendable {
    /// The name, not encoded.
    public let name: String
    /// The value, not encoded; nil for a bare name without `=`.
    public let value: String?
    /// The members of a list that ``FieldReflection/ArrayStrategy/comma`` joined into the value, else nil.
    ///
    /// An encoder that works member by member distinguishes a comma inside a member from a separator.
    public let members: [String]?

    /// Creates a field with one value, or a bare name if the value is nil.
    public init(name: String, value: String?) {
        self.name = name
        self.value = value
        members = nil
    }

    /// Creates a field whose value is the members joined by commas.
    public init(name: String, members: [String]) {
        self.name = name
        value = members.joined(separator: ",")
        self.members = members
    }
}

extension URLEncoding {
    /// Returns the fields as a query without its `?`, in order. Commas between list members stay raw; commas inside members become `%2C`.
    public static func query(of fields: [ReflectedField]) -> String {
        joined(fields, encode: queryValue)
    }

    /// Returns the fields as a form body, in order. Commas between list members stay raw; commas inside members become `%2C`.
    public static func form(of fields: [ReflectedField]) -> String {
        joined(fields, encode: formField)
    }

    /// Returns the fields as a form body in another charset than UTF-8.
    ///
    /// - Parameter bytes: Returns the bytes of a text in the charset.
    static func form(of fields: [ReflectedField], bytes: (String) throws -> Data) rethrows -> String {
        // Each byte as a character, so that the encoding of ASCII texts serves. Escapes of other characters are those of their bytes.
        try joined(fields) { text in
            try bytes(text).map { byte in
                byte < 0x80 ? formField(String(UnicodeScalar(byte))) : "%" + String(byte, radix: 16, uppercase: true)
            }.joined()
        }
    }

    private static func joined(_ fields: [ReflectedField], encode: (String) throws -> String) rethrows -> String {
        try fields.map { field in
            let value = try field.members.map { try $0.map(encode).joined(separator: ",") } ?? field.value.map(encode)
            return try encode(field.name) + (value.map { "=" + $0 } ?? "")
        }
        .joined(separator: "&")
    }
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

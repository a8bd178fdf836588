/// One name with its value, plain text both: a query item, a form field or a header.
public struct ReflectedField: Hashable, Sendable {
    /// The name, not encoded.
    public let name: String
    /// The value, not encoded; nil stands for a bare name without `=`.
    public let value: String?
    /// The members of a list that ``FieldReflection/ArrayStrategy/comma`` has joined to the value, else nil.
    ///
    /// An encoder that works member by member keeps a comma inside of one apart from those between them.
    public let members: [String]?

    /// A field with one value, or with nil for a bare name.
    public init(name: String, value: String?) {
        self.name = name
        self.value = value
        members = nil
    }

    /// A field whose value is the members joined by commas.
    public init(name: String, members: [String]) {
        self.name = name
        value = members.joined(separator: ",")
        self.members = members
    }
}

extension URLEncoding {
    /// A query without its `?`: the fields in their order. Commas between a list's members stay raw, those inside become `%2C`.
    public static func query(of fields: [ReflectedField]) -> String {
        joined(fields, encode: queryValue)
    }

    /// A form body: the fields in their order. Commas between a list's members stay raw, those inside become `%2C`.
    public static func form(of fields: [ReflectedField]) -> String {
        joined(fields, encode: formField)
    }

    private static func joined(_ fields: [ReflectedField], encode: (String) -> String) -> String {
        fields.map { field in
            let value = field.members.map { $0.map(encode).joined(separator: ",") } ?? field.value.map(encode)
            return encode(field.name) + (value.map { "=" + $0 } ?? "")
        }
        .joined(separator: "&")
    }
}

/// Where a value stands in an argument: keys and indices from the outside in, linked from the inside out.
indirect enum FieldPath: CustomStringConvertible {
    case root
    case key(String, FieldPath)
    case index(Int, FieldPath)

    /// The path as a person writes it: `filter.tags[2]`.
    var description: String {
        switch self {
        case .root: ""
        case .key(let name, .root): name
        case .key(let name, let parent): parent.description + "." + name
        case .index(let index, let parent): parent.description + "[\(index)]"
        }
    }

    /// The same as coding keys, for types that look at their encoder's path.
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

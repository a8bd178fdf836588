/// The header or trailer fields of a message (RFC 9110 §5): ordered, found without regard to case, duplicates kept.
///
///     var fields: HTTPFields = ["Accept": "application/json"]
///     fields["X-Team"] = "core"               // replaces every field of that name
///     fields.append("Via", "1.1 proxy")       // adds one more
///
/// A value holds Unicode scalars; transports write them as UTF-8 and read foreign bytes as UTF-8 or else as Latin-1.
public struct HTTPFields: Sendable, Hashable {
    /// One field: its name and its value.
    public struct Field: Sendable, Hashable {
        /// The field's name.
        public var name: Name
        /// The field's value, without blanks around it.
        public var value: String

        /// Whether the value holds CR, LF or NUL, with which it would break out of its line (RFC 9110 §5.5).
        package static func breaksLine(_ value: String) -> Bool {
            !value.hasOnlyBytes { $0 != 13 && $0 != 10 && $0 != 0 }
        }

        /// A field of a name and a value.
        public init(name: Name, value: String) {
            self.name = name
            self.value = value
        }
    }

    private var storage: [Field]

    /// No fields.
    public init() {
        storage = []
    }

    /// The given fields, in their order.
    public init(_ fields: some Sequence<Field>) {
        storage = Array(fields)
    }

    /// The value of the field of a name: several fields of one name are joined by `", "` (RFC 9110 §5.3). Setting replaces them all,
    /// at the place of the first; setting `nil` removes them.
    public subscript(name: Name) -> String? {
        get {
            guard let first = storage.firstIndex(where: { $0.name == name }) else { return nil }
            var value = storage[first].value
            for field in storage[(first + 1)...] where field.name == name {
                value += ", " + field.value
            }
            return value
        }
        set {
            guard let first = storage.firstIndex(where: { $0.name == name }) else {
                if let newValue { storage.append(Field(name: name, value: newValue)) }
                return
            }
            guard let newValue else {
                storage.removeAll { $0.name == name }
                return
            }
            storage[first] = Field(name: name, value: newValue)
            if storage[(first + 1)...].contains(where: { $0.name == name }) {
                var index = storage.startIndex
                storage.removeAll { field in
                    defer { index += 1 }
                    return index > first && field.name == name
                }
            }
        }
    }

    /// The values of every field of a name, in order, each by itself: what `Set-Cookie` and challenges need.
    public subscript(values name: Name) -> [String] {
        storage.compactMap { $0.name == name ? $0.value : nil }
    }

    /// Adds a field behind those there are, also where one of its name is there already.
    public mutating func append(_ name: Name, _ value: String) {
        storage.append(Field(name: name, value: value))
    }

    /// Takes over every field of `other`; a name that both have gets `other`'s values.
    public mutating func replace(with other: HTTPFields) {
        guard !storage.isEmpty else {
            storage = other.storage
            return
        }
        for field in other.storage where storage.contains(where: { $0.name == field.name }) {
            storage.removeAll { $0.name == field.name }
        }
        storage.append(contentsOf: other.storage)
    }

    /// Whether there is a field of that name.
    public func contains(_ name: Name) -> Bool {
        storage.contains { $0.name == name }
    }
}

extension HTTPFields: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { storage.startIndex }
    /// The position behind the last field.
    public var endIndex: Int { storage.endIndex }
    /// The field at a position.
    public subscript(position: Int) -> Field { storage[position] }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    /// Fields from a literal; a name may stand in it more than once.
    public init(dictionaryLiteral elements: (Name, String)...) {
        storage = elements.map { Field(name: $0.0, value: $0.1) }
    }
}

extension HTTPFields: CustomStringConvertible {
    /// The fields line by line, the values of those that carry secrets replaced by `<masked>`.
    public var description: String {
        map { "\($0.name): \(SecretMask.text(of: $0))" }.joined(separator: "\n")
    }
}

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

        /// Whether the field is well formed (RFC 9110 §5): its name is a token, its value stays in its line, and a media type isn't blank.
        package var isValid: Bool { name.isValid && !Self.breaksLine(value) && !(name == .contentType && Self.isBlank(value)) }

        /// Whether a value is nothing but blanks, which every receiver takes away (RFC 9110 §5.5).
        package static func isBlank(_ value: String) -> Bool {
            guard let first = value.utf8.first else { return true }
            return (first == 32 || first == 9) && value.hasOnlyBytes { $0 == 32 || $0 == 9 }
        }

        /// Whether the value holds CR, LF or NUL, with which it would break out of its line (RFC 9110 §5.5).
        package static func breaksLine(_ value: String) -> Bool {
            value.hasBytes(below: 14) && !value.hasOnlyBytes { $0 != 13 && $0 != 10 && $0 != 0 }
        }

        /// A field of a name and a value.
        public init(name: Name, value: String) {
            self.name = name
            self.value = value
        }
    }

    private var storage: Storage

    /// No fields.
    public init() {
        storage = .fields([])
    }

    /// The given fields, in their order.
    public init(_ fields: some Sequence<Field>) {
        storage = .fields(Array(fields))
    }

    /// The fields of lines, which are read when somebody asks for them.
    init(_ lines: Lines) {
        storage = Storage(lines)
    }

    /// The value of the field of a name: several fields of one name are joined by `", "` (RFC 9110 §5.3). Setting replaces them all,
    /// at the place of the first; setting `nil` removes them.
    public subscript(name: Name) -> String? {
        get {
            var value: String?
            storage.forEachValue(of: name) { next in value = value.map { $0 + ", " + next } ?? next }
            return value
        }
        set {
            storage.withFields { fields in
                guard let first = fields.firstIndex(where: { $0.name == name }) else {
                    if let newValue { fields.append(Field(name: name, value: newValue)) }
                    return
                }
                guard let newValue else {
                    fields.removeAll { $0.name == name }
                    return
                }
                fields[first] = Field(name: name, value: newValue)
                if fields[(first + 1)...].contains(where: { $0.name == name }) {
                    var index = fields.startIndex
                    fields.removeAll { field in
                        defer { index += 1 }
                        return index > first && field.name == name
                    }
                }
            }
        }
    }

    /// The values of every field of a name, in order, each by itself: what `Set-Cookie` and challenges need.
    public subscript(values name: Name) -> [String] {
        var values: [String] = []
        storage.forEachValue(of: name) { values.append($0) }
        return values
    }

    /// Adds a field behind those there are, also where one of its name is there already.
    public mutating func append(_ name: Name, _ value: String) {
        storage.withFields { $0.append(Field(name: name, value: value)) }
    }

    /// Takes over every field of `other`; a name that both have gets `other`'s values.
    public mutating func replace(with other: HTTPFields) {
        guard !isEmpty else {
            storage = other.storage
            return
        }
        let added = other.storage.fields
        storage.withFields { fields in
            for field in added where fields.contains(where: { $0.name == field.name }) {
                fields.removeAll { $0.name == field.name }
            }
            fields.append(contentsOf: added)
        }
    }

    /// Whether these are known to be the same fields as `other`, in the same memory: a few instructions, whatever they are.
    func isSame(as other: HTTPFields) -> Bool {
        storage.isSame(as: other.storage)
    }

    /// Whether there is a field of that name.
    public func contains(_ name: Name) -> Bool {
        storage.contains(name)
    }
}

extension HTTPFields: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { 0 }
    /// The position behind the last field.
    public var endIndex: Int { storage.fields.count }
    /// The field at a position.
    public subscript(position: Int) -> Field { storage.fields[position] }
    /// Goes through the fields in their order.
    public func makeIterator() -> IndexingIterator<[Field]> { storage.fields.makeIterator() }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    /// Fields from a literal; a name may stand in it more than once.
    public init(dictionaryLiteral elements: (Name, String)...) {
        storage = .fields(elements.map { Field(name: $0.0, value: $0.1) })
    }
}

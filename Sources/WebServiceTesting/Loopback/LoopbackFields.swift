/// One line of a head or a trailer, as bytes, so that tests can send invalid fields.
public struct LoopbackField: Sendable, Hashable {
    /// The bytes before the colon.
    public var nameBytes: [UInt8]
    /// The bytes after the colon, without leading and trailing whitespace.
    public var valueBytes: [UInt8]

    /// The name as text; bytes that aren't UTF-8 show as U+FFFD.
    public var name: String { String(decoding: nameBytes, as: UTF8.self) }
    /// The value as text; bytes that aren't UTF-8 show as U+FFFD.
    public var value: String { String(decoding: valueBytes, as: UTF8.self) }

    /// Makes a field from texts, which aren't checked: line breaks are sent unchanged.
    public init(_ name: String, _ value: String) {
        self.init(nameBytes: Array(name.utf8), valueBytes: Array(value.utf8))
    }

    /// Makes a field from any bytes.
    public init(nameBytes: [UInt8], valueBytes: [UInt8]) {
        self.nameBytes = nameBytes
        self.valueBytes = valueBytes
    }

    func isNamed(_ other: String) -> Bool {
        name.lowercased() == other.lowercased()
    }
}

/// The fields of a message in their order, repeated ones included.
public struct LoopbackFields: Sendable, Hashable, ExpressibleByDictionaryLiteral, RandomAccessCollection {
    private var fields: [LoopbackField]

    /// Makes the fields from a list.
    public init(_ fields: [LoopbackField] = []) {
        self.fields = fields
    }

    /// Makes the fields from names and values; a name may be repeated.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { LoopbackField($0, $1) })
    }

    /// The position of the first field.
    public var startIndex: Int { fields.startIndex }
    /// The position after the last field.
    public var endIndex: Int { fields.endIndex }
    /// The field at a position of the collection.
    public subscript(position: Int) -> LoopbackField { fields[position] }

    /// The first value of a name, compared case-insensitively. Setting it replaces all fields of the name with one, or removes them for
    /// `nil`.
    public subscript(name: String) -> String? {
        get { fields.first { $0.isNamed(name) }?.value }
        set {
            let place = fields.firstIndex { $0.isNamed(name) } ?? fields.endIndex
            fields.removeAll { $0.isNamed(name) }
            if let newValue { fields.insert(LoopbackField(name, newValue), at: place) }
        }
    }

    /// Returns all values of a name, compared case-insensitively, in order.
    public func values(of name: String) -> [String] {
        fields.filter { $0.isNamed(name) }.map(\.value)
    }

    /// Returns whether the comma-separated lists of a name contain a token, compared case-insensitively.
    package func list(_ name: String, contains token: String) -> Bool {
        values(of: name).contains { value in
            value.split(separator: ",").contains { $0.filter { $0 != " " && $0 != "\t" }.lowercased() == token }
        }
    }

    /// Adds a field at the end.
    public mutating func append(_ field: LoopbackField) {
        fields.append(field)
    }

    /// Adds a field at the end.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(LoopbackField(name, value))
    }
}

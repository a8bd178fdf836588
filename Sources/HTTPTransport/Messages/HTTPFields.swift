/// The header or trailer fields of a message (RFC 9110 §5): ordered, found without regard to case, duplicates kept.
///
///     var fields: HTTPFields = ["Accept": "application/json"]
///     fields["X-Team"] = "core"               // replaces every field of that name
///     fields.append("Via", "1.1 proxy")       // adds one more
///
/// A value holds Unicode scalars; transports write them as UTF-8 and read foreign bytes as UTF-8 or else as Latin-1. A bare CR and a NUL that
/// a server sent inside a value are blanks here (RFC 9110 §5.5).
public struct HTTPFields: Sendable, Hashable {
    /// One field: its name and its value.
    public struct Field: Sendable, Hashable {
        /// The field's name.
        public var name: Name
        /// The field's value, without blanks around it.
        public var value: String {
            didSet { isLatin1 = false }
        }

        /// Whether the bytes of the value are no UTF-8, and each stands in ``value`` as a scalar of its own.
        private(set) var isLatin1 = false

        /// Whether a value is nothing but blanks, which every receiver takes away (RFC 9110 §5.5).
        package static func isBlank(_ value: String) -> Bool {
            guard let first = value.utf8.first else { return true }
            return (first == 32 || first == 9) && value.hasOnlyBytes { $0 == 32 || $0 == 9 }
        }

        /// Whether the field is well formed (RFC 9110 §5): its name is a token, its value holds no control characters, and a media type isn't
        /// blank.
        package var isValid: Bool { name.isValid && !Self.hasControls(value) && !(name == .contentType && Self.isBlank(value)) }

        /// Whether the value holds control characters other than tabs, which no value may hold (RFC 9110 §5.5). With CR, LF or NUL it would
        /// break out of its line.
        package static func hasControls(_ value: String) -> Bool {
            !value.hasOnlyBytes { ($0 >= 0x20 || $0 == 0x09) && $0 != 0x7F }
        }

        /// What is wrong with a value that ``hasControls(_:)``, for the end of a sentence. The value itself may be a secret.
        package static func fault(of value: String) -> String {
            "\(URLEncoding.headerFault(in: value)?.description ?? "holds control characters"), and no control character but a tab may stand "
                + "in a header (RFC 9110 §5.5): take it out or encode the value"
        }

        /// A field of a name and a value.
        public init(name: Name, value: String) {
            self.name = name
            self.value = value
        }

        /// A field whose value is these bytes, read as ``Lines/text(_:)`` does.
        package init(name: Name, bytes: UnsafeRawBufferPointer) {
            self.name = name
            (value, isLatin1) = Lines.decoded(bytes)
        }

        /// The bytes of the value, as they came or as they go out.
        package var bytes: [UInt8] {
            isLatin1 ? value.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(value.utf8)
        }

        /// Whether name and value are the same.
        public static func == (left: Self, right: Self) -> Bool {
            left.name == right.name && left.value == right.value
        }

        /// Hashes name and value.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(value)
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
    package init(_ lines: Lines) {
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

    /// The bytes of the value of every field of a name, in order: as they came where they are no UTF-8.
    package func bytes(of name: Name) -> [[UInt8]] {
        storage.fields.lazy.filter { $0.name == name }.map(\.bytes)
    }

    /// Replaces the fields of a name by one whose value goes out as these bytes.
    package mutating func set(_ name: Name, bytes: [UInt8]) {
        let field = bytes.withUnsafeBytes { Field(name: name, bytes: $0) }
        self[name] = field.value
        storage.withFields { fields in
            if let index = fields.firstIndex(where: { $0.name == name }) { fields[index] = field }
        }
    }

    /// The first value of a name as a reference to a URL (RFC 3986 §4.1): bytes that are no UTF-8 are percent-encoded as they came, which is
    /// what browsers do with a `Location`. Text in UTF-8 stays as it is.
    package func reference(_ name: Name) -> String? {
        guard let field = storage.fields.first(where: { $0.name == name }) else { return nil }
        guard field.isLatin1 else { return field.value }
        let ascii = URLEncoding.Alphabet(String(String.UnicodeScalarView((0..<128).compactMap { Unicode.Scalar(UInt32($0)) })))
        var text: [UInt8] = []
        for byte in field.bytes { URLEncoding.append(byte, to: &text, allowing: ascii) }
        return String(decoding: text, as: UTF8.self)
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
    package func isSame(as other: HTTPFields) -> Bool {
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

extension HTTPFields {
    /// Where the fields are: in an array, or still in the lines that a transport has received.
    enum Storage: Sendable {
        case fields([Field])
        /// Copies share them, and what one of them has read. The bytes take the place of the fields, and less of it: they are let go once
        /// all fields have been read, or with the last copy. A transport bounds them.
        case lines(Locked<Unread>)

        /// Lines until somebody asks for all fields.
        enum Unread: Sendable {
            case lines(Lines)
            /// Lines that have been looked at: a field can be found in them.
            case plainLines(Lines)
            case fields([Field])

            /// All fields.
            fileprivate mutating func read() -> [Field] {
                switch self {
                case .fields(let fields): return fields
                case .lines(let lines), .plainLines(let lines):
                    let fields = lines.fields
                    self = .fields(fields)
                    return fields
                }
            }

            /// The lines where a field can be found in them.
            fileprivate mutating func searched() -> Lines? {
                switch self {
                case .fields: return nil
                case .plainLines(let lines): return lines
                case .lines(let lines):
                    guard lines.isPlain else { return nil }
                    self = .plainLines(lines)
                    return lines
                }
            }
        }

        /// Lines to read when somebody asks for them.
        init(_ lines: Lines) {
            self = lines.isEmpty ? .fields([]) : .lines(Locked(.lines(lines)))
        }

        /// All fields.
        var fields: [Field] {
            switch self {
            case .fields(let fields): fields
            case .lines(let unread): unread.withLock { $0.read() }
            }
        }

        /// Lets the fields be changed. Other copies don't see it.
        mutating func withFields(_ change: (inout [Field]) -> Void) {
            var fields = fields
            // Else the array would have two owners, and be copied.
            self = .fields([])
            change(&fields)
            self = .fields(fields)
        }

        /// Hands over the values of a name's fields, in their order.
        func forEachValue(of name: Name, _ body: (String) -> Void) {
            if let lines = searched { return lines.forEachValue(of: name) { body(Lines.text($0)) } }
            for field in fields where field.name == name { body(field.value) }
        }

        /// Whether there is a field of that name.
        func contains(_ name: Name) -> Bool {
            guard let lines = searched else { return fields.contains { $0.name == name } }
            var isFound = false
            lines.forEachValue(of: name) { _ in isFound = true }
            return isFound
        }

        /// Whether both are the same memory.
        func isSame(as other: Storage) -> Bool {
            switch (self, other) {
            case (.lines(let one), .lines(let other)):
                one.isSame(as: other)
            case (.fields(let one), .fields(let other)):
                one.count == other.count
                    && one.withUnsafeBufferPointer { one in other.withUnsafeBufferPointer { $0.baseAddress == one.baseAddress } }
            default:
                false
            }
        }

        /// The lines where a field can be found in them.
        private var searched: Lines? {
            guard case .lines(let unread) = self else { return nil }
            return unread.withLock { $0.searched() }
        }
    }
}

extension HTTPFields.Storage: Hashable {
    /// Whether the fields are the same, read or not.
    static func == (left: Self, right: Self) -> Bool {
        left.isSame(as: right) || left.fields == right.fields
    }

    /// Hashes the fields.
    func hash(into hasher: inout Hasher) {
        hasher.combine(fields)
    }
}

extension HTTPFields: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The fields line by line, the values of those that carry secrets replaced by `<masked>`.
    public var description: String {
        map(\.description).joined(separator: "\n")
    }

    /// The fields line by line as they are, where they were masked before.
    package var unmaskedDescription: String {
        map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The fields by their names: not even a dump shows secrets, of these or of what holds them.
    public var customMirror: Mirror {
        Mirror(self, children: map { (label: $0.name.rawName, value: SecretMask.text(of: $0)) })
    }
}

extension HTTPFields.Field: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Name and value, a secret one replaced by `<masked>`.
    public var description: String { VisibleText.of("\(name): \(SecretMask.text(of: self))") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Name and value, a secret one masked as in ``description``.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name.rawName, "value": SecretMask.text(of: self)])
    }
}

/// The header or trailer fields of a message (RFC 9110 §5): ordered, looked up without regard to case, with duplicates kept.
///
///     var fields: HTTPFields = ["Accept": "application/json"]
///     fields["X-Team"] = "core"               // replaces every field of that name
///     fields.append("Via", "1.1 proxy")       // adds one more
///
/// A value holds Unicode scalars. Transports write them as UTF-8 and read received bytes as UTF-8, or as Latin-1 if they aren't valid
/// UTF-8. A bare CR or NUL in a received value becomes a space (RFC 9110 §5.5).
public struct HTTPFields: Sendable, Hashable {
    /// A field: a name and a value.
    public struct Field: Sendable, Hashable {
        /// The field's name.
        public var name: Name
        /// The field's value, without leading and trailing whitespace.
        public var value: String {
            didSet { isLatin1 = false }
        }

        /// Whether the bytes of the value aren't UTF-8. Each byte is then one scalar of ``value``.
        private(set) var isLatin1 = false

        /// Whether a value consists of whitespace, which receivers remove (RFC 9110 §5.5).
        package static func isBlank(_ value: String) -> Bool {
            guard let first = value.utf8.first else { return true }
            return (first == 32 || first == 9) && value.hasOnlyBytes { $0 == 32 || $0 == 9 }
        }

        /// Whether the field is well formed (RFC 9110 §5): its name is a token, its value contains no control characters, and a
        /// `Content-Type` isn't blank.
        package var isValid: Bool { name.isValid && !Self.hasControls(value) && !(name == .contentType && Self.isBlank(value)) }

        /// Whether the value contains control characters other than tabs, which are forbidden (RFC 9110 §5.5). CR, LF or NUL would break
        /// out of the line.
        package static func hasControls(_ value: String) -> Bool {
            !value.hasNoByte { byte in
                let (control, tab, delete): (UInt8, UInt8, UInt8) = (byte < 0x20 ? 1 : 0, byte == 0x09 ? 1 : 0, byte == 0x7F ? 1 : 0)
                return control ^ tab | delete
            }
        }

        /// Describes the fault of a value for which ``hasControls(_:)`` is true, for the end of a sentence. It omits the value, which may
        /// be a secret.
        package static func fault(of value: String) -> String {
            "\(URLEncoding.headerFault(in: value)?.description ?? "holds control characters"), and headers allow no control characters "
                + "except tabs (RFC 9110 §5.5): remove it or encode the value"
        }

        /// Creates a field from a name and a value.
        public init(name: Name, value: String) {
            self.name = name
            self.value = value
        }

        /// Creates a field from the bytes of its value, decoded as ``Lines/text(_:)`` does.
        package init(name: Name, bytes: UnsafeRawBufferPointer) {
            self.name = name
            (value, isLatin1) = Lines.decoded(bytes)
        }

        /// The bytes of the value as received or sent.
        package var bytes: [UInt8] {
            isLatin1 ? value.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(value.utf8)
        }

        /// Whether names and values are equal.
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

    /// Creates an empty collection.
    public init() {
        storage = .fields([])
    }

    /// Creates a collection of the given fields, in order.
    public init(_ fields: some Sequence<Field>) {
        storage = .fields(Array(fields))
    }

    /// Creates fields from lines, which are parsed on first access.
    package init(_ lines: Lines) {
        storage = Storage(lines)
    }

    /// The value of a name. The values of several fields with the same name are joined by `", "` (RFC 9110 §5.3). Setting it replaces them
    /// all at the position of the first; setting `nil` removes them.
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

    /// The values of all fields with a name, in order and not joined, as needed for `Set-Cookie` and challenges.
    public subscript(values name: Name) -> [String] {
        var values: [String] = []
        storage.forEachValue(of: name) { values.append($0) }
        return values
    }

    /// Returns the bytes of the values of all fields with a name, in order. Values that aren't UTF-8 keep their received bytes.
    package func bytes(of name: Name) -> [[UInt8]] {
        storage.fields.lazy.filter { $0.name == name }.map(\.bytes)
    }

    /// Replaces the fields of a name with one field whose value is sent as these bytes.
    package mutating func set(_ name: Name, bytes: [UInt8]) {
        let field = bytes.withUnsafeBytes { Field(name: name, bytes: $0) }
        self[name] = field.value
        storage.withFields { fields in
            if let index = fields.firstIndex(where: { $0.name == name }) { fields[index] = field }
        }
    }

    /// Returns the first value of a name as a URL reference (RFC 3986 §4.1). Bytes that aren't UTF-8 are percent-encoded unchanged, as
    /// browsers do with a `Location`. UTF-8 text is returned unchanged.
    package func reference(_ name: Name) -> String? {
        guard let field = storage.fields.first(where: { $0.name == name }) else { return nil }
        guard field.isLatin1 else { return field.value }
        let ascii = URLEncoding.Alphabet(String(String.UnicodeScalarView((0..<128).compactMap { Unicode.Scalar(UInt32($0)) })))
        var text: [UInt8] = []
        for byte in field.bytes { URLEncoding.append(byte, to: &text, allowing: ascii) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends a field, even if one with the same name exists.
    public mutating func append(_ name: Name, _ value: String) {
        storage.withFields { $0.append(Field(name: name, value: value)) }
    }

    /// Adds all fields of `other`. Its values replace those of names that both contain.
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

    /// Whether these fields share their storage with `other`. Takes constant time; `false` doesn't mean that they differ.
    package func isSame(as other: HTTPFields) -> Bool {
        storage.isSame(as: other.storage)
    }

    /// Returns whether there is a field with that name.
    public func contains(_ name: Name) -> Bool {
        storage.contains(name)
    }
}

extension HTTPFields: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { 0 }
    /// The position after the last field.
    public var endIndex: Int { storage.fields.count }
    /// The field at a position.
    public subscript(position: Int) -> Field { storage.fields[position] }
    /// Returns an iterator over the fields, in order.
    public func makeIterator() -> IndexingIterator<[Field]> { storage.fields.makeIterator() }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    /// Creates fields from a literal, which may repeat a name.
    public init(dictionaryLiteral elements: (Name, String)...) {
        storage = .fields(elements.map { Field(name: $0.0, value: $0.1) })
    }
}

extension HTTPFields {
    /// The storage of the fields: an array, or unparsed lines from a transport.
    enum Storage: Sendable {
        case fields([Field])
        /// Unparsed lines, shared between copies together with the parsed result. The bytes replace the fields and take less memory; they
        /// are released when all fields have been parsed, or with the last copy. The transport limits their size.
        case lines(Locked<Unread>)

        /// Lines that are parsed on first access to all fields.
        enum Unread: Sendable {
            case lines(Lines)
            /// Lines that are known to be plain, so that fields can be found in them.
            case plainLines(Lines)
            case fields([Field])

            /// Parses all fields.
            fileprivate mutating func read() -> [Field] {
                switch self {
                case .fields(let fields): return fields
                case .lines(let lines), .plainLines(let lines):
                    let fields = lines.fields
                    self = .fields(fields)
                    return fields
                }
            }

            /// Returns the lines if fields can be found in them by their bytes.
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

        /// Creates storage for lines that are parsed on first access.
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

        /// Changes the fields. Other copies aren't affected.
        mutating func withFields(_ change: (inout [Field]) -> Void) {
            var fields = fields
            // Releases the array, which would otherwise be copied because it has two owners.
            self = .fields([])
            change(&fields)
            self = .fields(fields)
        }

        /// Passes the values of a name's fields to a closure, in order.
        func forEachValue(of name: Name, _ body: (String) -> Void) {
            if let lines = searched { return lines.forEachValue(of: name) { body(Lines.text($0)) } }
            for field in fields where field.name == name { body(field.value) }
        }

        /// Returns whether there is a field with that name.
        func contains(_ name: Name) -> Bool {
            guard let lines = searched else { return fields.contains { $0.name == name } }
            var isFound = false
            lines.forEachValue(of: name) { _ in isFound = true }
            return isFound
        }

        /// Whether both share the same memory.
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

        /// The lines, if fields can be found in them by their bytes.
        private var searched: Lines? {
            guard case .lines(let unread) = self else { return nil }
            return unread.withLock { $0.searched() }
        }
    }
}

extension HTTPFields.Storage: Hashable {
    /// Whether the fields are equal, parsed or not.
    static func == (left: Self, right: Self) -> Bool {
        left.isSame(as: right) || left.fields == right.fields
    }

    /// Hashes the fields.
    func hash(into hasher: inout Hasher) {
        hasher.combine(fields)
    }
}

extension HTTPFields: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The fields, one per line. Secret values are replaced by `<masked>`.
    public var description: String {
        map(\.description).joined(separator: "\n")
    }

    /// The fields, one per line, unchanged. Used for fields that are already masked.
    package var unmaskedDescription: String {
        map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The fields by name, masked, so that a dump of this value or of its container shows no secrets.
    public var customMirror: Mirror {
        Mirror(self, children: map { (label: $0.name.rawName, value: SecretMask.text(of: $0)) })
    }
}

extension HTTPFields.Field: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name and value. A secret value is replaced by `<masked>`.
    public var description: String { VisibleText.of("\(name): \(SecretMask.text(of: self))") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The name and value, masked as in ``description``.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name.rawName, "value": SecretMask.text(of: self)])
    }
}

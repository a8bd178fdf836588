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

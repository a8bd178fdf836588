public import Foundation

/// Structured field values (RFC 9651): the common syntax of newer header fields, such as `RateLimit`, `Content-Digest` and `Priority`.
///
///     let limits = try StructuredFields.list(response.headers[values: "RateLimit"])
///     limits.first?.item?.parameters["r"]?.integer        // 12 in "minute";r=12;t=8
///
/// Parsing is strict, as the specification requires: any fault makes the whole field invalid. A field's definition specifies which of the
/// three types it has: an item, a list or a dictionary.
public enum StructuredFields {
    /// A value without parameters (RFC 9651 §3.3).
    public enum BareItem: Sendable, Hashable {
        /// An integer of at most 15 digits.
        case integer(Int64)
        /// A decimal number with at most 12 digits before the point. It is written with at most three digits after it.
        case decimal(Double)
        /// A string of printable ASCII characters, in quotes.
        case string(String)
        /// A word, such as `gzip` or `text/html`, without quotes.
        case token(String)
        /// Bytes, written in base64 between colons.
        case bytes(Data)
        /// A Boolean, written `?1` or `?0`.
        case boolean(Bool)
        /// A date, in seconds since 1970-01-01 00:00:00 UTC.
        case date(Int64)
        /// A string of any characters, for display.
        case displayString(String)

        /// The integer; `nil` for other values.
        public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
        /// The integer or decimal; `nil` for other values.
        public var number: Double? {
            switch self {
            case .integer(let value): Double(value)
            case .decimal(let value): value
            default: nil
            }
        }
        /// The text of a string, a token or a display string; `nil` for other values.
        public var text: String? {
            switch self {
            case .string(let text), .token(let text), .displayString(let text): text
            default: nil
            }
        }
        /// The bytes; `nil` for other values.
        public var bytes: Data? { if case .bytes(let value) = self { value } else { nil } }
        /// The Boolean; `nil` for other values.
        public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
        /// The date; `nil` for other values.
        public var date: Date? { if case .date(let value) = self { Date(timeIntervalSince1970: Double(value)) } else { nil } }
    }

    /// Values by key, in order, with one value for each key: parameters (RFC 9651 §3.1.2) and dictionaries (§3.2).
    public struct Keyed<Value: Sendable & Hashable>: Sendable, Hashable, RandomAccessCollection, ExpressibleByDictionaryLiteral {
        /// A key with its value.
        public struct Entry: Sendable, Hashable {
            /// The key: lower-case letters, digits, `_`, `-`, `.` and `*`, the first a letter or `*`.
            public let key: String
            /// The value.
            public let value: Value
        }

        private var entries: [Entry] = []

        /// Creates an empty collection.
        public init() {}

        /// Creates a collection from a literal. Of two values for one key, the last counts.
        public init(dictionaryLiteral elements: (String, Value)...) {
            for (key, value) in elements { self[key] = value }
        }

        /// - Parameter entries: Entries with distinct keys.
        init(distinct entries: [Entry]) {
            self.entries = entries
        }

        /// The value of a key. A new value keeps the place of the old one; a new key is added at the end.
        public subscript(key: String) -> Value? {
            get { entries.first { $0.key == key }?.value }
            set {
                let index = entries.firstIndex { $0.key == key }
                switch (index, newValue) {
                case (let index?, let value?): entries[index] = Entry(key: key, value: value)
                case (let index?, nil): entries.remove(at: index)
                case (nil, let value?): entries.append(Entry(key: key, value: value))
                case (nil, nil): break
                }
            }
        }

        /// The position of the first entry.
        public var startIndex: Int { 0 }
        /// The position after the last entry.
        public var endIndex: Int { entries.count }
        /// The entry at a position.
        public subscript(position: Int) -> Entry { entries[position] }
    }

    /// The parameters of an item or an inner list.
    public typealias Parameters = Keyed<BareItem>
    /// A dictionary. A key without a value is the Boolean `true`.
    public typealias Dictionary = Keyed<Member>

    /// A value with parameters (RFC 9651 §3.3).
    public struct Item: Sendable, Hashable {
        /// The value.
        public var value: BareItem
        /// The parameters.
        public var parameters: Parameters

        /// Creates an item.
        public init(_ value: BareItem, parameters: Parameters = [:]) {
            self.value = value
            self.parameters = parameters
        }
    }

    /// A list of items with common parameters, as a member of a list or a dictionary (RFC 9651 §3.1.1).
    public struct InnerList: Sendable, Hashable {
        /// The items.
        public var items: [Item]
        /// The parameters.
        public var parameters: Parameters

        /// Creates an inner list.
        public init(_ items: [Item], parameters: Parameters = [:]) {
            self.items = items
            self.parameters = parameters
        }
    }

    /// A member of a list or a dictionary.
    public enum Member: Sendable, Hashable {
        /// An item.
        case item(Item)
        /// An inner list.
        case innerList(InnerList)

        /// The item; `nil` for an inner list.
        public var item: Item? { if case .item(let item) = self { item } else { nil } }
        /// The parameters.
        public var parameters: Parameters {
            switch self {
            case .item(let item): item.parameters
            case .innerList(let list): list.parameters
            }
        }
    }

    /// The fault of a structured field, in a text to parse or in a value to write.
    public struct Fault: DescribedError, Hashable {
        /// A description of the error. The text isn't quoted, because fields can contain secrets.
        public let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    // MARK: Reading

    /// Parses a field that is an item (RFC 9651 §4.2).
    ///
    /// - Parameter lines: The values of all fields of the name, in order: `headers[values: "Priority"]`.
    /// - Throws: ``Fault``. A field with a fault must be ignored as a whole.
    public static func item(_ lines: [String]) throws(Fault) -> Item {
        try StructuredFieldParser.parse(lines) { parser throws(Fault) in try parser.item() }
    }

    /// Parses a field that is a list. A missing or empty field is an empty list.
    ///
    /// - Throws: ``Fault``. A field with a fault must be ignored as a whole.
    public static func list(_ lines: [String]) throws(Fault) -> [Member] {
        try StructuredFieldParser.parse(lines) { parser throws(Fault) in try parser.list() }
    }

    /// Parses a field that is a dictionary. A missing or empty field is an empty dictionary.
    ///
    /// - Throws: ``Fault``. A field with a fault must be ignored as a whole.
    public static func dictionary(_ lines: [String]) throws(Fault) -> Dictionary {
        try StructuredFieldParser.parse(lines) { parser throws(Fault) in try parser.dictionary() }
    }

    // MARK: Writing

    /// Writes a field that is an item, in its canonical form (RFC 9651 §4.1).
    ///
    /// - Throws: ``Fault`` if the item has a value that can't be written: a number out of range, a string or a key with other characters.
    public static func text(of item: Item) throws(Fault) -> String {
        var writer = StructuredFieldWriter()
        try writer.write(item)
        return writer.text
    }

    /// Writes a field that is a list; `nil` if the list is empty, because an empty list has no field.
    ///
    /// - Throws: ``Fault`` if a member has a value that can't be written.
    public static func text(of list: [Member]) throws(Fault) -> String? {
        guard !list.isEmpty else { return nil }
        var writer = StructuredFieldWriter()
        try writer.write(list)
        return writer.text
    }

    /// Writes a field that is a dictionary; `nil` if the dictionary is empty, because an empty dictionary has no field.
    ///
    /// - Throws: ``Fault`` if a member has a value that can't be written.
    public static func text(of dictionary: Dictionary) throws(Fault) -> String? {
        guard !dictionary.isEmpty else { return nil }
        var writer = StructuredFieldWriter()
        try writer.write(dictionary)
        return writer.text
    }
}

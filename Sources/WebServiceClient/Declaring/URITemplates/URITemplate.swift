/// A URI template (RFC 6570, level 4), parsed once and expanded as often as needed.
///
///     let search = try URITemplate("/search{?text,page}{&tags*}")
///     try search.expand(["text": "a&b", "page": "2", "tags": ["x", "y"]])     // /search?text=a%26b&page=2&tags=x&tags=y
///
/// Expansion encodes each value for the operator it stands under: only `{+name}` and `{#name}` let reserved characters and whole
/// `%XX` of a value through, all others keep a value in its place.
public struct URITemplate: Hashable, Sendable, CustomStringConvertible {
    /// The template as it was written.
    public let description: String
    /// The names of the variables in the order they first appear, each once.
    public let variables: [String]

    let parts: [Part]

    /// A run of text between braces, encoded once and for all, or an expression.
    enum Part: Hashable, Sendable {
        case literal([UInt8])
        case expression(Operator, [Variable])
    }

    /// A name in an expression, with what follows it (RFC 6570 section 2.3 and 2.4).
    struct Variable: Hashable, Sendable {
        enum Modifier: Hashable, Sendable {
            case none
            case prefix(Int)
            case explode
        }

        let name: String
        let modifier: Modifier
    }

    /// Whether the expansion may have a fragment: by an expression, or by a `#` between them.
    var hasFragment: Bool {
        parts.contains { part in
            switch part {
            case .literal(let bytes): bytes.contains(UInt8(ascii: "#"))
            case .expression(let kind, _): kind == .fragment
            }
        }
    }

    /// The first name of an expression that leaves a hole in the path: `{name}` and `{+name}` do without a value, while others, such as `{/name}`,
    /// take their separator along; but not before an empty one.
    ///
    /// - Parameters:
    ///   - names: those that have no value, or an empty one.
    ///   - empty: those that have an empty value, or one in a list.
    func blankInPath(_ names: Set<String>, empty: Set<String>) -> String? {
        for part in parts {
            switch part {
            case .literal(let bytes):
                if bytes.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) { return nil }
            case .expression(.simple, let variables), .expression(.reserved, let variables):
                if variables.allSatisfy({ names.contains($0.name) }) { return variables.first?.name }
            case .expression(.path, let variables):
                if let variable = variables.first(where: { empty.contains($0.name) }) { return variable.name }
            case .expression(.query, _), .expression(.fragment, _):
                return nil
            case .expression:
                continue
            }
        }
        return nil
    }

    /// The template of the text.
    ///
    /// - Throws: ``ParseError``, which tells the column, the offending expression and what is expected there. Characters that a URL
    ///   can't hold are no error outside of braces: they are encoded (section 3.1).
    public init(_ text: String) throws(ParseError) {
        var parser = Parser(text)
        parts = try parser.parse()
        description = text
        var names: [String] = []
        var seen: Set<String> = []
        for case .expression(_, let variables) in parts {
            for variable in variables where seen.insert(variable.name).inserted { names.append(variable.name) }
        }
        variables = names
    }
}

extension URITemplate {
    /// What an expression's first character asks for: the table of RFC 6570 appendix A, a row each.
    enum Operator: UInt8, Hashable, Sendable, CaseIterable {
        case simple = 0
        case reserved = 0x2B  // +
        case fragment = 0x23  // #
        case label = 0x2E  // .
        case path = 0x2F  // /
        case parameter = 0x3B  // ;
        case query = 0x3F  // ?
        case continuation = 0x26  // &

        /// What stands before the first defined value.
        var first: UInt8? {
            switch self {
            case .simple, .reserved: nil
            default: rawValue
            }
        }

        /// What stands between defined values.
        var separator: UInt8 {
            switch self {
            case .simple, .reserved, .fragment: UInt8(ascii: ",")
            case .label, .path, .parameter: rawValue
            case .query, .continuation: UInt8(ascii: "&")
            }
        }

        /// Whether values are written as `name=value`.
        var isNamed: Bool {
            switch self {
            case .parameter, .query, .continuation: true
            default: false
            }
        }

        /// Whether a name without a value keeps its `=`.
        var keepsEqualsSign: Bool { self != .parameter }

        /// Whether reserved characters and whole `%XX` of a value stand as they are.
        var allowsReserved: Bool { self == .reserved || self == .fragment }
    }

    /// What a literal and a reserved expansion keep raw.
    static let reservedAlphabet = URLEncoding.Alphabet.unreserved.union(.reserved)
}

extension URITemplate {
    /// The first characters of a value, counted in Unicode scalars (RFC 6570 section 2.4.1), never in bytes.
    ///
    /// Where `%XX` of the value stand as they are, a run of them that spells one scalar counts as one character and isn't cut.
    static func prefix(of text: String, length: Int, as kind: Operator) -> String {
        guard text.utf8.count > length else { return text }
        guard kind.allowsReserved, text.utf8.contains(URLEncoding.percent) else {
            return String(String.UnicodeScalarView(text.unicodeScalars.prefix(length)))
        }
        return URLEncoding.withBytes(of: text) { bytes in
            var end = 0
            var taken = 0
            while end < bytes.count, taken < length {
                end = character(in: bytes, at: end)
                taken += 1
            }
            return String(decoding: bytes[..<end], as: UTF8.self)
        }
    }

    /// Where the character that starts at the index ends: a raw scalar, or the triplets of an encoded one.
    private static func character(in bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Int {
        guard let lead = tripletByte(in: bytes, at: start) else {
            return min(start + width(ofLead: bytes[start]), bytes.count)
        }
        let width = width(ofLead: lead)
        guard width > 1 else { return start + 3 }
        var end = start + 3
        for _ in 1..<width {
            guard let next = tripletByte(in: bytes, at: end), next & 0xC0 == 0x80 else { return start + 3 }
            end += 3
        }
        return end
    }

    private static func tripletByte(in bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt8? {
        guard URLEncoding.isTriplet(bytes, at: index), let high = URLEncoding.hexadecimalValue(bytes[index + 1]),
            let low = URLEncoding.hexadecimalValue(bytes[index + 2])
        else { return nil }
        return high << 4 | low
    }

    /// How many bytes a scalar with this first byte has; 1 for what starts none.
    private static func width(ofLead byte: UInt8) -> Int {
        switch byte {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 1
        }
    }
}

extension URITemplate {
    /// What a variable stands for (RFC 6570 section 2.3).
    ///
    /// Literals do: `"text"`, `["a", "b"]`, `["key": "value"]` and `nil`. An undefined value, an empty list and an empty map vanish
    /// alike, with their operator if nothing else is defined in the expression. An empty string is a value.
    public enum Value: Hashable, Sendable {
        /// One text.
        case string(String)
        /// Texts in their order.
        case list([String])
        /// Names and values in their order.
        case associative([Pair])
        /// No value.
        case undefined

        /// Whether the value vanishes from an expansion.
        var isUndefined: Bool {
            switch self {
            case .string: false
            case .list(let members): members.isEmpty
            case .associative(let pairs): pairs.isEmpty
            case .undefined: true
            }
        }

        /// Whether nothing of the value is seen in an expansion without names.
        var isBlank: Bool {
            switch self {
            case .string(let text): text.isEmpty
            case .list(let members): members.allSatisfy(\.isEmpty)
            case .associative(let pairs): pairs.isEmpty
            case .undefined: true
            }
        }

        /// Whether it is, or has, an empty text.
        var hasEmptyText: Bool {
            switch self {
            case .string(let text): text.isEmpty
            case .list(let members): members.contains("")
            case .associative, .undefined: false
            }
        }
    }

    /// A name and its value inside an associative value.
    public struct Pair: Hashable, Sendable {
        /// The name, not encoded.
        public var name: String
        /// The value, not encoded.
        public var value: String

        /// A pair of a name and a value, neither encoded.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }
}

extension URITemplate.Value: ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    /// One text.
    public init(stringLiteral value: String) { self = .string(value) }

    /// A list of texts.
    public init(arrayLiteral elements: String...) { self = .list(elements) }

    /// Names and values in the order of the literal.
    public init(dictionaryLiteral elements: (String, String)...) { self = .associative(elements.map { URITemplate.Pair($0, $1) }) }

    /// No value.
    public init(nilLiteral: ()) { self = .undefined }
}

extension URITemplate {
    /// The template with its values in place; a name the dictionary doesn't hold is undefined.
    ///
    /// - Throws: ``ExpansionError`` where a prefix is asked of a list or a map.
    public func expand(_ values: [String: Value]) throws -> String {
        try expand { values[$0] ?? .undefined }
    }

    /// The template with its values in place, each asked for by its name when it is needed.
    ///
    /// - Throws: ``ExpansionError`` where a prefix is asked of a list or a map, and what the closure throws.
    public func expand(_ value: (_ name: String) throws -> Value) throws -> String {
        try expand(value, noting: { _, _ in })
    }

    /// The same; `note` is told which bytes of the expansion each variable makes, its separator not counted.
    func expand(_ value: (_ name: String) throws -> Value, noting note: (_ name: String, _ bytes: Range<Int>) -> Void) throws -> String {
        var output: [UInt8] = []
        output.reserveCapacity(description.utf8.count + 64)
        for part in parts {
            switch part {
            case .literal(let bytes): output.append(contentsOf: bytes)
            case .expression(let kind, let variables):
                var isFirst = true
                for variable in variables {
                    let value = try value(variable.name)
                    if value.isUndefined { continue }
                    if !isFirst {
                        output.append(kind.separator)
                    } else if let first = kind.first {
                        output.append(first)
                    }
                    isFirst = false
                    let start = output.count
                    try append(value, for: variable, to: &output, as: kind)
                    note(variable.name, start..<output.count)
                }
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private func append(_ value: Value, for variable: Variable, to output: inout [UInt8], as kind: Operator) throws {
        switch value {
        case .undefined: break
        case .string(let text):
            if kind.isNamed { Self.appendName(variable.name, beforeEmpty: text.isEmpty, to: &output, as: kind) }
            if case .prefix(let length) = variable.modifier {
                Self.append(Self.prefix(of: text, length: length, as: kind), to: &output, as: kind)
            } else {
                Self.append(text, to: &output, as: kind)
            }
        case .list(let members):
            try append(members.map { Pair(variable.name, $0) }, areNamed: false, for: variable, to: &output, as: kind)
        case .associative(let pairs):
            try append(pairs, areNamed: true, for: variable, to: &output, as: kind)
        }
    }

    /// A list or a map: RFC 6570 section 3.2.1, from "else if no explode modifier is given" on.
    private func append(_ pairs: [Pair], areNamed: Bool, for variable: Variable, to output: inout [UInt8], as kind: Operator) throws {
        if case .prefix = variable.modifier { throw ExpansionError(variable: variable.name, template: description) }
        let isExploded = variable.modifier == .explode
        if !isExploded, kind.isNamed { Self.appendName(variable.name, beforeEmpty: false, to: &output, as: kind) }
        var isFirst = true
        for pair in pairs {
            if !isFirst { output.append(isExploded ? kind.separator : UInt8(ascii: ",")) }
            isFirst = false
            if areNamed {
                // The RFC encodes exploded names like literals, which would let "a&b" add a pair. Encoding them like values reads the
                // same at the receiver and stays in its place.
                Self.append(pair.name, to: &output, as: kind)
                if !isExploded {
                    output.append(UInt8(ascii: ","))
                } else if !pair.value.isEmpty || kind.keepsEqualsSign {
                    output.append(UInt8(ascii: "="))
                }
            } else if isExploded, kind.isNamed {
                Self.appendName(pair.name, beforeEmpty: pair.value.isEmpty, to: &output, as: kind)
            }
            Self.append(pair.value, to: &output, as: kind)
        }
    }

    /// The variable's own name, which the parser has checked: nothing in it needs encoding.
    private static func appendName(_ name: String, beforeEmpty isEmpty: Bool, to output: inout [UInt8], as kind: Operator) {
        output.append(contentsOf: name.utf8)
        if !isEmpty || kind.keepsEqualsSign { output.append(UInt8(ascii: "=")) }
    }

    private static func append(_ text: String, to output: inout [UInt8], as kind: Operator) {
        if kind.allowsReserved {
            URLEncoding.appendRepaired(text, to: &output, allowing: reservedAlphabet)
        } else {
            URLEncoding.append(text, to: &output, allowing: .unreserved)
        }
    }
}

extension URITemplate.Value {
    /// The value of an argument: a text or number as a string, an array of such as a list, a structure or a dictionary as pairs, `nil` as
    /// undefined.
    ///
    /// - Throws: ``ReflectionError`` for a value that has no text, or is nested deeper than a template can say.
    init(reflecting argument: Any) throws {
        if let list = argument as? [Any] {
            self = .list(try list.compactMap { try ArgumentText.text(of: $0) })
        } else if Self.hasFields(argument) {
            let fields = try FieldReflection().fields(of: argument)
            self = .associative(fields.compactMap { field in field.value.map { URITemplate.Pair(field.name, $0) } })
        } else {
            self = try ArgumentText.text(of: argument).map { .string($0) } ?? .undefined
        }
    }

    /// Whether an argument is a structure or a dictionary whose fields count, not something with a text of its own.
    private static func hasFields(_ argument: Any) -> Bool {
        if argument is String || argument is any BinaryInteger || argument is any RawRepresentable { return false }
        let kind = Mirror(reflecting: argument).displayStyle
        guard kind == .struct || kind == .dictionary || kind == .class else { return false }
        return (try? ArgumentText.text(of: argument)) == nil
    }
}

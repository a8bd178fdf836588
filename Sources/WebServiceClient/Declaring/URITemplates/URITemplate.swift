/// A URI template (RFC 6570, level 4), parsed once and expanded any number of times.
///
///     let search = try URITemplate("/search{?text,page}{&tags*}")
///     try search.expand(["text": "a&b", "page": "2", "tags": ["x", "y"]])     // /search?text=a%26b&page=2&tags=x&tags=y
///
/// Expansion percent-encodes each value by the rules of its expression's operator: `{+name}` and `{#name}` keep reserved characters and
/// complete escapes (`%XX`) in a value; all other operators encode them.
public struct URITemplate: Hashable, Sendable, CustomStringConvertible {
    /// The original text of the template.
    public let description: String
    /// The names of the variables in order of first appearance, without duplicates.
    public let variables: [String]

    let parts: [Part]

    /// An encoded literal between expressions, or an expression.
    enum Part: Hashable, Sendable {
        case literal([UInt8])
        case expression(Operator, [Variable])
    }

    /// A name in an expression, with its modifier (RFC 6570 sections 2.3 and 2.4).
    struct Variable: Hashable, Sendable {
        enum Modifier: Hashable, Sendable {
            case none
            case prefix(Int)
            case explode
        }

        let name: String
        let modifier: Modifier
    }

    /// Whether the template itself has a fragment: `{#…}`, or a `#` in a literal.
    var hasFragment: Bool {
        parts.contains { part in
            switch part {
            case .literal(let bytes): bytes.contains(UInt8(ascii: "#"))
            case .expression(let kind, _): kind == .fragment
            }
        }
    }

    /// Returns the first variable whose expression would leave a gap in the path, such as an empty segment. `{name}` and `{+name}` leave
    /// one if no variable of theirs has a nonempty value. `{/name}` leaves one only if a value is empty, because it omits its slash for a
    /// missing value.
    ///
    /// - Parameters:
    ///   - names: The variables that have no value or an empty value, or a list of only empty texts.
    ///   - empty: The variables whose value is empty, or is a list with an empty element.
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

    /// Parses a template.
    ///
    /// - Throws: ``ParseError`` with the column, the offending expression and what is expected there. Characters outside braces that a
    ///   URL can't contain aren't errors: they are encoded (section 3.1).
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
    /// The operator of an expression: its first character, if that isn't part of a name. It determines the expansion rules. Each case is a
    /// column of the table in RFC 6570 appendix A.
    enum Operator: UInt8, Hashable, Sendable, CaseIterable {
        case simple = 0
        case reserved = 0x2B  // +
        case fragment = 0x23  // #
        case label = 0x2E  // .
        case path = 0x2F  // /
        case parameter = 0x3B  // ;
        case query = 0x3F  // ?
        case continuation = 0x26  // &

        /// The character before the first defined value.
        var first: UInt8? {
            switch self {
            case .simple, .reserved: nil
            default: rawValue
            }
        }

        /// The character between defined values.
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

        /// Whether a name is followed by `=` even if its value is empty.
        var keepsEqualsSign: Bool { self != .parameter }

        /// Whether reserved characters and complete escapes (`%XX`) in a value are kept unencoded.
        var allowsReserved: Bool { self == .reserved || self == .fragment }
    }

    /// The characters that literals and reserved expansions keep unencoded.
    static let reservedAlphabet = URLEncoding.Alphabet.unreserved.union(.reserved)
}

extension URITemplate {
    /// Returns the first characters of a value, counted in Unicode scalars (RFC 6570 section 2.4.1), never in bytes.
    ///
    /// If the operator keeps escapes (`%XX`), the consecutive escapes that encode one scalar count as one character and aren't separated.
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

    /// Returns the end of the character at an index: an unencoded scalar, or the escapes that encode one.
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
        guard URLEncoding.isTriplet(bytes, at: index), let high = bytes[index + 1].hexadecimal,
            let low = bytes[index + 2].hexadecimal
        else { return nil }
        return high << 4 | low
    }

    /// The number of bytes of a scalar with this first byte; 1 if it can't be a first byte.
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
    /// The value of a variable (RFC 6570 section 2.3).
    ///
    /// It can be a literal: `"text"`, `["a", "b"]`, `["key": "value"]` and `nil`. Expansion omits undefined values, empty lists and empty
    /// maps. If an expression has no other value, its operator is omitted, too. An empty string is a value.
    public enum Value: Hashable, Sendable {
        /// One text.
        case string(String)
        /// Ordered texts.
        case list([String])
        /// Ordered names and values.
        case associative([Pair])
        /// No value.
        case undefined

        /// Whether an expansion omits the value.
        var isUndefined: Bool {
            switch self {
            case .string: false
            case .list(let members): members.isEmpty
            case .associative(let pairs): pairs.isEmpty
            case .undefined: true
            }
        }

        /// Whether the value has no text: it is undefined or empty, or a list of only empty texts.
        var isBlank: Bool {
            switch self {
            case .string(let text): text.isEmpty
            case .list(let members): members.allSatisfy(\.isEmpty)
            case .associative(let pairs): pairs.isEmpty
            case .undefined: true
            }
        }

        /// Whether the value is an empty text or a list with one. Not maps: their names are written, too.
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

        /// Creates a pair of an unencoded name and value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }
}

extension URITemplate.Value: ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    /// Creates a text.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Creates a list of texts.
    public init(arrayLiteral elements: String...) { self = .list(elements) }

    /// Creates names and values in the order of the literal.
    public init(dictionaryLiteral elements: (String, String)...) { self = .associative(elements.map { URITemplate.Pair($0, $1) }) }

    /// Creates an undefined value.
    public init(nilLiteral: ()) { self = .undefined }
}

extension URITemplate {
    /// Expands the template. Variables that aren't in the dictionary are undefined.
    ///
    /// - Throws: ``ExpansionError`` if a prefix applies to a list or a map.
    public func expand(_ values: [String: Value]) throws -> String {
        try expand { values[$0] ?? .undefined }
    }

    /// Expands the template, requesting each value by name when it is needed.
    ///
    /// - Throws: ``ExpansionError`` if a prefix applies to a list or a map, and the closure's errors.
    public func expand(_ value: (_ name: String) throws -> Value) throws -> String {
        try expand(value, noting: { _, _ in })
    }

    /// Expands the template and passes each variable's byte range in the expansion, without its separator, to `note`.
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

    /// Appends a list or a map, with or without explode (RFC 6570 section 3.2.1).
    private func append(_ pairs: [Pair], areNamed: Bool, for variable: Variable, to output: inout [UInt8], as kind: Operator) throws {
        if case .prefix = variable.modifier { throw ExpansionError(variable: variable.name, template: description) }
        let isExploded = variable.modifier == .explode
        if !isExploded, kind.isNamed { Self.appendName(variable.name, beforeEmpty: false, to: &output, as: kind) }
        var isFirst = true
        for pair in pairs {
            if !isFirst { output.append(isExploded ? kind.separator : UInt8(ascii: ",")) }
            isFirst = false
            if areNamed {
                // The RFC encodes exploded names like literals, which would let "a&b" add a pair. Encoding them like values gives the
                // receiver the same name and keeps it within its pair.
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

    /// Appends the variable's name, unencoded: the parser accepts only names that need no encoding.
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
    /// Creates the value of an argument: a string for a text or number; a list for an array, a set, or a value that encodes itself as a
    /// list; pairs for a structure or dictionary; undefined for `nil`.
    ///
    /// - Throws: ``ReflectionError`` if a value has no text form, or is nested deeper than a template supports.
    init(reflecting argument: Any) throws {
        let tree = try FieldTreeBuilder(depthLimit: 32).tree(of: argument, at: .root, depth: 0)
        switch tree {
        case .missing: self = .undefined
        case .text(let text): self = .string(text)
        case .list(let elements):
            self = .list(
                try elements.enumerated().compactMap { index, element in
                    switch element {
                    case .missing: nil
                    case .text(let text): text
                    case .bytes, .list, .record: throw ReflectionError(.noText, at: .index(index, .root), type: type(of: argument))
                    }
                })
        case .bytes, .record:
            let fields = try FieldReflection().fields(of: tree, named: nil, type: type(of: argument))
            self = .associative(fields.compactMap { field in field.value.map { URITemplate.Pair(field.name, $0) } })
        }
    }
}

/// The name of an element or attribute: its local part and its namespace (Namespaces in XML 1.0).
///
/// In text, a namespace precedes the local part in braces, as in `{http://www.w3.org/2005/Atom}title`. Two names are equal if their
/// namespaces and local parts are; prefixes don't matter.
///
/// In a search, a name without a namespace finds elements in the surrounding element's namespace or in no namespace, and attributes in no
/// namespace; `{}title` finds only names in no namespace, and `{*}title` names in any namespace.
public struct XMLName: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The namespace, a URI; `nil` for none.
    public var namespace: String?
    /// The local part, without a prefix.
    public var local: String
    /// The prefix in the text, which is also written if it is free; `nil` for none.
    public var prefix: String?

    /// The namespace of `xml:lang` and `xml:space`, whose prefix needs no declaration.
    public static let xmlNamespace = "http://www.w3.org/XML/1998/namespace"
    /// The namespace of `xmlns` attributes.
    static let xmlnsNamespace = "http://www.w3.org/2000/xmlns/"
    /// The attribute that marks a missing value: `xsi:nil`, of XML Schema.
    static let schemaNil = XMLName("nil", namespace: "http://www.w3.org/2001/XMLSchema-instance", prefix: "xsi")

    /// Creates a name.
    public init(_ local: String, namespace: String?, prefix: String? = nil) {
        self.local = local
        self.namespace = namespace
        self.prefix = prefix
    }

    /// Creates a name from its text, such as `title` or `{http://www.w3.org/2005/Atom}title`.
    public init(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "{"), let end = text.utf8.firstIndex(of: UInt8(ascii: "}")) else {
            self.init(text, namespace: nil)
            return
        }
        self.init(String(text[text.utf8.index(after: end)...]), namespace: String(text[..<end].dropFirst()))
    }

    /// Creates a name from its text.
    public init(stringLiteral value: String) { self.init(value) }

    /// The local part after the namespace in braces.
    public var description: String { namespace.map { "{\($0)}" + local } ?? local }

    /// The name with its prefix, as in a text.
    var qualified: String { prefix.map { $0.isEmpty ? local : $0 + ":" + local } ?? local }

    // XML compares characters one by one, whereas String treats “é” as one scalar and as two scalars as equal.

    /// Returns whether the namespaces and local parts consist of the same characters.
    public static func == (one: XMLName, other: XMLName) -> Bool {
        one.local.utf8.elementsEqual(other.local.utf8) && areEqual(one.namespace, other.namespace)
    }

    /// Hashes the namespace and the local part.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(local)
        hasher.combine(namespace)
    }

    private static func areEqual(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.utf8.elementsEqual(other.utf8)
    }

    /// Returns whether a search for this name finds an element inside another one.
    func finds(_ name: XMLName, inside namespace: String?) -> Bool {
        guard local.utf8.elementsEqual(name.local.utf8) else { return false }
        switch self.namespace {
        case "*": return true
        case "": return name.namespace == nil
        case nil: return name.namespace == nil || Self.areEqual(name.namespace, namespace)
        case let own: return Self.areEqual(own, name.namespace)
        }
    }

    /// Returns whether a search for this name finds an attribute.
    func finds(attribute name: XMLName) -> Bool { finds(name, inside: nil) }

    /// The name to write for this one inside an element: one without a namespace takes the element's.
    func written(inside namespace: String?) -> XMLName {
        switch self.namespace {
        case "", "*": XMLName(local, namespace: nil)
        case nil: XMLName(local, namespace: namespace)
        default: self
        }
    }
}

/// The character classes of XML 1.0, fifth edition, section 2.2 and 2.3.
enum XMLCharacters {
    /// Whether a text may contain the character, directly or by reference.
    static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }

    /// Whether a name may begin with the character. The colon, which separates a prefix, isn't included.
    static func beginsName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x61...0x7A, 0x41...0x5A, 0x5F, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF, 0x200C...0x200D,
            0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD, 0x10000...0xEFFFF:
            true
        default: false
        }
    }

    /// Whether a name may contain the character.
    static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x2D, 0x2E, 0x30...0x39, 0xB7, 0x300...0x36F, 0x203F...0x2040: true
        default: beginsName(scalar)
        }
    }

    /// Whether the text is a name without a colon.
    static func isName(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, beginsName(first) else { return false }
        return text.unicodeScalars.allSatisfy(continuesName)
    }

    /// Whether the text consists of white space, or is empty.
    static func isBlank(_ text: some StringProtocol) -> Bool { text.utf8.allSatisfy(isBlank) }

    @inline(__always) static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D }

    /// The text without white space at its ends.
    static func trimmed(_ text: String) -> String {
        guard let first = text.utf8.first, let last = text.utf8.last, isBlank(first) || isBlank(last) else { return text }
        let bytes = text.utf8
        guard let start = bytes.firstIndex(where: { !isBlank($0) }), let end = bytes.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(text[start...end])
    }
}

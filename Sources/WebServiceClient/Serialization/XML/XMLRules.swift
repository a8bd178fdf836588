public import Foundation

/// How Swift values map to XML, for both directions.
///
/// A coding key is the name of a child element. Other forms of keys cover everything else in XML:
///
/// | coding key | place |
/// |---|---|
/// | `title` | the child element `title`, in the namespace of the surrounding element or in none; a list is one element per value |
/// | `{http://www.w3.org/2005/Atom}title` | the child element in this namespace; `{}title` in none, `{*}title` in any |
/// | `atom:title` | the same, with a prefix of ``namespaces``, whatever prefix the text has |
/// | `@id`, `@xml:lang` | the attribute |
/// | `#text` | the element's own text, in addition to attributes or child elements |
/// | `items/item` | the element inside a wrapper: `[Item]` reads and writes `<items><item/><item/></items>` |
/// | `*` | all child elements in order, each as a choice: an enum whose case has the element's name |
///
/// A dictionary's keys are names of child elements and have no other form.
public struct XMLRules: Sendable {
    /// The name of the root element, in a form of the table above. A text with another root is refused. Default: `nil`, the type's own
    /// ``XMLRootNamed/xmlRootName`` or Swift name when writing, and any name when reading.
    public var rootName: String?
    /// The namespaces of the prefixes in coding keys, as URIs; `""` is the prefix of a root name without one. All of them are declared at
    /// the root when writing.
    public var namespaces: [String: String] = [:]
    /// The coding keys that name attributes although they have no `@`, for types that other formats share.
    public var attributes: Set<String> = []
    /// How property names map to names on the wire.
    public var keys: XMLKeys = .asDeclared
    /// How lists are written and read if their key names no wrapper.
    public var lists: XMLLists = .repeated
    /// How nil is written, and what else is read as nil.
    public var nils: XMLNils = .missing
    /// How dates are written and read.
    public var dates: XMLDates = .iso8601
    /// How `Data` is written and read.
    public var data: XMLBinary = .base64
    /// The element name of values without a coding key: the elements of a root array, and of lists within lists.
    public var itemName = "item"

    /// Creates the default rules.
    public init() {}
}

extension XMLRules {
    /// The rules that differ from the default ones, as texts of a description. All conversions that are closures have the same text.
    var settings: [String] {
        let usual = XMLRules()
        var texts: [String] = []
        if let rootName { texts.append("root \(rootName.debugDescription)") }
        for (prefix, namespace) in namespaces.sorted(by: { $0.key < $1.key }) {
            texts.append("namespace \(prefix.debugDescription) \(namespace.debugDescription)")
        }
        for name in attributes.sorted() { texts.append("attribute \(name.debugDescription)") }
        if keys.name != usual.keys.name { texts.append(keys.name.map { "keys \($0)" } ?? SerializerCatalog.configured) }
        if case .wrapped(let item) = lists { texts.append("lists of \(item.debugDescription)") }
        if nils != usual.nils { texts.append("nil \(nils)") }
        if dates.name != usual.dates.name { texts.append(dates.name ?? SerializerCatalog.configured) }
        if data != usual.data { texts.append("data \(data)") }
        if itemName != usual.itemName { texts.append("items \(itemName.debugDescription)") }
        return texts
    }

    /// Reads a text of ``settings``.
    ///
    /// - Returns: Whether the text is known.
    mutating func read(_ text: Substring) -> Bool {
        if let name = text.inside("root ", "")?.literalText {
            rootName = name
        } else if let (prefix, namespace) = text.inside("namespace ", "")?.divided(by: "\" \"") {
            guard let prefix = "\(prefix)\"".literalText, let namespace = "\"\(namespace)".literalText else { return false }
            namespaces[prefix] = namespace
        } else if let name = text.inside("attribute ", "")?.literalText {
            attributes.insert(name)
        } else if let found = [XMLKeys.capitalized, .snakeCase, .kebabCase].first(where: { text == "keys \($0.name ?? "")" }) {
            keys = found
        } else if let item = text.inside("lists of ", "")?.literalText {
            lists = .wrapped(item: item)
        } else if let found = [XMLNils.schemaNil, .emptyElement].first(where: { text == "nil \($0)" }) {
            nils = found
        } else if let found = ([.seconds, .milliseconds] + (0...9).map { .iso8601(fractionDigits: $0) } as [XMLDates]).first(
            where: { $0.name == String(text) })
        {
            dates = found
        } else if text == "data \(XMLBinary.hexadecimal)" {
            data = .hexadecimal
        } else if let name = text.inside("items ", "")?.literalText {
            itemName = name
        } else {
            return false
        }
        return true
    }
}

/// A type with a name for its root element.
public protocol XMLRootNamed {
    /// The name, such as `order` or `{urn:shop}order`.
    static var xmlRootName: String { get }
}

/// How property names map to names on the wire. Namespaces and the marks of ``XMLRules`` aren't changed.
public enum XMLKeys: Sendable {
    /// As the type declares them.
    case asDeclared
    /// `pageCount` is `PageCount` on the wire.
    case capitalized
    /// `pageCount` is `page_count` on the wire.
    case snakeCase
    /// `pageCount` is `page-count` on the wire.
    case kebabCase
    /// The name on the wire of a property name. The closure must return the names of enum cases unchanged if elements select the cases
    /// (`*`).
    case custom(@Sendable (_ name: String) -> String)

    /// The strategy's name; `nil` for a custom one.
    var name: String? {
        switch self {
        case .asDeclared: "as declared"
        case .capitalized: "capitalized"
        case .snakeCase: "in snake case"
        case .kebabCase: "in kebab case"
        case .custom: nil
        }
    }

    /// The name on the wire.
    func name(of key: String) -> String {
        switch self {
        case .asDeclared: key
        case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
        case .snakeCase: Self.words(of: key, separator: "_")
        case .kebabCase: Self.words(of: key, separator: "-")
        case .custom(let convert): convert(key)
        }
    }

    /// The property name of a name on the wire.
    func key(of name: String) -> String {
        switch self {
        case .asDeclared, .custom: name
        case .capitalized: name.prefix(1).lowercased() + name.dropFirst()
        case .snakeCase: JSONNameConversion.fromSnakeCase(name)
        case .kebabCase: JSONNameConversion.fromSnakeCase(String(name.map { $0 == "-" ? "_" : $0 }))
        }
    }

    /// Begins a word at a capital after a small letter, and at the last of several capitals before a small letter: `myURLText` is
    /// `my_url_text`. Unlike Foundation's JSON, an abbreviation at the beginning or the end remains a word: `URL` is `url`, not `u_rl`.
    private static func words(of key: String, separator: Character) -> String {
        let letters = Array(key)
        var result = ""
        for (index, letter) in letters.enumerated() {
            let isStart =
                letter.isUppercase && index > 0 && letters[index - 1] != "_"
                && (!letters[index - 1].isUppercase || index + 1 < letters.count && letters[index + 1].isLowercase)
            if isStart { result.append(separator) }
            result += letter.lowercased()
        }
        return result
    }
}

/// How lists are written and read.
public enum XMLLists: Sendable, Hashable {
    /// One element with the key's name per value: `<tag>a</tag><tag>b</tag>`. An empty list writes no element, and a missing element is
    /// read as an empty list.
    case repeated
    /// An element with the key's name around one element per value: `<tags><item>a</item><item>b</item></tags>`.
    case wrapped(item: String)
}

/// How nil is written and read. A missing element or attribute, and an element with `xsi:nil="true"`, is always read as nil.
///
/// A nil in a list is always written with `xsi:nil`, because the other forms would lose it.
public enum XMLNils: Sendable, Hashable {
    /// Nothing is written. An empty element is an empty text.
    case missing
    /// `<name xsi:nil="true"/>` is written (XML Schema part 1 §2.6.2). An empty element is an empty text.
    case schemaNil
    /// `<name/>` is written. An element without content and attributes is nil where an optional is read.
    case emptyElement
}

/// How `Data` is written.
public enum XMLBinary: Sendable, Hashable {
    /// Base64, as `xs:base64Binary`. White space between the digits is ignored.
    case base64
    /// Hexadecimal digits, as `xs:hexBinary`; both cases are read.
    case hexadecimal

    func text(of data: Data) -> String {
        switch self {
        case .base64: return data.base64EncodedString()
        case .hexadecimal: return Hexadecimal.text(of: [UInt8](data)).uppercased()
        }
    }

    func data(from text: String) -> Data? {
        let digits = text.utf8.filter { !XMLCharacters.isBlank($0) }
        switch self {
        case .base64: return Data(base64Encoded: Data(digits))
        case .hexadecimal: return Hexadecimal.bytes(of: digits).map { Data($0) }
        }
    }
}

/// How dates are written and read.
public struct XMLDates: Sendable {
    let write: @Sendable (Date) -> String?
    let read: @Sendable (String) -> Date?
    let expected: String
    /// The name of the form; `nil` for a custom one.
    var name: String?

    /// ISO 8601 in UTC, as `xs:dateTime`, with milliseconds unless they are zero; see ``JSONDates/iso8601(fractionDigits:)``.
    public static let iso8601 = iso8601(fractionDigits: 3)

    /// ISO 8601, rounded to this number of fraction digits, 0 to 9.
    public static func iso8601(fractionDigits: Int) -> XMLDates {
        XMLDates(
            write: { ISO8601.text(of: $0, fractionDigits: fractionDigits) }, read: { ISO8601.date(from: $0) }, expected: "ISO 8601",
            name: FieldReflection.DateStrategy.iso8601(fractionDigits: fractionDigits).description)
    }

    /// Seconds since 1970, with a fraction.
    public static let seconds = number(scale: 1, "seconds since 1970", name: "dates in seconds")
    /// Milliseconds since 1970, with a fraction.
    public static let milliseconds = number(scale: 1000, "milliseconds since 1970", name: "dates in milliseconds")

    /// Texts in a custom format.
    ///
    /// - Parameters:
    ///   - write: Returns the text of a date; `nil` if it has none, which is an encoding error.
    ///   - read: Returns the date of a text without white space at its ends; `nil` if it isn't a date, which is a decoding error.
    public static func custom(
        write: @escaping @Sendable (Date) -> String?, read: @escaping @Sendable (String) -> Date?
    ) -> XMLDates {
        XMLDates(write: write, read: read, expected: "the service's own format")
    }

    private static func number(scale: Double, _ expected: String, name: String) -> XMLDates {
        XMLDates(
            write: { date in
                let number = date.timeIntervalSince1970 * scale
                guard number.isFinite else { return nil }
                return number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
            },
            read: { text in
                guard let number: Double = DecimalText.floating(text), number.isFinite else { return nil }
                return Date(timeIntervalSince1970: number / scale)
            }, expected: expected, name: name)
    }
}

import Foundation
import WebServiceClient

/// Reads an OData error in XML (OData Atom Format 4.0, section 21.1; OData 2.0, Atom Format) as the members that it has in JSON.
///
/// Scans a text of limited size for elements, their text and `xml:lang`. A text with a document type declaration, and so with custom
/// entities, isn't read as an OData error.
///
/// `XMLDecoder` isn't used, because it refuses what services send in errors: unescaped ampersands, unknown references and undeclared
/// prefixes.
struct XMLErrorReader {
    private struct Element {
        let name: String
        var language: String?
        var text: [UInt8] = []
        var children: [Element] = []
    }

    private static let sizeLimit = 1 << 20
    private static let depthLimit = 64
    private static let countLimit = 2_000

    private let bytes: [UInt8]
    private var index = 0
    private var open: [Element] = []
    private var root: Element?
    private var count = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the members of the error, or `nil` if the body isn't an OData error in XML.
    static func error(in body: Data) -> DynamicEntity? {
        guard body.count <= sizeLimit, let first = body.first(where: { $0 > 0x20 && ![0xEF, 0xBB, 0xBF, 0xFE, 0xFF].contains($0) }),
            first == UInt8(ascii: "<"), let text = text(of: body)
        else { return nil }
        var reader = XMLErrorReader(Array(text))
        guard reader.read(), let root = reader.root, root.name == "error", !root.children.isEmpty else { return nil }
        return object(root)
    }

    /// Returns the body in UTF-8, converted from the charset in its XML declaration.
    private static func text(of body: Data) -> Data? {
        let head = String(decoding: body.prefix(200), as: UTF8.self)
        guard head.hasPrefix("<?xml"), let end = head.range(of: "?>"), let name = head[..<end.lowerBound].range(of: "encoding=") else {
            return try? TextEncoding.utf8(from: body, contentType: nil)
        }
        let charset = head[name.upperBound..<end.lowerBound].dropFirst().prefix { $0 != "\"" && $0 != "'" }
        return try? TextEncoding.utf8(from: body, contentType: "application/xml;charset=\(charset)")
    }

    // MARK: Scanning

    private mutating func read() -> Bool {
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "<") else {
                let end = bytes[index...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
                if !open.isEmpty { Self.append(bytes[index..<end], to: &open[open.count - 1].text) }
                index = end
                continue
            }
            guard readMarkup() else { return false }
        }
        return open.isEmpty
    }

    private mutating func readMarkup() -> Bool {
        if skip("<!--") { return move(behind: "-->") }
        if skip("<![CDATA[") {
            let start = index
            guard move(behind: "]]>"), !open.isEmpty else { return false }
            open[open.count - 1].text += bytes[start..<index - 3]
            return true
        }
        if skip("<?") { return move(behind: "?>") }
        if skip("</") {
            let name = readName()
            guard let element = open.popLast(), element.name == name, move(behind: ">") else { return false }
            if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
            return true
        }
        // Rejects other markup, such as a document type, and a second root.
        index += 1
        count += 1
        guard root == nil, open.count < Self.depthLimit, count <= Self.countLimit else { return false }
        var element = Element(name: readName())
        guard !element.name.isEmpty else { return false }
        while index < bytes.count {
            if skip("/>") {
                if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
                return true
            }
            if skip(">") {
                open.append(element)
                return true
            }
            guard isBlank(bytes[index]) else { return false }
            skipBlanks()
            if index < bytes.count, [UInt8(ascii: "/"), UInt8(ascii: ">")].contains(bytes[index]) { continue }
            let name = readName()
            skipBlanks()
            guard !name.isEmpty, skip("=") else { return false }
            skipBlanks()
            guard index < bytes.count, [0x22, 0x27].contains(bytes[index]) else { return false }
            let quote = bytes[index]
            guard let end = bytes[(index + 1)...].firstIndex(of: quote) else { return false }
            if name == "lang" { element.language = String(decoding: bytes[index + 1..<end], as: UTF8.self) }
            index = end + 1
        }
        return false
    }

    /// Reads a name and returns it without its prefix.
    private mutating func readName() -> String {
        let start = index
        while index < bytes.count, !isBlank(bytes[index]), !"=/><\"'!?&".utf8.contains(bytes[index]) { index += 1 }
        let name = bytes[start..<index]
        let local = name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
        return String(decoding: local, as: UTF8.self)
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private mutating func skipBlanks() {
        while index < bytes.count, isBlank(bytes[index]) { index += 1 }
    }

    private mutating func skip(_ text: String) -> Bool {
        guard bytes[index...].starts(with: text.utf8) else { return false }
        index += text.utf8.count
        return true
    }

    private mutating func move(behind text: String) -> Bool {
        let wanted = Array(text.utf8)
        while index + wanted.count <= bytes.count {
            if bytes[index] == wanted[0], bytes[index...].starts(with: wanted) {
                index += wanted.count
                return true
            }
            index += 1
        }
        return false
    }

    /// Appends characters, replacing character references. Unknown references are kept.
    private static func append(_ bytes: ArraySlice<UInt8>, to text: inout [UInt8]) {
        var rest = bytes
        while let mark = rest.firstIndex(of: UInt8(ascii: "&")) {
            text += rest[..<mark]
            rest = rest[mark...]
            guard let end = rest.prefix(12).firstIndex(of: UInt8(ascii: ";")),
                let character = character(String(decoding: rest[(mark + 1)..<end], as: UTF8.self))
            else {
                text.append(rest.removeFirst())
                continue
            }
            text += String(character).utf8
            rest = rest[(end + 1)...]
        }
        text += rest
    }

    private static func character(_ name: String) -> Unicode.Scalar? {
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#") else { return nil }
            let digits = name.dropFirst()
            return (digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)).flatMap { Unicode.Scalar($0) }
        }
    }

    // MARK: As in JSON

    private static func object(_ element: Element) -> DynamicEntity {
        var object = DynamicEntity()
        for child in element.children {
            var value = value(child)
            if child.name == "message", let language = child.language {
                value = .object(DynamicEntity([.init("lang", .string(language)), .init("value", value)]))
            }
            guard let other = object[child.name] else {
                object[child.name] = value
                continue
            }
            object[child.name] = .array(.init((other.array ?? [other]) + [value]))
        }
        return object
    }

    /// Returns a list, such as `details` of `detail` elements, as an array.
    private static func value(_ element: Element) -> ODataValue {
        if element.children.isEmpty {
            return .string(String(decoding: element.text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        }
        if element.children.allSatisfy({ $0.name + "s" == element.name }) { return .array(.init(element.children.map { value($0) })) }
        return .object(object(element))
    }
}

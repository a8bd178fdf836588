package import Foundation

/// A value of a JSON document with its position.
///
/// Foundation's `JSONSerialization` reports neither positions nor duplicate names, and doesn't keep the order of members. The reader of
/// CSDL JSON needs all three.
struct PositionedJSON {
    struct Member {
        let name: String
        let place: Place
        let value: PositionedJSON
    }

    enum Content {
        case null
        case bool(Bool)
        /// The number as written.
        case number(String)
        case string(String)
        case array([PositionedJSON])
        case object([Member])
    }

    let content: Content
    let place: Place

    /// Parses a document strictly by RFC 8259, in UTF-8.
    static func parse(_ data: Data, depthLimit: Int) throws -> PositionedJSON {
        // Checked once for the whole document: parts of valid UTF-8 between ASCII characters are valid, too.
        guard String(data: data, encoding: .utf8) != nil else {
            throw ServiceModelError(kind: .malformed, message: "The JSON document isn't UTF-8: load it again.")
        }
        var parser = PositionedJSONParser(bytes: Array(data), depthLimit: depthLimit)
        return try parser.document()
    }

    var string: String? {
        if case .string(let text) = content { text } else { nil }
    }

    var bool: Bool? {
        if case .bool(let value) = content { value } else { nil }
    }

    var array: [PositionedJSON]? {
        if case .array(let values) = content { values } else { nil }
    }

    var object: [Member]? {
        if case .object(let members) = content { members } else { nil }
    }

    /// The text of a string, number, Boolean or null, or `nil` for an array or object.
    var text: String? {
        switch content {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let text), .string(let text): text
        case .array, .object: nil
        }
    }
}

/// Finds members of a JSON text that have the name of an earlier member of the same object. `JSONSerialization` keeps one of them
/// without a report.
package enum RepeatedMembers {
    /// Returns the members with their positions, in the order of the text; none if it isn't JSON or nests too deeply.
    package static func find(in data: Data) -> [(name: String, line: Int, column: Int)] {
        guard let tree = try? PositionedJSON.parse(data, depthLimit: 200) else { return [] }
        var found: [PositionedJSON.Member] = []
        var rest = [tree]
        while let value = rest.popLast() {
            var names: Set<String> = []
            let members = value.object ?? []
            found += members.filter { !names.insert($0.name).inserted }
            rest += members.map(\.value) + (value.array ?? [])
        }
        return found.map { ($0.name, Int($0.place.line), Int($0.place.column)) }.sorted { ($0.1, $0.2) < ($1.1, $1.2) }
    }
}

private struct PositionedJSONParser {
    let bytes: [UInt8]
    let depthLimit: Int
    private var index = 0
    private var line = 1
    private var lineStart = 0
    private var names: [String: String] = [:]

    init(bytes: [UInt8], depthLimit: Int) {
        self.bytes = bytes
        self.depthLimit = depthLimit
    }

    mutating func document() throws -> PositionedJSON {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            index = 3
            lineStart = 3
        }
        let tree = try value(depth: 1)
        skipBlanks()
        if index < bytes.count { throw error("there is text after the value") }
        return tree
    }

    private var place: Place { Place(line: line, column: index - lineStart + 1) }

    private func error(_ reason: String, kind: ServiceModelError.Kind = .malformed) -> ServiceModelError {
        ServiceModelError(
            kind: kind, message: "The metadata document isn't valid JSON: \(reason). Load it again.", line: line,
            column: index - lineStart + 1)
    }

    private mutating func skipBlanks() {
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x09, 0x0D: index += 1
            case 0x0A:
                index += 1
                line += 1
                lineStart = index
            default: return
            }
        }
    }

    private mutating func value(depth: Int) throws -> PositionedJSON {
        skipBlanks()
        if depth > depthLimit { throw error("it nests more than \(depthLimit) values", kind: .tooDeep) }
        guard index < bytes.count else { throw error("it ends before its value does") }
        let place = place
        switch bytes[index] {
        case UInt8(ascii: "{"): return PositionedJSON(content: .object(try members(depth: depth)), place: place)
        case UInt8(ascii: "["): return PositionedJSON(content: .array(try elements(depth: depth)), place: place)
        case UInt8(ascii: "\""): return PositionedJSON(content: .string(try string()), place: place)
        case UInt8(ascii: "t"): return PositionedJSON(content: .bool(try word("true", true)), place: place)
        case UInt8(ascii: "f"): return PositionedJSON(content: .bool(try word("false", false)), place: place)
        case UInt8(ascii: "n"):
            _ = try word("null", false)
            return PositionedJSON(content: .null, place: place)
        default: return PositionedJSON(content: .number(try number()), place: place)
        }
    }

    private mutating func word(_ text: String, _ value: Bool) throws -> Bool {
        guard bytes[index...].starts(with: text.utf8) else { throw error("a value can't begin here") }
        index += text.utf8.count
        return value
    }

    private mutating func elements(depth: Int) throws -> [PositionedJSON] {
        index += 1
        var result: [PositionedJSON] = []
        skipBlanks()
        if take("]") { return result }
        while true {
            result.append(try value(depth: depth + 1))
            skipBlanks()
            if take("]") { return result }
            guard take(",") else { throw error("',' or ']' is missing") }
        }
    }

    private mutating func members(depth: Int) throws -> [PositionedJSON.Member] {
        index += 1
        var result: [PositionedJSON.Member] = []
        skipBlanks()
        if take("}") { return result }
        while true {
            skipBlanks()
            let place = place
            guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { throw error("the name of a member is missing") }
            let text = try string()
            // Names recur: equal names share one string.
            let name = names[text] ?? text
            if names[text] == nil { names[text] = text }
            skipBlanks()
            guard take(":") else { throw error("':' is missing") }
            result.append(PositionedJSON.Member(name: name, place: place, value: try value(depth: depth + 1)))
            skipBlanks()
            if take("}") { return result }
            guard take(",") else { throw error("',' or '}' is missing") }
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func number() throws -> String {
        let start = index
        func digits() -> Int {
            let first = index
            while index < bytes.count, (0x30...0x39).contains(bytes[index]) { index += 1 }
            return index - first
        }
        _ = take("-")
        let first = index
        let count = digits()
        guard count > 0, count == 1 || bytes[first] != 0x30 else { throw error("a value can't begin here") }
        if take(".") {
            guard digits() > 0 else { throw error("a number has no digit after its decimal point") }
        }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard digits() > 0 else { throw error("a number has no digit in its exponent") }
        }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func string() throws -> String {
        index += 1
        let start = index
        while index < bytes.count, bytes[index] != UInt8(ascii: "\""), bytes[index] != UInt8(ascii: "\\"), bytes[index] >= 0x20 {
            index += 1
        }
        if index < bytes.count, bytes[index] == UInt8(ascii: "\"") {
            index += 1
            return String(decoding: bytes[start..<index - 1], as: UTF8.self)
        }
        var buffer = Array(bytes[start..<index])
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                index += 1
                return String(decoding: buffer, as: UTF8.self)
            }
            guard byte >= 0x20 else { throw error("a string has a control character") }
            index += 1
            if byte == UInt8(ascii: "\\") { try escape(&buffer) } else { buffer.append(byte) }
        }
        throw error("it ends within a string")
    }

    private mutating func escape(_ buffer: inout [UInt8]) throws {
        guard index < bytes.count else { throw error("it ends within a string") }
        let byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): buffer.append(byte)
        case UInt8(ascii: "b"): buffer.append(0x08)
        case UInt8(ascii: "f"): buffer.append(0x0C)
        case UInt8(ascii: "n"): buffer.append(0x0A)
        case UInt8(ascii: "r"): buffer.append(0x0D)
        case UInt8(ascii: "t"): buffer.append(0x09)
        case UInt8(ascii: "u"):
            var code = try hexadecimal()
            if (0xD800...0xDBFF).contains(code) {
                guard take("\\"), take("u") else { throw error("a surrogate has no counterpart") }
                let low = try hexadecimal()
                guard (0xDC00...0xDFFF).contains(low) else { throw error("a surrogate has no counterpart") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw error("a surrogate has no counterpart") }
            buffer += Array(String(Character(scalar)).utf8)
        default: throw error("a string has an unknown escape sequence")
        }
    }

    private mutating func hexadecimal() throws -> UInt32 {
        guard index + 4 <= bytes.count, bytes[index..<index + 4].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit && $0 < 0x80 }),
            let code = UInt32(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16)
        else { throw error("an escape sequence doesn't have four digits") }
        index += 4
        return code
    }
}

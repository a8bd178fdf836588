import Foundation

/// Sorts the members of all objects in a JSON text by name and changes no other byte.
///
/// Foundation's encoder orders members differently in each process. That matters in texts that people compare, but not on the wire, where
/// sorting would cost time.
struct JSONKeyOrder {
    private struct Unexpected: Error {}

    /// More than any encoder nests values.
    private static let depthLimit = 600

    private let bytes: [UInt8]
    private var position = 0

    private init(_ data: Data) {
        bytes = Array(data)
    }

    /// Returns the text with its members sorted; returns invalid JSON unchanged.
    static func sorted(_ data: Data) -> Data {
        var order = JSONKeyOrder(data)
        var result: [UInt8] = []
        do {
            result += order.blanks()
            result += try order.value(depth: 0)
            result += order.blanks()
            guard order.position == order.bytes.count else { return data }
            return Data(result)
        } catch {
            return data
        }
    }

    private mutating func value(depth: Int) throws -> [UInt8] {
        guard depth < Self.depthLimit, position < bytes.count else { throw Unexpected() }
        switch bytes[position] {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return Array(try string())
        default:
            let rest = bytes[position...].prefix { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "E"), UInt8(ascii: "+"),
                    UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
            guard !rest.isEmpty else { throw Unexpected() }
            position = rest.endIndex
            return Array(rest)
        }
    }

    /// Sorts the members; commas and blanks between them stay in place.
    private mutating func object(depth: Int) throws -> [UInt8] {
        var members: [(name: [UInt8], text: [UInt8])] = []
        var separators: [[UInt8]] = []
        var separator = take()
        separator += blanks()
        while position < bytes.count, bytes[position] != UInt8(ascii: "}") {
            separators.append(separator)
            let name = Array(try string())
            var text = name
            text += blanks()
            guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else { throw Unexpected() }
            text += take()
            text += blanks()
            text += try value(depth: depth + 1)
            members.append((name, text))
            separator = try end(before: UInt8(ascii: "}"))
        }
        guard position < bytes.count else { throw Unexpected() }
        separator += take()
        members.sort { $0.name.lexicographicallyPrecedes($1.name) }
        return zip(separators, members).flatMap { $0 + $1.text } + separator
    }

    private mutating func array(depth: Int) throws -> [UInt8] {
        var result = take()
        result += blanks()
        while position < bytes.count, bytes[position] != UInt8(ascii: "]") {
            result += try value(depth: depth + 1)
            result += try end(before: UInt8(ascii: "]"))
        }
        guard position < bytes.count else { throw Unexpected() }
        return result + take()
    }

    /// The text after a member or an element: a comma with the blanks around it, or the blanks before the closing bracket.
    private mutating func end(before bracket: UInt8) throws -> [UInt8] {
        var text = blanks()
        guard position < bytes.count else { throw Unexpected() }
        if bytes[position] == bracket { return text }
        guard bytes[position] == UInt8(ascii: ",") else { throw Unexpected() }
        text += take()
        text += blanks()
        return text
    }

    private mutating func string() throws -> ArraySlice<UInt8> {
        let start = position
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw Unexpected() }
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard position < bytes.count else { throw Unexpected() }
        position += 1
        return bytes[start..<position]
    }

    private mutating func take() -> [UInt8] {
        position += 1
        return [bytes[position - 1]]
    }

    private mutating func blanks() -> [UInt8] {
        let blanks = bytes[position...].prefix { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        position = blanks.endIndex
        return Array(blanks)
    }
}

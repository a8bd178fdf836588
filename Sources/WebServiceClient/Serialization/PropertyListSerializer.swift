public import Foundation

/// Property lists, XML or binary; both are read, whichever is written.
public struct PropertyListSerializer: SerializationDelegate {
    /// What is written.
    public enum Format: Sendable, Hashable {
        /// XML in UTF-8.
        case xml
        /// Apple's binary form.
        case binary
    }

    /// The media type of what is written: `application/x-plist`.
    public let contentType: String
    private let encoder: PropertyListEncoder
    private let decoder = PropertyListDecoder()

    /// A serializer.
    public init(_ format: Format = .xml, contentType: String = "application/x-plist") {
        self.contentType = contentType
        encoder = PropertyListEncoder()
        encoder.outputFormat = format == .xml ? .xml : .binary
    }

    /// The value as a property list.
    ///
    /// - Throws: `EncodingError`: a property list is a dictionary or an array at its top.
    public func encode(_ value: any Encodable) throws -> Data {
        try encoder.encode(value)
    }

    /// The value of a property list, or of the root inside it.
    ///
    /// - Throws: `DecodingError`; ``SerializationError`` when the root is missing, or lists are nested more than 512 levels deep.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value {
        try PropertyListBounds.check(data)
        if path.isEmpty { return try decoder.decode(type, from: data) }
        return try PayloadPath(names: path).decode(type) { try decoder.decode($0, from: data) }
    }
}

/// Looks at a property list before Foundation's decoder does, which goes down into lists without a bound and ends the process on one that is
/// nested deeply enough, or holds itself.
enum PropertyListBounds {
    /// The most levels of lists and dictionaries inside of each other: as many as Foundation's JSON takes.
    static let depthLimit = 512

    /// - Throws: ``SerializationError`` for bytes that are nested too deeply, hold themselves, or would unfold into too much.
    static func check(_ data: Data) throws {
        let bytes = [UInt8](data)
        let isBinary = bytes.starts(with: "bplist".utf8)
        let isSound = isBinary ? BinaryPropertyList(bytes)?.staysInBounds ?? true : xmlDepth(of: bytes) <= depthLimit
        guard isSound else {
            throw SerializationError(
                .structure,
                "The property list is nested more than \(depthLimit) levels deep, or holds itself: no service needs that; take it as Data.")
        }
    }

    /// How deep the elements `array` and `dict` stand in each other. Zero bytes, as UTF-16 has them between the letters, don't count.
    private static func xmlDepth(of bytes: [UInt8]) -> Int {
        let bytes = bytes.contains(0) ? bytes.filter { $0 != 0 } : bytes
        var (depth, deepest) = (0, 0)
        var rest = bytes[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(open + 1)...]
            if rest.starts(with: "!--".utf8) {
                rest = rest.skipping("-->")
            } else if rest.starts(with: "![CDATA[".utf8) {
                rest = rest.skipping("]]>")
            } else if rest.starts(with: "/array".utf8) || rest.starts(with: "/dict".utf8) {
                depth -= 1
            } else if rest.starts(with: "array".utf8) || rest.starts(with: "dict".utf8) {
                let close = rest.firstIndex(of: UInt8(ascii: ">")) ?? rest.endIndex
                if rest[..<close].last != UInt8(ascii: "/") { depth += 1 }
                deepest = max(deepest, depth)
            }
        }
        return deepest
    }
}

extension ArraySlice<UInt8> {
    /// What stands behind the next occurrence of a mark; nothing where there is none.
    fileprivate func skipping(_ mark: StaticString) -> ArraySlice<UInt8> {
        mark.withUTF8Buffer { mark in
            var rest = self
            while let first = mark.first, let start = rest.firstIndex(of: first) {
                if rest[start...].starts(with: mark) { return rest[(start + mark.count)...] }
                rest = rest[(start + 1)...]
            }
            return []
        }
    }
}

/// The objects of a binary property list, and which of them hold which.
private struct BinaryPropertyList {
    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let top: Int
    private let table: Int

    /// Reads the trailer; `nil` where it makes no sense, which the decoder tells better.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 40 else { return nil }
        self.bytes = bytes
        let trailer = bytes.count - 32
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), let count = Self.number(bytes, trailer + 8, 8),
            let top = Self.number(bytes, trailer + 16, 8), let table = Self.number(bytes, trailer + 24, 8), count <= bytes.count,
            top < count, table <= trailer, count <= (trailer - table) / offsetSize
        else { return nil }
        (self.count, self.top, self.table) = (count, top, table)
    }

    private static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
        guard start >= 0, size <= bytes.count, start <= bytes.count - size else { return nil }
        return Int(exactly: bytes[start..<start + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Which objects an object holds; none for values, and for what makes no sense.
    private func members(of object: Int) -> [Int] {
        guard let offset = Self.number(bytes, table + object * offsetSize, offsetSize), offset < bytes.count else { return [] }
        let kind = bytes[offset] >> 4
        guard kind == 0xA || kind == 0xC || kind == 0xD else { return [] }
        var (length, start) = (Int(bytes[offset] & 15), offset + 1)
        if length == 15 {
            guard start < bytes.count, bytes[start] >> 4 == 1, bytes[start] & 15 <= 3 else { return [] }
            let size = 1 << Int(bytes[start] & 15)
            guard let number = Self.number(bytes, start + 1, size) else { return [] }
            (length, start) = (number, start + 1 + size)
        }
        guard length <= bytes.count else { return [] }
        return (0..<(kind == 0xD ? 2 * length : length)).compactMap { Self.number(bytes, start + $0 * referenceSize, referenceSize) }
            .filter { $0 < count }
    }

    /// Walks the objects once each, without going down itself.
    var staysInBounds: Bool {
        enum State { case new, open, done }
        var states = [State](repeating: .new, count: count)
        var depths = [Int](repeating: 0, count: count)
        /// What an object unfolds into: one that is held twice is decoded twice, and two of those four times.
        var sizes = [Int](repeating: 1, count: count)
        var path: [(object: Int, members: ArraySlice<Int>)] = [(top, members(of: top)[...])]
        states[top] = .open
        while let last = path.indices.last {
            let object = path[last].object
            guard let member = path[last].members.popFirst() else {
                states[object] = .done
                path.removeLast()
                if let parent = path.last?.object {
                    depths[parent] = max(depths[parent], depths[object] + 1)
                    sizes[parent] = Self.sum(sizes[parent], sizes[object])
                }
                continue
            }
            switch states[member] {
            case .open: return false
            case .done:
                depths[object] = max(depths[object], depths[member] + 1)
                sizes[object] = Self.sum(sizes[object], sizes[member])
            case .new:
                states[member] = .open
                path.append((member, members(of: member)[...]))
            }
            guard path.count <= PropertyListBounds.depthLimit + 1 else { return false }
        }
        return depths[top] <= PropertyListBounds.depthLimit && sizes[top] <= max(4_000_000, 4 * bytes.count)
    }

    private static func sum(_ one: Int, _ other: Int) -> Int {
        let (sum, overflows) = one.addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

public import Foundation
import HTTPTransport

/// Reads and writes property lists. It writes XML or binary and reads both.
public struct PropertyListSerializer: SerializationDelegate {
    /// The format of the output.
    public enum Format: Sendable, Hashable {
        /// XML in UTF-8.
        case xml
        /// Apple's binary format.
        case binary
    }

    /// The media type of the output: `application/x-plist` by default.
    public let contentType: String
    /// The format of the output.
    let format: Format
    private let encoder: PropertyListEncoder
    private let decoder = PropertyListDecoder()

    /// Creates a serializer.
    public init(_ format: Format = .xml, contentType: String = "application/x-plist") {
        self.contentType = contentType
        self.format = format
        encoder = PropertyListEncoder()
        encoder.outputFormat = format == .xml ? .xml : .binary
    }

    /// Encodes the value as a property list.
    ///
    /// - Throws: `EncodingError` if the value isn't a dictionary or an array at its top, or if a date has no text in XML: it is outside the
    ///   years 0001 to 9999.
    public func encode(_ value: any Encodable) throws -> Data {
        let data = try encoder.encode(value)
        if format == .xml, data.range(of: Data("<date>".utf8)) != nil { try checkDates(in: value) }
        return data
    }

    /// Foundation writes another date in place of one that XML can't hold. The binary format has the exact dates.
    private func checkDates(in value: any Encodable) throws {
        let exact = PropertyListEncoder()
        exact.outputFormat = .binary
        guard let list = BinaryPropertyList([UInt8](try exact.encode(value))) else { return }
        for date in list.dates where !Self.datesInXML.contains(date.timeIntervalSince1970) {
            throw EncodingError.invalidValue(
                ValueText.describable(date),
                EncodingError.Context(
                    codingPath: [],
                    debugDescription: "A property list in XML can't hold a date outside the years 0001 to 9999. Use the binary format."))
        }
    }

    /// The years 0001 to 9999, in seconds from 1970.
    private static let datesInXML = -62_135_596_800..<253_402_300_800.0

    /// Decodes a value from a property list, or from the root inside it.
    ///
    /// - Throws: `DecodingError`; ``SerializationError`` if the root is missing, or lists are nested more than 512 levels deep.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, at path: [String], contentType: String?) throws -> Value {
        try PropertyListBounds.check(data)
        if path.isEmpty { return try decoder.decode(type, from: data) }
        return try PayloadPath(names: path).decode(type) { try decoder.decode($0, from: data) }
    }
}

extension PropertyListSerializer: DescribedSerializer {
    /// The format.
    var settings: [String] { ["\(format)"] }

    init?(contentType: String, settings: [Substring]) {
        guard let format = [Format.xml, .binary].first(where: { settings == ["\($0)"] }) else { return nil }
        self.init(format, contentType: contentType)
    }
}

/// Checks a property list before Foundation's decoder reads it: the decoder recurses without a bound and crashes the process on a list
/// that is nested too deeply or contains itself.
enum PropertyListBounds {
    /// The maximum nesting of lists and dictionaries, the same as for Foundation's JSON.
    static let depthLimit = 512

    /// - Throws: ``SerializationError`` for bytes that are nested too deeply, contain themselves, or would expand too much.
    static func check(_ data: Data) throws {
        let bytes = [UInt8](data)
        let isBinary = bytes.starts(with: "bplist".utf8)
        let isSound = isBinary ? BinaryPropertyList(bytes)?.staysInBounds ?? true : xmlDepth(of: bytes) <= depthLimit
        guard isSound else {
            throw SerializationError(
                .structure,
                "The property list is nested more than \(depthLimit) levels deep, or contains itself: request the body as Data.")
        }
    }

    /// The nesting depth of `array` and `dict` elements. Zero bytes, which UTF-16 has between the letters, are ignored.
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
    /// The bytes after the next occurrence of a mark; empty if there is none.
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

/// The objects of a binary property list and their members.
private struct BinaryPropertyList {
    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let top: Int
    private let table: Int

    /// Reads the trailer; `nil` if it is invalid, which the decoder reports better.
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

    /// The objects that an object contains; empty for values and for invalid objects.
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

    /// The dates among the objects.
    var dates: [Date] {
        (0..<count).compactMap { object in
            guard let offset = Self.number(bytes, table + object * offsetSize, offsetSize), offset + 9 <= bytes.count,
                bytes[offset] == 0x33
            else { return nil }
            let bits = bytes[offset + 1..<offset + 9].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits))
        }
    }

    /// Walks each object once, without recursion.
    var staysInBounds: Bool {
        enum State { case new, open, done }
        var states = [State](repeating: .new, count: count)
        var depths = [Int](repeating: 0, count: count)
        /// The expanded size of each object: an object that is referenced twice is decoded twice, and two levels of that four times.
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

import Foundation
import Testing

@testable import WebServiceClient

/// Arrays with lengths around the threshold for decoding without a container.
@Suite struct JSONLongArrayTests {
    private static let counts = [JSONDocument.fewElements - 1, JSONDocument.fewElements, JSONDocument.fewElements + 1, 70]

    /// Compares results with JSONDecoder for each length, at the top level and in a member of an object.
    private func compare<Element: Decodable & Equatable>(
        _ type: Element.Type, _ configure: (JSONDecoder) -> Void = { _ in }, _ element: (Int) -> String
    ) throws {
        let decoder = JSONDecoder()
        configure(decoder)
        let reader = JSONReader(settingsOf: decoder)
        for count in Self.counts {
            let array = "[" + (0..<count).map(element).joined(separator: ",") + "]"
            let (bare, named) = (Data(array.utf8), Data("{\"list_of\":\(array)}".utf8))
            let expected = try decoder.decode([Element].self, from: bare)
            #expect(expected.count == count)
            #expect(try reader.decode([Element].self, from: bare) == expected)
            #expect(try reader.decode([Element]?.self, from: bare) == expected)
            #expect(try reader.decode([String: [Element]].self, from: named) == decoder.decode([String: [Element]].self, from: named))
        }
    }

    private enum Kind: String, Decodable { case plain, special }
    private enum Shape: Codable, Equatable { case point, circle(radius: Int), named(_: String, level: Int?) }

    @Test func `Elements of all sorts are those of JSONDecoder`() throws {
        try compare(Int?.self) { $0 % 3 == 0 ? "null" : "\($0)" }
        try compare([String].self) { _ in "[" + (0..<20).map { "\"ä\\n\($0)\"" }.joined(separator: ",") + "]" }
        try compare([[Int?]].self) { number in "[[" + (0..<number).map { $0 % 2 == 0 ? "null" : "1" }.joined(separator: ",") + "]]" }
        try compare(Decimal.self) { "\($0).0\($0)e-3" }
        try compare(URL.self) { "\"https://example.com/\($0)?q=%20\"" }
        try compare(UUID.self) { "\"01234567-89AB-CDEF-0123-4567\(10_000_000 + $0)\"" }
        try compare(Kind.self) { $0 % 2 == 0 ? "\"plain\"" : "\"special\"" }
        try compare(Shape.self) {
            ["{\"point\":{}}", "{\"circle\":{\"radius\":\($0)}}", "{\"named\":{\"_0\":\"n\",\"level\":null}}"][$0 % 3]
        }
        try compare(Set<Int>.self) { number in "[" + (0...number).map(String.init).joined(separator: ",") + "]" }
        try compare([Int: String].self) { "{\"\($0)\":\"\($0)\"}" }
        try compare(Bool.self) { $0 % 2 == 0 ? "true" : "false" }
        try compare(Float.self) { "\($0).5" }
    }

    @Test func `Dates are read by each strategy`() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyy-MM-dd"
        try compare(Date.self) { "\($0).25" }
        // Foundation rejects 0e5.
        try compare(Date.self, { $0.dateDecodingStrategy = .secondsSince1970 }, { "\($0 + 1)e5" })
        try compare(Date.self, { $0.dateDecodingStrategy = .millisecondsSince1970 }, { "\($0 + 1)000" })
        try compare(Date.self, { $0.dateDecodingStrategy = .iso8601 }, { "\"20\(10 + $0)-01-02T03:04:05Z\"" })
        try compare(Date.self, { $0.dateDecodingStrategy = .formatted(formatter) }, { "\"20\(10 + $0)-01-02\"" })
        try compare(
            Date.self,
            {
                $0.dateDecodingStrategy = .custom { decoder in
                    var list = try decoder.unkeyedContainer()
                    // The coding path includes the element.
                    return Date(timeIntervalSince1970: Double(decoder.codingPath.count) + (try list.decode(Double.self)))
                }
            }, { "[\($0)]" })
    }

    @Test func `Data are read by each strategy`() throws {
        try compare(Data.self) { Data((0...$0).map(UInt8.init)).base64EncodedString().debugDescription }
        try compare(Data.self, { $0.dataDecodingStrategy = .deferredToData }) { number in
            "[" + (0...number).map(String.init).joined(separator: ",") + "]"
        }
        try compare(Data.self, { $0.dataDecodingStrategy = .custom { Data(try $0.singleValueContainer().decode(String.self).utf8) } }) {
            "\"\($0)\""
        }
    }

    @Test func `Names in dictionaries are left alone, those of properties converted`() throws {
        struct Item: Decodable, Equatable { var firstName: [String: Int] }
        try compare([String: Int].self, { $0.keyDecodingStrategy = .convertFromSnakeCase }, { "{\"first_name\":\($0),\"b\":1}" })
        try compare(Item.self, { $0.keyDecodingStrategy = .convertFromSnakeCase }, { "{\"first_name\":{\"a_b\":\($0)}}" })
    }

    private class Base: Decodable, Equatable {
        var a: Int
        static func == (one: Base, other: Base) -> Bool { one.a == other.a && (one as? Derived)?.b == (other as? Derived)?.b }
    }

    private final class Derived: Base {
        var b: [Int]
        private enum Key: CodingKey { case b, base }
        required init(from decoder: any Decoder) throws {
            let object = try decoder.container(keyedBy: Key.self)
            b = try object.decode([Int].self, forKey: .b)
            try super.init(from: object.superDecoder())
        }
    }

    /// An object in nested arrays.
    private struct Pair: Decodable, Equatable {
        var first: Derived
        var rest: [Int]
        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            first = try Derived(from: list.superDecoder())
            rest = try list.decode([Int].self)
        }
    }

    @Test func `Classes have their decoders`() throws {
        let numbers = "[" + (0..<20).map(String.init).joined(separator: ",") + "]"
        try compare(Derived.self) { "{\"b\":\(numbers),\"super\":{\"a\":\($0)}}" }
        try compare(Pair.self) { "[{\"b\":\(numbers),\"super\":{\"a\":\($0)}},\(numbers)]" }
    }

    /// Counts the instances that are created and released.
    private final class Counted: Decodable {
        static let key = CodingUserInfoKey(rawValue: "counts")
        private let counts: Locked<(made: Int, ended: Int)>?
        private let number: Int

        init(from decoder: any Decoder) throws {
            number = try decoder.singleValueContainer().decode(Int.self)
            counts = Self.key.flatMap { decoder.userInfo[$0] as? Locked<(made: Int, ended: Int)> }
            counts?.withLock { $0.made += 1 }
        }

        deinit { counts?.withLock { $0.ended += 1 } }
    }

    @Test func `What has been read before an error is given back, each once`() throws {
        for wrong in [0, 1, 20, 29] {
            let counts = Locked((made: 0, ended: 0))
            var reader = JSONReader()
            reader.userInfo = [try #require(Counted.key): counts]
            let elements = (0..<30).map { $0 == wrong ? "\"x\"" : "\($0)" }.joined(separator: ",")
            do {
                _ = try reader.decode([Counted].self, from: Data("[\(elements)]".utf8))
                Issue.record("A text was read as a number.")
            } catch DecodingError.typeMismatch(_, let context) {
                #expect(context.codingPath.map(\.intValue) == [wrong])
            }
            #expect(counts.withLock { $0.made } == wrong)
            #expect(counts.withLock { $0.ended } == wrong)
        }
    }

    // MARK: Memory

    /// Nested arrays with large elements, and the total memory reserved for them.
    private struct Nest: Decodable, JSONReadable {
        var inner: [Nest] = []
        var reserved: Int
        var bulk: (Large, Large, Large, Large) = (Large(), Large(), Large(), Large())

        struct Large {
            var numbers: (Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64) = (0, 0, 0, 0, 0, 0, 0, 0)
        }

        init(from decoder: any Decoder) throws {
            reserved = try #require(JSONNode(decoder)).document.storage.pointee.reserved
            if (try? decoder.unkeyedContainer()) != nil { inner = try decoder.singleValueContainer().decode([Nest].self) }
        }

        init(from json: borrowing JSONCursor) throws {
            reserved = json.document.storage.pointee.reserved
            if json.count > 0 { inner = try [Nest](from: json) }
        }

        var greatest: Int { max(reserved, inner.map(\.greatest).max() ?? 0) }
        var depth: Int { 1 + (inner.map(\.depth).max() ?? 0) }
        var total: Int { 1 + inner.reduce(0) { $0 + $1.total } }
    }

    /// The same structure without its own reading code.
    private struct Coded: Decodable {
        var nest: Nest
        init(from decoder: any Decoder) throws { nest = try Nest(from: decoder) }
    }

    private static func nested(_ depth: Int, _ innermost: String) -> String {
        (0..<depth).reduce(innermost) { inner, _ in "[\(inner)" + String(repeating: ",0", count: 19) + "]" }
    }

    @Test func `Arrays in each other take no more memory at once than one of them may`() throws {
        let depth = 60
        let text = Data(Self.nested(depth, "0").utf8)
        // Each of the arrays uses a twelfth of the bound.
        let bound = 1 << 16
        #expect(bound > 4 * text.count && 20 * MemoryLayout<Nest>.stride * depth > 4 * bound)
        for nest in [try JSONReader().decode(Coded.self, from: text).nest, try JSONReader().read(Nest.self, from: text)] {
            #expect(nest.depth == depth + 1)
            #expect(nest.total == 20 * depth + 1)
            #expect(nest.greatest > bound / 2)
            #expect(nest.greatest <= bound)
        }
    }

    /// A type that continues after a decoding error.
    private struct Tolerant: Decodable {
        var reserved: [Int] = []
        init(from decoder: any Decoder) throws {
            let document = try #require(JSONNode(decoder)).document
            for _ in 0..<3 {
                #expect(throws: DecodingError.self) { try decoder.singleValueContainer().decode([Int].self) }
                reserved.append(document.storage.pointee.reserved)
                #expect(throws: DecodingError.self) { try [Int](from: JSONCursor(document, .root)) }
                reserved.append(document.storage.pointee.reserved)
            }
        }
    }

    @Test func `What was reserved for an array is given back when it fails`() throws {
        let text = Data("[\(String(repeating: "1,", count: 50))\"x\"]".utf8)
        #expect(try JSONReader().decode(Tolerant.self, from: text).reserved == [0, 0, 0, 0, 0, 0])
    }
}

import Foundation
import TestSupport
import Testing
import WebServiceClient

@Suite struct PropertyListSerializerTests {
    struct Item: Codable, Equatable {
        var name: String
        var count: Int
        var at: Date?
        var bytes: Data?
    }

    @Test("XML and binary, both read by either", arguments: [PropertyListSerializer.Format.xml, .binary])
    func formats(format: PropertyListSerializer.Format) throws {
        let items = [Item(name: "ä<&>", count: -1, at: Date(timeIntervalSince1970: 5), bytes: Data([1, 2])), Item(name: "", count: .max)]
        let data = try PropertyListSerializer(format).encode(items)
        #expect(data.starts(with: format == .xml ? Data("<?xml".utf8) : Data("bplist".utf8)))
        #expect(try PropertyListSerializer(.xml).decode([Item].self, from: data, at: [], contentType: "application/x-plist") == items)
        #expect(try PropertyListSerializer(.xml).decode(Int.self, from: data, at: ["1", "count"], contentType: nil) == .max)
        #expect(try PropertyListSerializer(.xml).decode(Date.self, from: data, at: ["0", "at"], contentType: nil) == items[0].at)
    }

    @Test(arguments: [
        Double.nan, .infinity, -.infinity, 1e300, 253_402_300_800, -62_135_596_801, -1e12,
    ])
    func `A date that XML can't hold is an error`(seconds: Double) throws {
        let item = Item(name: "a", count: 1, at: Date(timeIntervalSince1970: seconds))
        let error = #expect(throws: EncodingError.self) { try PropertyListSerializer().encode(["x": [item]]) }
        // A description of such a date can end the process.
        if let error { #expect("\(error)".contains("0001 to 9999")) }
        #expect(throws: Never.self) { try PropertyListSerializer(.binary).encode([item]) }
    }

    @Test(arguments: [253_402_300_799, -62_135_596_800, 0.0, -1]) func `The first and last dates of XML are written`(seconds: Double) throws
    {
        let item = Item(name: "<date>", count: 1, at: Date(timeIntervalSince1970: seconds))
        let data = try PropertyListSerializer().encode(item)
        #expect(try PropertyListSerializer().decode(Item.self, from: data, at: [], contentType: nil) == item)
    }

    private struct Nest: Decodable, Sendable {
        init(from decoder: any Decoder) throws {
            var inner = try decoder.unkeyedContainer()
            while !inner.isAtEnd { _ = try inner.decode(Nest.self) }
        }
    }

    private func nested(_ levels: Int) -> String {
        "<?xml version=\"1.0\"?><plist version=\"1.0\">" + String(repeating: "<array>", count: levels)
            + String(repeating: "</array>", count: levels) + "</plist>"
    }

    @Test func `Lists nested too deeply are an error and no crash`() throws {
        let serializer = PropertyListSerializer()
        _ = try serializer.decode(Nest.self, from: Data(nested(500).utf8), at: [], contentType: nil)
        for levels in [513, 100_000] {
            for encoding in [String.Encoding.utf8, .utf16] {
                let data = try #require(nested(levels).data(using: encoding))
                #expect(throws: SerializationError.self) { try serializer.decode(Nest.self, from: data, at: [], contentType: nil) }
            }
        }
        let flat = "<plist><array>" + String(repeating: "<array/><dict/><!--<array>--><string><![CDATA[<array>]]></string>", count: 1_000)
        #expect(try serializer.decode([Empty].self, from: Data((flat + "</array></plist>").utf8), at: [], contentType: nil).count == 3_000)
    }

    private struct Empty: Decodable { init(from decoder: any Decoder) {} }

    /// Returns a binary property list of arrays that refer to the objects with these numbers.
    private func binary(_ arrays: [[UInt8]]) -> Data {
        var data = Data("bplist00".utf8)
        var offsets: [UInt8] = []
        for members in arrays {
            offsets.append(UInt8(data.count))
            data += [0xA0 | UInt8(members.count)] + members
        }
        let table = UInt8(data.count)
        data += offsets + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, UInt8(arrays.count)] + [0, 0, 0, 0, 0, 0, 0, 0]
        return data + [0, 0, 0, 0, 0, 0, 0, table]
    }

    @Test func `A binary list that holds itself, or unfolds for ever, is an error and no crash`() throws {
        let serializer = PropertyListSerializer()
        for arrays in [[[0]], [[1], [2], [0]], (0..<40).map { [$0 + 1, $0 + 1] } + [[]]] as [[[UInt8]]] {
            #expect(throws: SerializationError.self) { try serializer.decode(Nest.self, from: binary(arrays), at: [], contentType: nil) }
        }
        _ = try serializer.decode(Nest.self, from: binary([[1, 1, 2], [2, 2], []]), at: [], contentType: nil)
        var seed = SerializationSeed(9)
        let whole = try PropertyListSerializer(.binary).encode(["a": [[1, 2], [3]], "b": [[], [4]]])
        for _ in 0..<5_000 {
            var damaged = whole
            for _ in 0..<Int.random(in: 1...4, using: &seed) {
                damaged[Int.random(in: 0..<damaged.count, using: &seed)] = UInt8.random(in: .min ... .max, using: &seed)
            }
            _ = try? serializer.decode(
                [String: [[Int]]].self, from: damaged.prefix(Int.random(in: 1...whole.count, using: &seed)), at: [], contentType: nil)
        }
    }

    @Test func `A missing root is told`() throws {
        let data = try PropertyListSerializer().encode(["a": ["b": 1]])
        let error = #expect(throws: SerializationError.self) {
            try PropertyListSerializer().decode(Int.self, from: data, at: ["a", "c"], contentType: nil)
        }
        #expect(error?.message.contains("“b”") == true)
        #expect(throws: DecodingError.self) {
            try PropertyListSerializer().decode(Item.self, from: Data("no list".utf8), at: ["a"], contentType: nil)
        }
        #expect(throws: DecodingError.self) {
            try PropertyListSerializer().decode(String.self, from: data, at: ["a", "b"], contentType: nil)
        }
    }

    @Test func `The encoder's own error reaches the caller`() {
        #expect(throws: EncodingError.self) { try PropertyListSerializer().encode("a fragment") }
    }
}

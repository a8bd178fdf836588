import Foundation
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

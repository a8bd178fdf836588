import Foundation
import TestSupport
import Testing
import WebServiceClient

@Suite struct PlainTextSerializerTests {
    enum Level: String, Codable { case low, high }

    private func read<Value: Decodable>(_ type: Value.Type, _ text: String, _ contentType: String? = "text/plain") throws -> Value {
        try PlainTextSerializer().decode(type, from: Data(text.utf8), at: [], contentType: contentType)
    }

    private func written(_ value: any Encodable) throws -> String {
        String(decoding: try PlainTextSerializer().encode(value), as: UTF8.self)
    }

    @Test func `The charset stands in the content type and makes the bytes`() throws {
        let serializer = PlainTextSerializer(.windows1251)
        #expect(serializer.contentType == "text/plain; charset=windows-1251")
        #expect(try Array(serializer.encode("Ж")) == [0xC6])
        #expect(try serializer.decode(String.self, from: Data([0xC6]), at: [], contentType: serializer.contentType) == "Ж")
        #expect(throws: SerializationError.self) { try serializer.encode("漢") }
    }

    @Test(
        "The charset of the mark, else of the header, else UTF-8, else Latin-1 for text",
        arguments: [
            ([0xE9], "text/plain; charset=ISO-8859-1", "é"), ([0xE9], "text/plain;charset='windows-1252'", "é"),
            ([0xC3, 0xA9], "text/plain", "é"),
            ([0xE9], "text/plain", "é"), ([0xFE, 0xFF, 0, 0xE9], "text/plain", "é"), ([0xEF, 0xBB, 0xBF, 0x61], nil, "a"),
            ([0xEF, 0xBB, 0xBF, 0xC3, 0xA9], "text/csv; charset=ISO-8859-1", "é"),
            ([0xEF, 0xBB, 0xBF, 0xC3, 0xA9], "text/csv; charset=windows-1252", "é"),
            ([0xEF, 0xBB, 0xBF, 0x61], "text/plain; charset=utf-16", "a"), ([0xEF, 0xBB, 0xBF, 0x61], "text/plain; charset=x-none", "a"),
            ([0xFF, 0xFE, 0xE9, 0], "text/csv; charset=utf-8", "é"), ([0xFE, 0xFF, 0, 0xE9], "text/csv; charset=utf-16le", "é"),
            ([0xFE, 0xFF, 0, 0xE9], "text/csv; charset=ISO-8859-1", "é"),
            ([0xFF, 0xFE, 0, 0, 0x61, 0], "text/plain; charset=utf-16", "\0a"),
            ([0xFF, 0xFE, 0, 0, 0x61, 0, 0, 0], "text/plain", "a"), ([0xFF, 0xFE, 0, 0, 0x61, 0, 0, 0], "text/plain; charset=utf-32", "a"),
            ([0xFF, 0xFE, 0, 0, 0x61, 0, 0, 0], "text/plain; charset=utf-8", "a"),
            ([0, 0, 0xFE, 0xFF, 0, 0, 0, 0x61], "text/plain; charset=ISO-8859-1", "a"),
            // Bytes that can't be what their mark says are what the header says.
            ([0xEF, 0xBB, 0xBF, 0xE9], "text/plain; charset=ISO-8859-1", "ï»¿é"),
            ([0xFF, 0xFE, 0xE9], "text/plain; charset=ISO-8859-1", "ÿþé"),
            ([0xC4, 0xE3, 0xBA, 0xC3], "text/html; charset=gb2312", "你好"), ([0xC3, 0xA9], "application/json", "é"),
        ] as [([UInt8], String?, String)])
    func reading(bytes: [UInt8], contentType: String?, text: String) throws {
        #expect(try PlainTextSerializer.text(of: Data(bytes), contentType: contentType) == text)
    }

    @Test(
        "Bytes that are no text are an error",
        arguments: [
            ("application/json", "application/json"), (nil, "missing"), ("text/plain; charset=utf-8", "utf-8"),
            ("text/plain; charset=x-none", "x-none"),
        ]
            as [(String?, String)])
    func refusing(contentType: String?, word: String) {
        let error = #expect(throws: SerializationError.self) {
            try PlainTextSerializer.text(of: Data([0xFF, 0xE9]), contentType: contentType)
        }
        #expect(error?.kind == .charset)
        #expect(error?.message.contains(word) == true)
    }

    @Test func `Simple values are read from text`() throws {
        #expect(try read(String.self, " a\n") == " a\n")
        #expect(try read(Int.self, " 42\r\n") == 42)
        #expect(try read(UInt8.self, "255") == 255)
        #expect(try read(Double.self, "-1e3") == -1000)
        #expect(try read(Bool.self, "TRUE"))
        #expect(try !read(Bool.self, "0"))
        #expect(try read(Decimal.self, "0.1") == Decimal(sign: .plus, exponent: -1, significand: 1))
        #expect(try read(Date.self, "1970-01-01T00:00:01Z") == Date(timeIntervalSince1970: 1))
        #expect(try read(URL.self, "https://a.example/b").host() == "a.example")
        #expect(try read(UUID.self, "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6").uuidString == "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6")
        #expect(try read(Level.self, "high") == .high)
        #expect(try read(Int?.self, "1") == 1)
    }

    @Test func `A text that is no such value is told`() {
        let error = #expect(throws: SerializationError.self) { try read(UInt8.self, "256") }
        #expect(error?.message == "“256” can't be read as UInt8.")
        #expect(throws: SerializationError.self) { try read(Int.self, "4 2") }
        #expect(throws: SerializationError.self) { try read(Bool.self, "yes") }
        #expect(throws: SerializationError.self) { try read(Decimal.self, "1x") }
        #expect(throws: (any Error).self) { try read(Level.self, "middle") }
        #expect(#expect(throws: SerializationError.self) { try read([Int].self, "1") }?.kind == .structure)
        #expect(#expect(throws: SerializationError.self) { try read([String: Int].self, "1") }?.kind == .structure)
        #expect(throws: SerializationError.self) {
            try PlainTextSerializer().decode(String.self, from: Data("a".utf8), at: ["b"], contentType: nil)
        }
    }

    @Test func `Simple values are written as text`() throws {
        #expect(try written("ä") == "ä")
        #expect(try written(42) == "42")
        #expect(try written(1.5) == "1.5")
        #expect(try written(true) == "true")
        #expect(try written(Level.low) == "low")
        #expect(try written(Date(timeIntervalSince1970: 0)) == "1970-01-01T00:00:00Z")
        #expect(try written(UUID(uuidString: "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6")) == "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6")
        #expect(try written(Decimal(sign: .minus, exponent: -3, significand: 1)) == "-0.001")
        let error = #expect(throws: ReflectionError.self) { try written(["a": 1]) }
        #expect(error?.type.contains("Dictionary") == true)
        #expect(throws: SerializationError.self) { try written(Int?.none) }
    }

    @Test func `Numbers and dates survive`() throws {
        var seed = SerializationSeed(8)
        for _ in 0..<500 {
            let number = Double(bitPattern: seed.next())
            if number.isFinite { #expect(try read(Double.self, written(number)) == number) }
            let integer = Int64(bitPattern: seed.next())
            #expect(try read(Int64.self, written(integer)) == integer)
            #expect(try read(Decimal.self, written(Decimal(integer))) == Decimal(integer))
            let text = seed.text(upTo: 20)
            #expect(try read(String.self, written(text)) == text)
        }
    }
}

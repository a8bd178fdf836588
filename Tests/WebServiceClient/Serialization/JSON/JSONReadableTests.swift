import Foundation
import TestSupport
import Testing
import WebServiceClient

/// Tests types with their own reading code.
@Suite struct JSONReadableTests {
    enum Kind: String, JSONReadable, Codable { case plain, special }

    /// A type that can be decoded in both ways.
    struct Product: JSONReadable, Codable, Equatable {
        var id: Int64
        var name: String
        var price: Decimal?
        var ratio: Double
        var isOn: Bool
        var tags: [String]
        var counts: [String: UInt8]
        var parts: [Part]
        var kind: Kind
        var at: Date
        var blob: Data
        var link: URL
        var uuid: UUID

        struct Part: JSONReadable, Codable, Equatable {
            var size: Float?
            var next: [Part]?

            init(size: Float?, next: [Part]?) {
                self.size = size
                self.next = next
            }

            init(from json: borrowing JSONCursor) throws {
                size = try json.readIfPresent("size")
                next = try json.readIfPresent("next")
            }
        }

        init(from json: borrowing JSONCursor) throws {
            id = try json.read("id")
            name = try json.read("name")
            price = try json.readIfPresent("price")
            ratio = try json.read("ratio")
            isOn = try json.read("isOn")
            tags = try json.read("tags")
            counts = try json.read("counts")
            parts = try json.read("parts")
            kind = try json.read("kind")
            at = try json.read("at")
            blob = try json.decode("blob")
            link = try json.read("link")
            uuid = try json.read("uuid")
        }

        init(_ seed: inout SerializationSeed) {
            id = Int64(bitPattern: seed.next())
            name = seed.text(upTo: 30)
            price = seed.next() % 2 == 0 ? Decimal(seed.next() % 100_000) / 100 : nil
            ratio = Double(seed.next() % 10_000) / 7
            isOn = seed.next() % 2 == 0
            tags = (0..<JSONPropertyTests.count(&seed, upTo: 3)).map { _ in seed.text(upTo: 8) }
            counts = Dictionary((0..<Int(seed.next() % 4)).map { _ in (seed.text(upTo: 8), UInt8(truncatingIfNeeded: seed.next())) }) { $1 }
            parts = (0..<JSONPropertyTests.count(&seed, upTo: 2)).map { _ in
                Part(size: 1.5, next: [Part(size: nil, next: nil), Part(size: 2, next: [])])
            }
            kind = seed.next() % 2 == 0 ? .plain : .special
            at = Date(timeIntervalSince1970: Double(seed.next() % 2_000_000_000))
            blob = Data(seed.bytes(upTo: 20))
            link = URL(filePath: "/\(seed.next())")
            uuid = UUID()
        }
    }

    @Test func `A type is the same by itself and by Decodable, in whatever order its members come`() throws {
        var seed = SerializationSeed(9)
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        var reader = JSONReader()
        reader.dateDecodingStrategy = .iso8601
        for round in 0..<100 {
            encoder.outputFormatting = round % 2 == 0 ? [] : .sortedKeys
            let products = (0..<3).map { _ in Product(&seed) }
            let text = try encoder.encode(["value": products])
            #expect(try reader.read([Product].self, from: text, at: ["value"]) == products)
            // If a type conforms to both protocols, this also reads it directly.
            #expect(try reader.decode([String: [Product]].self, from: text) == ["value": products])
        }
    }

    private struct Strict: JSONReadable {
        var number: Int
        init(from json: borrowing JSONCursor) throws {
            number = try json.read("number")
            _ = try json.readIfPresent("list", as: [Int].self)
        }
    }

    @Test(
        "Errors are those of Decodable, with the path",
        arguments: [
            ("[{\"number\":1},{}]", "no key number at Index 1"), ("[{\"number\":null}]", "no value at Index 0/number"),
            ("[{\"number\":\"1\"}]", "mismatch at Index 0/number"), ("[{\"number\":1.5}]", "corrupted at Index 0/number"),
            ("[1]", "mismatch at Index 0"), ("{}", "mismatch at "),
            ("[{\"number\":1,\"list\":[1,2,true]}]", "mismatch at Index 0/list/Index 2"),
            ("[{\"number\":1,\"number\":1}]", "corrupted at "), ("[{\"number\":1,\"list\":null,\"x\":02}]", "corrupted at "),
        ])
    func errors(text: String, expected: String) {
        func path(_ context: DecodingError.Context) -> String { context.codingPath.map(\.stringValue).joined(separator: "/") }
        do {
            let read = try JSONReader().read([Strict].self, from: Data(text.utf8))
            Issue.record("\(read)")
        } catch DecodingError.keyNotFound(let key, let context) {
            #expect(expected == "no key \(key.stringValue) at \(path(context))")
        } catch DecodingError.valueNotFound(_, let context) {
            #expect(expected == "no value at \(path(context))")
        } catch DecodingError.typeMismatch(_, let context) {
            #expect(expected == "mismatch at \(path(context))")
        } catch DecodingError.dataCorrupted(let context) {
            #expect(expected == "corrupted at \(path(context))")
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test func `A cursor tells what there is`() throws {
        struct Told: JSONReadable {
            var lines: [String] = []
            init(from json: borrowing JSONCursor) throws {
                lines.append("\(json.count) \(json.isNull) \(try json.contains("b")) \(try json.contains("c"))")
                var told: [String] = []
                try json.forEachMember { name, value in
                    told.append("\(name) \(value.count) \(value.isNull) \(value.codingPath.map(\.stringValue).joined())")
                    if value.count > 0 { try value.forEachElement { told.append(try String(Int(from: $0))) } }
                }
                lines += told
                lines.append(
                    "\(try json.decodeIfPresent("b", as: [Int].self) ?? []) \(try json.decodeIfPresent("c", as: [Int].self) ?? [])")
                lines.append("\(try json.decode("a", as: [Int].self)) \(try json.decode([String: [Int]?].self).count)")
            }
        }
        let told = try JSONReader().read(Told.self, from: Data(#"{"a":[1,2],"b":null}"#.utf8))
        #expect(told.lines == ["2 false true false", "a 2 false a", "1", "2", "b 0 true b", "[] []", "[1, 2] 2"])
    }

    @Test func `Simple values, optionals and raw values`() throws {
        let reader = JSONReader()
        #expect(try reader.read([Int?].self, from: Data("[1,null]".utf8)) == [1, nil])
        #expect(try reader.read([Kind].self, from: Data("[\"plain\"]".utf8)) == [.plain])
        #expect(throws: DecodingError.self) { try reader.read([Kind].self, from: Data("[\"odd\"]".utf8)) }
        #expect(try reader.read([[UInt16]].self, from: Data("[[65535]]".utf8)) == [[65535]])
        #expect(try reader.read(String.self, from: Data("{\"a\":[\"x\"]}".utf8), at: ["a", "0"]) == "x")
        #expect(throws: SerializationError.self) { try reader.read(String.self, from: Data("{}".utf8), at: ["a"]) }
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            #expect(try reader.read(UInt128.self, from: Data("\(UInt128.max)".utf8)) == .max)
        }
    }
}

import Foundation
import Testing

@testable import OData

@Suite struct ODataDecoderTests {
    private func decode<Value: Decodable>(_ json: String, as type: Value.Type = Value.self) throws -> Value {
        try ODataDecoder().decode(type, from: Data(json.utf8))
    }

    @Test func `Int64 and Decimal are read from numbers and strings, regardless of the request`() throws {
        #expect(
            try decode(#"[9007199254740993,"9007199254740993",9007199254740993.0,"9.007199254740993e15"]"#)
                == Array(repeating: Int64(9_007_199_254_740_993), count: 4))
        #expect(try decode(#"["34.95",34.95,3.495E1]"#) == Array(repeating: Decimal(string: "34.95"), count: 3))
        #expect(try decode(#"["1",2]"#, as: [Int].self) == [1, 2])
        #expect(try decode(#"["INF","-INF","1.5",2,1e-400]"#) == [Double.infinity, -.infinity, 1.5, 2, 0])
        #expect(try decode(#"["NaN"]"#, as: [Float].self)[0].isNaN)
    }

    @Test(arguments: ["[1.5]", #"["x"]"#, "[9223372036854775808]", "[true]", #"[""]"#, "[null]", #"["1 "]"#])
    func `other numbers than Int64 are errors`(json: String) {
        #expect(throws: DecodingError.self) { try decode(json, as: [Int64].self) }
    }

    @Test func `numbers that don't fit are errors that name them`() {
        for (read, text) in [
            ({ _ = try decode("[1e400]", as: [Double].self) }, "1e400"), ({ _ = try decode("[256]", as: [UInt8].self) }, "256"),
            ({ _ = try decode("[1e39]", as: [Float].self) }, "1e39"),
        ] as [(() throws -> Void, String)] {
            let error = #expect(throws: DecodingError.self) { try read() }
            #expect("\(String(describing: error))".contains(text))
        }
    }

    @Test func `Foundation's types are read in the spellings of all versions`() throws {
        #expect(
            try decode(#"["2012-12-03T07:16:23.5+02:00","/Date(1354511783500)/","/Date(1354511783500+0060)/"]"#, as: [Date].self)
                == Array(repeating: Date(timeIntervalSince1970: 1_354_511_783.5), count: 3))
        #expect(try decode(#"["-_8BAg","+/8BAg==","-_8BAg=="]"#, as: [Data].self) == Array(repeating: Data([0xFB, 0xFF, 1, 2]), count: 3))
        #expect(try decode(#"["01234567-89AB-cdef-0123-456789abcdef"]"#, as: [UUID].self)[0].uuidString.hasPrefix("01234567"))
        #expect(try decode(#"["https://h.example/a"]"#, as: [URL].self)[0].host() == "h.example")
        for wrong in [#"["2012-12-03T07:16:23"]"#, "[1]", #"["/Date(x)/"]"#] {
            #expect(throws: DecodingError.self) { try decode(wrong, as: [Date].self) }
        }
        #expect(throws: DecodingError.self) { try decode(#"["-_8B!"]"#, as: [Data].self) }
        #expect(throws: DecodingError.self) { try decode(#"["x"]"#, as: [UUID].self) }
    }

    @Test func `V2's d is removed, with results or without`() throws {
        struct Item: Decodable, Equatable { let Id: String }
        #expect(try decode(#"{"d":{"Id":"1"}}"#) == Item(Id: "1"))
        #expect(try decode(#"{"d":{"results":[{"Id":"1"}]}}"#) == [Item(Id: "1")])
        #expect(try decode(#"{"d":[{"Id":"1"}]}"#) == [Item(Id: "1")])
        #expect(try decode(#"{"results":[{"Id":"1"}]}"#) == [Item(Id: "1")])
    }

    @Test func `primitive results are read at the root, in value, or in V2's function name`() throws {
        #expect(try decode(#"{"@odata.context":"$metadata#Edm.Int32","value":5}"#) == 5)
        #expect(try decode(#"{"@odata.context":"$metadata#Collection(Edm.String)","value":["a"]}"#) == ["a"])
        #expect(try decode(#"{"d":{"Total":"5.5"}}"#) == Decimal(string: "5.5"))
        #expect(try decode("5") == 5)
        #expect(try decode(#"{"value":null}"#, as: Int?.self) == nil)
    }

    @Test func `an array with a next link is an error, not a short result`() throws {
        struct Account: Decodable { let Tasks: [String] }
        for json in [
            #"{"Tasks":["a"],"Tasks@odata.nextLink":"https://h/Tasks?secret=1"}"#, #"{"Tasks@nextLink":"x","Tasks":[]}"#,
            #"{"Tasks":{"results":["a"],"__next":"x"}}"#,
        ] {
            let error = #expect(throws: DecodingError.self) { try decode(json, as: Account.self) }
            let text = String(describing: error)
            #expect(text.contains("ToMany") && text.contains("Tasks") && !text.contains("secret"))
        }
        #expect(throws: DecodingError.self) { try decode(#"{"value":["a"],"@odata.nextLink":"x"}"#, as: [String].self) }
        #expect(try decode(#"{"Tasks":{"results":["a"]}}"#, as: Account.self).Tasks == ["a"])
    }

    @Test(arguments: [15, 16, 17, 60]) func `a long array is read completely, like a short one`(count: Int) throws {
        struct Account: Decodable, Equatable { let Tasks: [Int] }
        let tasks = Array(0..<count)
        let list = "[" + tasks.map { $0 % 2 == 0 ? "\($0)" : "\"\($0)\"" }.joined(separator: ",") + "]"
        for json in [
            #"{"Tasks":\#(list),"Tasks@odata.nextLink":"x"}"#, #"{"Tasks@nextLink":"x","Tasks":\#(list)}"#,
            #"{"Tasks":{"results":\#(list),"__next":"x"}}"#, #"{"Tasks":{"__next":"x","results":\#(list)}}"#,
        ] {
            #expect(throws: DecodingError.self) { try decode(json, as: Account.self) }
            let several = "[" + Array(repeating: json, count: count).joined(separator: ",") + "]"
            #expect(throws: DecodingError.self) { try decode(several, as: [Account].self) }
        }
        #expect(throws: DecodingError.self) { try decode(#"{"value":\#(list),"@odata.nextLink":"x"}"#, as: [Int].self) }
        #expect(throws: DecodingError.self) { try decode(#"{"d":{"results":\#(list),"__next":"x"}}"#, as: [Int].self) }
        for json in [
            list, #"{"value":\#(list)}"#, #"{"value":\#(list),"@odata.nextLink":null}"#, #"{"d":{"results":\#(list)}}"#, #"{"d":\#(list)}"#,
            #"{"results":\#(list)}"#,
        ] { #expect(try decode(json, as: [Int].self) == tasks, "\(json)") }
        for json in [#"{"Tasks":\#(list)}"#, #"{"Tasks@odata.count":9,"Tasks":\#(list)}"#, #"{"Tasks":{"results":\#(list)}}"#] {
            let several = "[" + Array(repeating: json, count: count).joined(separator: ",") + "]"
            #expect(try decode(several, as: [Account].self) == Array(repeating: Account(Tasks: tasks), count: count), "\(json)")
        }
    }

    @Test func `a deferred property of V2 is nil for an optional, and an error for others`() throws {
        struct Open: Decodable { let Tasks: [String]? }
        struct Closed: Decodable { let Tasks: [String] }
        let json = #"{"Tasks":{"__deferred":{"uri":"x"}}}"#
        #expect(try decode(json, as: Open.self).Tasks == nil)
        let error = #expect(throws: DecodingError.self) { try decode(json, as: Closed.self) }
        #expect("\(String(describing: error))".contains("expand"))
    }

    @Test func `errors contain the coding path`() {
        struct Item: Decodable { let Inner: [Int] }
        let error = #expect(throws: DecodingError.self) { try decode(#"{"value":[{"Inner":[1,"x"]}]}"#, as: ODataPage<Sent>.self) }
        guard case .dataCorrupted(let context) = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(context.codingPath.map(\.stringValue) == ["value", "Index 0", "Inner", "Index 1"])
    }

    private struct Sent: Decodable, Sendable { let Inner: [Int] }

    @Test func `class hierarchies, nested containers and enumerations with payloads decode`() throws {
        class Base: Codable { var a = 1 }
        final class Derived: Base {
            var b = 0
            enum Key: CodingKey { case b, nested }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                b = try container.nestedContainer(keyedBy: Key.self, forKey: .nested).decode(Int.self, forKey: .b)
                try super.init(from: container.superDecoder())
            }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                var nested = container.nestedContainer(keyedBy: Key.self, forKey: .nested)
                try nested.encode(b, forKey: .b)
                try super.encode(to: container.superEncoder())
            }
        }
        enum Shape: Codable, Equatable { case circle(radius: Double), square(Int) }
        let json = #"{"nested":{"b":2},"super":{"a":7}}"#
        let value = try decode(json, as: Derived.self)
        #expect(value.a == 7 && value.b == 2)
        #expect(try String(decoding: ODataEncoder().encode(value), as: UTF8.self) == json)
        let shapes = [Shape.circle(radius: 1.5), .square(2)]
        #expect(try ODataDecoder().decode([Shape].self, from: ODataEncoder().encode(shapes)) == shapes)
        let dictionary = ["a": [1, 2], "b": []]
        #expect(try ODataDecoder().decode([String: [Int]].self, from: ODataEncoder().encode(dictionary)) == dictionary)
    }

    @Test func `an error in place of a value or at the end of a payload is thrown`() throws {
        struct Item: Decodable { let Id: Int? }
        let texts = [
            #"{"error":{"code":"E1","message":"no"}}"#, #"{"value":[{"Id":1}],"error":{"code":"E1","message":"no"}}"#,
            #"{"@odata.context":"x","value":[{"Id":1},{"error":{"code":"E1","message":"no"}}]}"#,
            #"{"@odata.context":"x","value":[{"Id":1},{"Id":2,"Na{"error":{"code":"E1","message":"no"}}"#,
            #"{"value":[{"Id":1},"odata.error":{"code":"E1","message":{"lang":"en","value":"no"}}}"#,
        ]
        for text in texts {
            let error = #expect(throws: ODataErrorBody.self) { try decode(text, as: ODataPage<DynamicEntity>.self) }
            #expect(error?.code == "E1" && error?.message == "no")
        }
        #expect(throws: ODataErrorBody.self) { try decode(texts[0], as: Item.self) }
        // A similar member inside a truncated payload isn't the service's error.
        #expect(throws: DecodingError.self) {
            try decode(#"{"value":[{"Id":1,"error":{"code":"E1","message":"no"}},{"Id":2,"Na"#, as: ODataPage<DynamicEntity>.self)
        }
        // A property named `error` isn't one either.
        struct Log: Decodable { let error: DynamicEntity, Id: Int }
        #expect(try decode(#"{"Id":1,"error":{"code":"E1","message":"no"}}"#, as: Log.self).Id == 1)
    }
}

import Foundation
import Testing
import WebServiceClient

/// Tests texts that are read in place, with their end in a copy.
@Suite struct JSONStretchTests {
    private struct Entity: Codable, Equatable {
        var id: Int
        var name: String
        var note: String?
        var ratio: Double
        var parts: [[String]]
    }

    /// The result of reading: a value, or the position and kind of the error.
    private enum Outcome: Equatable {
        case value(JSONAnything)
        case failure(JSONSyntaxError.Kind?, Int)
    }

    private func outcome(_ data: Data) throws -> Outcome {
        do {
            return .value(try JSONReader().decode(JSONAnything.self, from: data))
        } catch DecodingError.dataCorrupted(let context) {
            let error = context.underlyingError as? JSONSyntaxError
            return .failure(error?.kind, error?.offset ?? -1)
        }
    }

    @Test func `Each sample has the same outcome wherever a long text's end begins`() throws {
        let fence = try #require(Fence())
        let (short, lead) = (Array("[0,".utf8), Array("[\"\(String(repeating: "x", count: 300))\",".utf8))
        let samples = (JSONSamples.accepted + JSONSamples.rejected).map { Array($0.utf8) } + JSONSamples.rejectedBytes
        for sample in samples where sample.count < 100 {
            for length in stride(from: 0, to: 96, by: 5) {
                let rest = length % 2 == 0 ? ",\"\(String(repeating: "y", count: length))\"]" : ",\"\\\"\"   ,7]"
                let tail = sample + Array(rest.utf8) + [UInt8](repeating: 0x20, count: length % 2 == 0 ? 0 : length)
                // A text this short is copied completely.
                let expected = try outcome(Data(short + tail))
                let found = try fence.read(lead + tail, outcome)
                switch (expected, found) {
                case (.value(.array(let few)), .value(.array(let many))):
                    #expect(few.dropFirst() == many.dropFirst(), "\(String(decoding: sample, as: UTF8.self)) \(length)")
                case (.failure(let kind, let place), .failure(let sameKind, let samePlace)):
                    #expect(kind == sameKind, "\(String(decoding: sample, as: UTF8.self)) \(length)")
                    #expect(place + lead.count - short.count == samePlace, "\(String(decoding: sample, as: UTF8.self)) \(length)")
                default:
                    Issue.record("\(String(decoding: sample, as: UTF8.self)) \(length): \(expected) and \(found)")
                }
            }
        }
    }

    @Test func `A page is the same wherever its end begins`() throws {
        let fence = try #require(Fence())
        let entities = (0..<9).map { index in
            Entity(
                id: index, name: "Nº \(index) “\(index % 2 == 0 ? "\"\\" : "")”", note: index % 3 == 0 ? nil : "\n",
                ratio: Double(index) / 4, parts: [["", "ä\u{1F600}", String(repeating: "z", count: 20 * index)], []])
        }
        let text = Array(try JSONEncoder().encode(entities))
        // Repeats a name in the first entity, and in the last one.
        let early = Array("[{\"id\":1,\"id\":2},".utf8) + text.dropFirst()
        let late = text.dropLast() + Array(",{\"id\":1,\"name\":\"\",\"id\":2}]".utf8)
        for length in 0..<text.count {
            let space = [UInt8](repeating: 0x20, count: length)
            #expect(try fence.read(text + space) { try JSONReader().decode([Entity].self, from: $0) } == entities, "\(length)")
            for wrong in [early, late] {
                guard case .failure(.duplicateName, _) = try fence.read(wrong + space, outcome) else {
                    Issue.record("\(length): no name was found twice")
                    continue
                }
            }
        }
    }

    @Test func `Each truncation of a long text is told as one`() throws {
        let fence = try #require(Fence())
        let item = "{\"ID\":-1.5e+3,\"Name\":\"Chäi \\\"\\u00e9\\uD83D\\uDE00\\n\",\"On\":true,\"No\":null,\"Tags\":[\"a\",\"😀\"]}"
        let text = Array("[\(Array(repeating: item, count: 5).joined(separator: " , "))]".utf8)
        for count in text.indices {
            let found = try fence.read(Array(text[..<count]), outcome)
            #expect(found == .failure(.truncated, count), "\(count)")
        }
    }

    @Test func `Runs of escapes are read as JSONDecoder reads them, wherever they begin and end`() throws {
        let fence = try #require(Fence())
        let escapes = ["\\n", "\\\\", "\\u4e2d", "\\ud83d\\ude00", "\\\"", "\\u0041"]
        for count in 1...40 {
            for (number, escape) in escapes.enumerated() {
                let other = escapes[(number + 1) % escapes.count]
                let run = String(repeating: escape + (count % 3 == 0 ? other : ""), count: count)
                let strings = ["", "x", "é", String(repeating: "y", count: 15)].flatMap { [$0 + run, $0 + run + $0, run + $0 + run] }
                let text = "[" + strings.map { "\"\($0)\"" }.joined(separator: ",") + "]"
                let expected = try JSONDecoder().decode([String].self, from: Data(text.utf8))
                #expect(try fence.read(Array(text.utf8)) { try JSONReader().decode([String].self, from: $0) } == expected, "\(text)")
            }
        }
    }

    /// Values that need much memory for little text.
    struct Twice<Value: Codable>: Codable {
        var first: Value
        var second: Value
    }

    private typealias Large<Value: Codable> = Twice<Twice<Twice<Twice<Twice<Twice<Value>>>>>>

    @Test func `No memory is taken for elements that are something else`() {
        // Each element would take 32 KiB.
        let text = Data("[\(String(repeating: "1,", count: 1 << 20))1]".utf8)
        #expect(throws: DecodingError.self) { try JSONReader().decode([Large<Large<Int64>>].self, from: text) }
        #expect(throws: DecodingError.self) { try JSONReader().read([Large<Large<Int64>>].self, from: text) }
    }

    @Test func `Elements of large arrays have their places in errors`() throws {
        let reader = JSONReader()
        let values = (0..<100).map(String.init)
        let text = Data("{\"list\":[\(values.joined(separator: ","))]}".utf8)
        #expect(try reader.decode([String: [Int]].self, from: text) == ["list": Array(0..<100)])
        let wrong = Data("{\"list\":[\(values.joined(separator: ",")),\"x\"]}".utf8)
        do {
            _ = try reader.decode([String: [Int]].self, from: wrong)
            Issue.record("A text was read as a number.")
        } catch DecodingError.typeMismatch(_, let context) {
            #expect(context.codingPath.map(\.stringValue) == ["list", "Index 100"])
        }
    }
}

extension JSONStretchTests.Twice: JSONReadable where Value: JSONReadable {
    init(from json: borrowing JSONCursor) throws {
        first = try json.read("first")
        second = try json.read("second")
    }
}

import Foundation
import TestSupport
import Testing

@testable import OData

/// Entities without a Swift type: values with shared names.
@Suite struct DynamicEntityTests {
    private func page(_ json: String) throws -> [DynamicEntity] {
        try ODataDecoder().decode(ODataPage<DynamicEntity>.self, from: Data(json.utf8)).entities
    }

    @Test func `a change of one entity of a page changes no other`() throws {
        var entities = try page(#"{"value":[{"a":1,"b":{"c":2}},{"a":3,"b":{"c":4}},{"a":5,"b":{"c":6}}]}"#)
        let before = entities
        entities[0]["d"] = 7
        entities[1]["a"] = nil
        entities[2]["b"] = ["c": 8, "e": 9]
        #expect(entities[0] == ["a": 1, "b": ["c": 2], "d": 7])
        #expect(entities[1] == ["b": ["c": 4]] && entities[1]["a"] == nil && entities[1]["b"]?["c"] == 4)
        #expect(entities[2] == ["a": 5, "b": ["c": 8, "e": 9]])
        #expect(before[0] == ["a": 1, "b": ["c": 2]] && before[1] == ["a": 3, "b": ["c": 4]] && before[2]["b"] == ["c": 6])
        var copy = before[0]
        copy["a"] = nil
        copy["a"] = 10
        #expect(copy.properties.map(\.name) == ["b", "a"] && before[0].properties.map(\.name) == ["a", "b"])
    }

    @Test func `entities with other names or another order aren't equal`() throws {
        let entities = try page(#"{"value":[{"a":1,"b":2},{"b":2,"a":1},{"a":1,"b":3},{"a":1,"\u0062":2},{"a":1},{}]}"#)
        #expect(entities[0] != entities[1] && entities[0] != entities[2] && entities[0] != entities[4])
        #expect(entities[0] == entities[3] && entities[0].hashValue == entities[3].hashValue)
        #expect(Set(entities).count == 5 && entities[5] == DynamicEntity() && entities[5].properties.isEmpty)
        // Built in another way.
        let built = DynamicEntity([.init("a", 0), .init("b", 2), .init("a", 1)])
        #expect(built == entities[0] && built.hashValue == entities[0].hashValue)
    }

    @Test func `names in different normal forms are equal`() throws {
        let entities = try page("{\"value\":[{\"caf\u{E9}\":1,\"\u{212A}\":2},{\"cafe\u{301}\":3,\"K\":4}]}")
        #expect(entities[0]["cafe\u{301}"] == 1 && entities[0]["K"] == 2 && entities[1]["caf\u{E9}"] == 3 && entities[1]["\u{212A}"] == 4)
        for name in ["cafe\u{301}", "\\u0063afe\\u0301"] {
            #expect(throws: DecodingError.self) { try page("{\"value\":[{\"a\":1,\"caf\u{E9}\":1,\"\(name)\":2}]}") }
        }
        let many = (0..<40).map { "\"n\($0)\":0" }.joined(separator: ",")
        #expect(throws: DecodingError.self) { try page("{\"value\":[{\"caf\u{E9}\":1,\(many),\"cafe\u{301}\":2}]}") }
    }

    @Test func `random changes have the same result as those of a list`() throws {
        var numbers = SeededGenerator(seed: 34)
        for _ in 0..<Sweep.rounds(ofAll: 200) {
            let names = (0..<Int.random(in: 0...30, using: &numbers)).map { "n\($0)" }
            let text = "{" + names.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
            let read = try page("{\"value\":[\(text),\(text)]}")
            var entity = read[0]
            var list = names.map { ($0, 0) }
            for value in 1...20 {
                let name = "n\(Int.random(in: 0...35, using: &numbers))"
                let place = list.firstIndex { $0.0 == name }
                if Bool.random(using: &numbers) {
                    entity[name] = nil
                    if let place { list.remove(at: place) }
                } else {
                    entity[name] = .integer(Int64(value))
                    if let place { list[place].1 = value } else { list.append((name, value)) }
                }
                #expect(entity.properties.map(\.name) == list.map(\.0) && entity.names == list.map(\.0))
                #expect(list.allSatisfy { entity[$0.0] == .integer(Int64($0.1)) } && entity["n36"] == nil)
            }
            #expect(entity == DynamicEntity(list.map { .init($0.0, .integer(Int64($0.1))) }))
            #expect(read[1].properties.map(\.name) == names)
        }
    }

    @Test func `entities with many different names are read correctly`() throws {
        let objects = (0..<1_000).map { number in "{\"a\(number)\":\(number),\"b\(number % 7)\":{\"c\(number % 300)\":\(number)}}" }
        let entities = try page("{\"value\":[" + objects.joined(separator: ",") + "]}")
        for (number, entity) in entities.enumerated() {
            #expect(
                entity["a\(number)"]?.integer == Int64(number) && entity["b\(number % 7)"]?["c\(number % 300)"]?.integer == Int64(number))
        }
    }
}

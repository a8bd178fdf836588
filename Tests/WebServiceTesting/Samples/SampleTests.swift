import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@Suite struct SampleTests {
    private enum Kind: String, Codable, CaseIterable {
        case bug, wish, question
    }

    private enum Closed: String, Codable {
        case yes, no
    }

    private struct Person: Codable, Equatable {
        let name: String
        let email: String
        let born: Date?
    }

    private final class Tree: Codable {
        let label: String
        let children: [Tree]
        let parent: Tree?
    }

    private struct Endless: Codable {
        let inner: [String: Inner]
        let more: Box
        struct Inner: Codable { let text: String }
        final class Box: Codable { let box: Box }
    }

    private struct Everything: Codable, Equatable {
        let id: Int
        let small: Int8
        let big: UInt64
        let ratio: Double
        let price: Decimal
        let isOpen: Bool
        let kind: Kind
        let createdAt: Date
        let link: URL
        let uuid: UUID
        let data: Data
        let people: [Person]
        let counts: [String: Int]
        let byNumber: [Int: String]
        let optional: String?
        let nested: [[Int]]
        let any: JSONValue
    }

    private var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }

    @Test func `the JSON of a sample decodes to its value`() throws {
        for seed in 0..<UInt64(40) {
            let sample = try Sample(of: Everything.self, seed: seed)
            let json = Data(try sample.json.json().utf8)
            #expect(try decoder.decode(Everything.self, from: json) == sample.value, "seed \(seed): \(sample.json)")
            #expect(try Sample(of: Everything.self, seed: seed).json == sample.json)
            #expect((1...3).contains(sample.value.people.count) && sample.value.optional != nil)
        }
        #expect(try Sample(of: Everything.self, seed: 1).json != Sample(of: Everything.self, seed: 2).json)
        let kinds = try (0..<UInt64(40)).map { try Sample(of: Kind.self, seed: $0).value }
        #expect(Set(kinds).count == 3)
    }

    @Test func `values suit their names, and dates have the requested form`() throws {
        let sample = try Sample(of: Person.self, seed: 3) { .number($0.timeIntervalSince1970) }
        #expect(sample.value.email.hasSuffix("@example.com") && sample.value.name.hasPrefix("name "))
        #expect(sample.json["born"]?.double == sample.value.born?.timeIntervalSince1970)
    }

    @Test func `a type that contains itself ends, or is an error`() throws {
        let tree = try Sample(of: Tree.self)
        #expect(!tree.value.children.isEmpty && tree.value.parent != nil)
        let endless = #expect(throws: TestingFailure.self) { try Sample(of: Endless.self) }
        #expect(endless?.description.contains("contains itself without end") == true)
    }

    @Test func `an error names a member that can't be invented`() throws {
        let failure = #expect(throws: TestingFailure.self) { try Sample(of: [String: Closed].self) }
        #expect(failure?.description.contains("Closed at key1") == true, "\(failure as Any)")
    }

    @Test func `scalars and arrays have samples, too`() throws {
        #expect(try Sample(of: Int.self, seed: 5).json.int == Sample(of: Int.self, seed: 5).value)
        #expect(try Sample(of: String.self).json.string == Sample(of: String.self).value)
        #expect(try Sample(of: [Bool].self).json.array?.count == Sample(of: [Bool].self).value.count)
        #expect(try Sample(of: String?.self).value != nil)
    }
}

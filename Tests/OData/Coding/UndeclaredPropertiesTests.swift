import Foundation
import Testing
import WebServiceClient

@testable import OData

@Suite struct UndeclaredPropertiesTests {
    /// The type's first sample can't be decoded, so its decoded properties aren't known in advance.
    enum State: String, Codable { case open, closed }
    struct Order: Codable, Sendable {
        var ID: Int
        var State: State
        var Note: String?
    }
    /// Decodes itself from all values instead of by name.
    struct Bag: Codable, Sendable {
        var values: [String: Int]
        init(from decoder: any Decoder) throws { values = try [String: Int](from: decoder) }
        func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }
    }

    private let json = Data(#"{"ID":1,"State":"open","Note":"x","Zip":"53111"}"#.utf8)

    private func text(_ value: any Encodable, _ format: PayloadFormat = PayloadFormat(), _ types: TypeRegistry = TypeRegistry()) throws
        -> String
    {
        String(decoding: try ODataEncoder(format, types: types).encode(value), as: UTF8.self)
    }

    @Test func `if the type couldn't be probed, a changed value is written instead of the one that was read`() throws {
        #expect(PropertyCatalog.of(Order.self).decodedNames == nil)
        var order = try ODataDecoder().decode(ODataEntity<Order>.self, from: json)
        #expect(order.undeclared == ["Zip": "53111"])
        order.value.State = .closed
        order.value.Note = nil
        #expect(try text(order) == #"{"ID":1,"State":"closed","Zip":"53111"}"#)
        let polymorphic = try ODataDecoder().decode(Polymorphic<Order>.self, from: json)
        #expect(polymorphic.undeclared == ["Zip": "53111"])
    }

    /// Count how often they are decoded: one whose decoded properties are known in advance, and one where they aren't.
    struct Counted: Codable, Sendable {
        static let count = Locked(0)
        var ID: Int
        var Home: DynamicEntity?

        init(from decoder: any Decoder) throws {
            Self.count.withLock { $0 += 1 }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            ID = try container.decode(Int.self, forKey: .ID)
            Home = try container.decodeIfPresent(DynamicEntity.self, forKey: .Home)
        }
    }
    struct CountedOrder: Codable, Sendable {
        static let count = Locked(0)
        var ID: Int
        var State: State

        init(from decoder: any Decoder) throws {
            Self.count.withLock { $0 += 1 }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            ID = try container.decode(Int.self, forKey: .ID)
            State = try container.decode(UndeclaredPropertiesTests.State.self, forKey: .State)
        }
    }

    @Test func `an entity is decoded once with its metadata and undeclared properties`() throws {
        let text = ##"{"@odata.etag":"e","ID":1,"Home":{"@odata.type":"#T","City":"Bonn"},"State":"open","ID@Core.Note":"n","Zip":"1"}"##
        let page = Data("{\"@odata.context\":\"c\",\"value\":[\(text)]}".utf8)
        for data in [Data(text.utf8), page] {
            func decoded<Value: Decodable & Sendable>(_ type: Value.Type) throws -> ODataEntity<Value> {
                guard data == page else { return try ODataDecoder().decode(ODataEntity<Value>.self, from: data) }
                return try #require(try ODataDecoder().decode(ODataPage<ODataEntity<Value>>.self, from: data).entities.first)
            }
            #expect(PropertyCatalog.of(Counted.self).decodedNames == ["ID", "Home"])
            #expect(PropertyCatalog.of(CountedOrder.self).decodedNames == nil)
            Counted.count.withLock { $0 = 0 }
            CountedOrder.count.withLock { $0 = 0 }
            let known = try decoded(Counted.self)
            #expect(known.undeclared == ["State": "open", "Zip": "1"] && known.value.Home == ["@odata.type": "#T", "City": "Bonn"])
            #expect(known.metadata.etag == "e" && known.metadata.propertyAnnotations == ["ID": ["Core.Note": "n"]])
            let unknown = try decoded(CountedOrder.self)
            #expect(unknown.undeclared == ["Home": ["@odata.type": "#T", "City": "Bonn"], "Zip": "1"] && unknown.metadata.etag == "e")
            #expect(Counted.count.withLock { $0 } == 1 && CountedOrder.count.withLock { $0 } == 1)
        }
    }

    /// A tree whose nodes' decoded properties aren't known in advance.
    struct Node: Codable, Sendable {
        var State: State
        var Children: [ODataEntity<Node>]
    }

    @Test func `a deep tree of such types is decoded in little time`() throws {
        let depth = 60
        let open = String(repeating: #"{"State":"open","Zip":1,"Children":["#, count: depth)
        let tree = Data((open + String(repeating: "]}", count: depth)).utf8)
        var node = try ODataDecoder().decode(ODataEntity<Node>.self, from: tree)
        for _ in 1..<depth {
            #expect(node.undeclared == ["Zip": 1])
            node = try #require(node.value.Children.first)
        }
        #expect(node.undeclared == ["Zip": 1])
    }

    @Test func `a relation of version 2 that wasn't expanded isn't an undeclared property`() throws {
        let json = Data(##"{"d":{"ID":1,"State":"open","Orders":{"__deferred":{"uri":"https://h/Orders"}}}}"##.utf8)
        #expect(try ODataDecoder().decode(ODataEntity<Order>.self, from: json).undeclared == [:])
    }

    @Test func `a declared value takes precedence over an undeclared property of the same name`() throws {
        let order = ODataEntity(Order(ID: 1, State: .closed, Note: nil), undeclared: ["State": "open", "Note": "old", "Zip": "1"])
        #expect(try text(order) == #"{"ID":1,"State":"closed","Zip":"1"}"#)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(order), as: UTF8.self) == #"{"ID":1,"State":"closed","Zip":"1"}"#)
    }

    @Test func `a type that holds all properties has no undeclared ones`() throws {
        let numbers = Data(#"{"@odata.etag":"e","a":1,"b":2}"#.utf8)
        var bag = try ODataDecoder().decode(ODataEntity<DynamicEntity>.self, from: numbers)
        #expect(bag.undeclared.properties.isEmpty)
        bag.value["a"] = 5
        #expect(try text(bag) == #"{"@odata.etag":"e","a":5,"b":2}"#)
        var all = try ODataDecoder().decode(ODataEntity<Bag>.self, from: Data(#"{"a":1}"#.utf8))
        all.value.values["a"] = 3
        let written = try text(all)
        #expect(all.undeclared.properties.isEmpty && written == #"{"a":3}"#)
    }

    @Test func `undeclared properties are written with the type name of the payload`() throws {
        struct Named: Codable, Sendable { var Name: String }
        let json = ##"{"Name":"a","When@odata.type":"#DateTimeOffset","When":"2026-11-22T00:00:00Z","Nil@odata.type":"#Guid","Nil":null}"##
        var entity = try ODataDecoder().decode(ODataEntity<Named>.self, from: Data(json.utf8))
        let written = ##"{"Name":"a","When@odata.type":"#DateTimeOffset","When":"2026-11-22T00:00:00Z","Nil":null}"##
        #expect(try text(entity) == written)
        #expect(try text(Polymorphic<Named>(from: json)) == written)
        #expect(
            try text(entity, PayloadFormat(version: .v401))
                == #"{"Name":"a","When@type":"DateTimeOffset","When":"2026-11-22T00:00:00Z","Nil":null}"#)
        #expect(try text(entity, PayloadFormat(version: .v2)) == #"{"Name":"a","When":"2026-11-22T00:00:00Z","Nil":null}"#)
        var draft = EntityDraft(of: entity)
        draft.undeclared["When"] = "2026-11-23T00:00:00Z"
        #expect(try text(draft.changes()) == ##"{"When@odata.type":"#DateTimeOffset","When":"2026-11-23T00:00:00Z"}"##)
        draft.undeclared["When"] = 5
        #expect(try text(draft.changes()) == #"{"When":5}"#)
        entity.undeclared = [:]
        #expect(try text(entity) == #"{"Name":"a"}"#)
    }

    @Test func `an entity with metadata is written with its derived type`() throws {
        var types = TypeRegistry()
        types.register(Order.self, as: "Shop.Order", derivedFrom: "Shop.Document")
        #expect(
            try text(ODataEntity(Order(ID: 1, State: .open)), PayloadFormat(), types)
                == ##"{"@odata.type":"#Shop.Order","ID":1,"State":"open"}"##)
        let json = ##"{"@odata.type":"#Shop.Return","ID":1,"State":"open","Reason":"late"}"##
        let other = try ODataDecoder().decode(ODataEntity<Order>.self, from: Data(json.utf8))
        #expect(try text(other) == json)
        #expect(try text(other, PayloadFormat(version: .v2)) == #"{"ID":1,"State":"open","Reason":"late"}"#)
        let bag = try ODataDecoder().decode(ODataEntity<DynamicEntity>.self, from: Data(json.utf8))
        #expect(try text(bag) == json)
    }
}

extension Polymorphic {
    fileprivate init(from json: String) throws {
        self = try ODataDecoder().decode(Polymorphic.self, from: Data(json.utf8))
    }
}

import Foundation
import Testing

@testable import WebServiceClient

@Suite struct FieldEncoderTests {
    private func pairs(_ value: Any, _ rules: FieldReflection = FieldReflection()) throws -> [String] {
        try rules.fields(of: value).map { "\($0.name)=\($0.value ?? "-")" }
    }

    @Test func `Coding keys rename and leave out`() throws {
        struct Query: Encodable {
            var text = "a"
            var hidden = "h"
            var size = 5
            enum CodingKeys: String, CodingKey {
                case size = "page_size"
                case text = "q"
            }
        }
        #expect(Set(try pairs(Query())) == ["q=a", "page_size=5"])
    }

    @Test func `Leaves are texts before their own encoding is asked`() throws {
        struct Query: Encodable {
            var date = Date(timeIntervalSince1970: 0)
            var uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
            var url = URL(string: "https://h/")
            var price = Decimal(string: "1.10")
            var byKey: [Kind: Int] = [.b: 1, .a: 2]
            var tags: Set<String> = ["y", "x"]
            enum Kind: String, Encodable { case a, b }
        }
        #expect(
            try pairs(Query()) == [
                "date=1970-01-01T00:00:00Z", "uuid=00000000-0000-0000-0000-000000000000", "url=https://h/", "price=1.1", "byKey[a]=2",
                "byKey[b]=1", "tags=x", "tags=y",
            ])
        struct Upload: Encodable {
            var data = Data([1])
        }
        let error = #expect(throws: ReflectionError.self) { try pairs(Upload()) }
        #expect(error?.problem == .binary)
        #expect(error?.path == "data")
    }

    @Test func `Nil of every kind is missing, not forgotten`() throws {
        struct Query: Encodable {
            var a: Bool?, b: String?, c: Double?, d: Float?, e: Int?, f: Int8?, g: Int16?, h: Int32?, i: Int64?
            var j: UInt?, k: UInt8?, l: UInt16?, m: UInt32?, n: UInt64?, o: Date?, p: [Int]?
        }
        #expect(try pairs(Query()).isEmpty)
        #expect(try pairs(Query(), .init(missing: .nameOnly)) == "abcdefghijklmnop".map { "\($0)=-" })
        #expect(
            try pairs(Query(a: true, b: "", c: 1, d: 2, e: 3, f: 4, g: 5, h: 6, i: 7, j: 8, k: 9, l: 10, m: 11, n: 12, p: [13])) == [
                "a=true", "b=", "c=1.0", "d=2.0", "e=3", "f=4", "g=5", "h=6", "i=7", "j=8", "k=9", "l=10", "m=11", "n=12", "p=13",
            ])
    }

    @Test func `Nested containers of all kinds`() throws {
        struct Query: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: FieldKey.self)
                var inner = container.nestedContainer(keyedBy: FieldKey.self, forKey: FieldKey(stringValue: "in"))
                try inner.encode(1, forKey: FieldKey(stringValue: "a"))
                var list = container.nestedUnkeyedContainer(forKey: FieldKey(stringValue: "list"))
                try list.encode("x")
                try list.encodeNil()
                var record = list.nestedContainer(keyedBy: FieldKey.self)
                try record.encode(true, forKey: FieldKey(stringValue: "b"))
                var deep = list.nestedUnkeyedContainer()
                try deep.encode(2)
                #expect(list.count == 4)
                try container.encode("late", forKey: FieldKey(stringValue: "z"))
                try inner.encode(3, forKey: FieldKey(stringValue: "c"))
                #expect(inner.codingPath.map(\.stringValue) == ["in"])
                #expect(deep.codingPath.map(\.intValue) == [nil, 3])
            }
        }
        #expect(try pairs(Query()) == ["in[a]=1", "in[c]=3", "list=x", "list[2][b]=true", "list[3]=2", "z=late"])
    }

    @Test func `A superclass may share the container or have its own encoder`() throws {
        class Base: Encodable {
            var first = 1
            enum CodingKeys: String, CodingKey { case first }
        }
        final class Shared: Base {
            override func encode(to encoder: any Encoder) throws {
                try super.encode(to: encoder)
                var container = encoder.container(keyedBy: FieldKey.self)
                try container.encode(2, forKey: FieldKey(stringValue: "second"))
            }
        }
        final class Apart: Base {
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: FieldKey.self)
                try container.encode(2, forKey: FieldKey(stringValue: "second"))
                try super.encode(to: container.superEncoder())
            }
        }
        #expect(try pairs(Shared()) == ["first=1", "second=2"])
        #expect(try pairs(Apart()) == ["second=2", "super[first]=1"])
    }

    @Test func `Enums with payload go by their encoding, bare ones are refused`() throws {
        enum Sort: Encodable {
            case by(name: String)
            case none
        }
        #expect(try pairs(["sort": Sort.by(name: "x")]) == ["sort[by][name]=x"])
        let error = #expect(throws: ReflectionError.self) { try pairs(["sort": Sort.none]) }
        #expect(error?.problem == .enumWithoutRawValue)
        #expect(error?.path == "sort")
    }

    @Test func `Mixed containers are an error, and the type's own error comes through`() {
        struct Refusal: Error {}
        struct Mixed: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: FieldKey.self)
                try container.encode(1, forKey: FieldKey(stringValue: "a"))
                var list = encoder.unkeyedContainer()
                try list.encode(2)
            }
        }
        struct Twice: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(1)
                try container.encode(2)
            }
        }
        struct Refusing: Encodable {
            func encode(to _: any Encoder) throws { throw Refusal() }
        }
        for value in [Mixed(), Twice()] as [Any] {
            let error = #expect(throws: ReflectionError.self) { try FieldReflection().fields(of: value, named: "n") }
            #expect(error?.problem == .mixedContainers)
        }
        #expect(throws: Refusal.self) { try pairs(["k": Refusing()]) }
    }

    @Test func `A type that encodes itself endlessly is stopped`() {
        struct Endless: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(self)
            }
        }
        let error = #expect(throws: ReflectionError.self) { try pairs(["k": Endless()]) }
        #expect(error?.problem == .tooDeep(limit: 32))
    }
}

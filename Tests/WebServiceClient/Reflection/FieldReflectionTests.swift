import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct FieldReflectionTests {
    struct Filter {
        var text: String
        var page: Int?
        var tags: [String]
        var range: Range
        struct Range {
            var low: Double
            var high: Double?
        }
    }
    private static let filter = Filter(text: "a&b", page: nil, tags: ["x", "y"], range: .init(low: 1.5, high: nil))

    private func pairs(_ value: Any, _ rules: FieldReflection = FieldReflection(), named name: String? = nil) throws -> [String] {
        try rules.fields(of: value, named: name).map { field in field.value.map { "\(field.name)=\($0)" } ?? field.name }
    }

    @Test func `A struct gives its properties in order, nil left out`() throws {
        #expect(try pairs(Self.filter) == ["text=a&b", "tags=x", "tags=y", "range[low]=1.5"])
    }

    @Test func `A name stands before a structure's names`() throws {
        #expect(try pairs(Self.filter, named: "f") == ["f[text]=a&b", "f[tags]=x", "f[tags]=y", "f[range][low]=1.5"])
    }

    @Test func `Strategies for arrays, nesting and nil`() throws {
        #expect(try pairs(Self.filter, .init(arrays: .brackets)) == ["text=a&b", "tags[]=x", "tags[]=y", "range[low]=1.5"])
        #expect(
            try pairs(Self.filter, .init(arrays: .comma, nesting: .dots, missing: .empty))
                == ["text=a&b", "page=", "tags=x,y", "range.low=1.5", "range.high="])
        #expect(
            try pairs(Self.filter, .init(missing: .nameOnly)) == ["text=a&b", "page", "tags=x", "tags=y", "range[low]=1.5", "range[high]"])
    }

    @Test func `Commas inside a member are encoded, those between aren't`() throws {
        let fields = try FieldReflection(arrays: .comma).fields(of: ["k": ["a,b", "c d"]])
        #expect(fields == [ReflectedField(name: "k", members: ["a,b", "c d"])])
        #expect(URLEncoding.query(of: fields) == "k=a%2Cb,c%20d")
        #expect(URLEncoding.form(of: fields + [ReflectedField(name: "n", value: nil)]) == "k=a%2Cb,c+d&n")
    }

    @Test func `Nil inside a list follows the same rule`() throws {
        let value = ["k": [1, nil, 3] as [Int?]]
        #expect(try pairs(value) == ["k=1", "k=3"])
        #expect(try pairs(value, .init(missing: .empty)) == ["k=1", "k=", "k=3"])
        #expect(try pairs(value, .init(arrays: .comma)) == ["k=1,3"])
        #expect(try pairs(value, .init(arrays: .comma, missing: .empty)) == ["k=1,,3"])
    }

    @Test func `Dictionaries are sorted by key, ordered pairs are not, sets are sorted by text`() throws {
        #expect(try pairs(["b": 1, "a": 2, "c": 3]) == ["a=2", "b=1", "c=3"])
        #expect(try pairs(["b": 1, "a": 2] as KeyValuePairs) == ["b=1", "a=2"])
        #expect(try pairs([2: "x", 10: "y"]) == ["10=y", "2=x"])
        #expect(try pairs([AnyHashable("k"): 1 as Any]) == ["k=1"])
        #expect(try pairs(Set([3, 1, 20]), named: "s") == ["s=1", "s=20", "s=3"])
        #expect(try pairs(["k": Set(["b", "a"])]) == ["k=a", "k=b"])
    }

    @Test func `Lists and structures inside a list are told apart by index`() throws {
        let value: [String: Any] = ["k": [["a": 1], ["a": 2]], "l": [[1, 2], [3]]]
        #expect(try pairs(value) == ["k[0][a]=1", "k[1][a]=2", "l[0]=1", "l[0]=2", "l[1]=3"])
        #expect(try pairs(value, .init(arrays: .brackets, nesting: .dots)) == ["k.0.a=1", "k.1.a=2", "l.0[]=1", "l.0[]=2", "l.1[]=3"])
        let error = #expect(throws: ReflectionError.self) { try pairs(value, .init(arrays: .comma)) }
        #expect(error?.problem == .structureInCommaList)
        #expect(error?.path == "k[0]")
    }

    @Test func `Empty lists and structures give no field`() throws {
        struct Nothing {}
        #expect(try pairs(Nothing()).isEmpty)
        #expect(try pairs(["k": [Int]()]).isEmpty)
        #expect(try pairs([Int](), .init(arrays: .comma), named: "k").isEmpty)
        #expect(try pairs(Filter?.none as Any).isEmpty)
    }

    @Test func `A single value or list needs a name`() throws {
        #expect(try pairs(5, named: "n") == ["n=5"])
        #expect(try pairs([1, 2], named: "n") == ["n=1", "n=2"])
        for value in [5, [1], "a"] as [Any] {
            #expect(throws: ReflectionError.self) { try pairs(value) }
        }
    }

    @Test func `Tuples go by their labels`() throws {
        #expect(try pairs((text: "a", page: 2)) == ["text=a", "page=2"])
        let error = #expect(throws: ReflectionError.self) { try pairs((1, 2)) }
        #expect(error?.problem == .unlabelledElement)
    }

    @Test func `Hostile names and values survive a form, field by field`() throws {
        struct Flat: Codable, Equatable {
            var first: String
            var second: String?
            var number: Int
            var isSet: Bool
        }
        for (index, text) in RandomText.hostile(seed: 7, count: 300).enumerated() {
            let value = Flat(first: text, second: index.isMultiple(of: 2) ? text : nil, number: index, isSet: index.isMultiple(of: 3))
            let body = URLEncoding.form(of: try FieldReflection().fields(of: value))
            let read = Dictionary(uniqueKeysWithValues: (URLEncoding.parseForm(body) ?? []).map { ($0.name, $0.value ?? "") })
            #expect(
                Flat(
                    first: read["first"] ?? "-", second: read["second"], number: Int(read["number"] ?? "") ?? -1,
                    isSet: read["isSet"] == "true") == value)
            let named = URLEncoding.form(of: try FieldReflection().fields(of: [text: "v"]))
            #expect(URLEncoding.parseForm(named)?.first?.name == text)
        }
    }

    @Test func `An error names place and type, never the value`() {
        struct Login {
            var password = [[Data("secret".utf8)]]
        }
        let error = #expect(throws: ReflectionError.self) { try pairs(["login": Login()]) }
        #expect(error?.path == "login.password[0][0]")
        #expect(error?.type == "Data")
        #expect(error?.description.contains("secret") == false)
    }
}

import Foundation
import TestSupport
import Testing
import WebServiceClient

@Suite struct FormSerializerTests {
    struct Order: Codable, Equatable {
        struct Line: Codable, Equatable {
            var article: String
            var count: Int
        }

        enum Speed: String, Codable { case slow, fast }

        var id: Int64
        var note: String?
        var tags: [String] = []
        var isPaid = false
        var weight = 0.0
        var speed = Speed.slow
        var first: Line?
        var placed: Date?
        var link: URL?
        var lines: [Line] = []
        var matrix: [[Int]] = []
        var counts: [String: Int] = [:]
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ form: String, at path: String...) throws -> Value {
        try FormSerializer().decode(type, from: Data(form.utf8), at: path, contentType: nil)
    }

    private enum Tree: Decodable, Equatable {
        case text(String)
        indirect case list([Tree])

        init(from decoder: any Decoder) throws {
            if let list = try? [Tree](from: decoder) { self = .list(list) } else { self = .text(try String(from: decoder)) }
        }
    }

    @Test func `A value isn't a list of itself for ever`() throws {
        #expect(try decode([String: Tree].self, "a=1&b=2&b=3") == ["a": .list([.text("1")]), "b": .list([.text("2"), .text("3")])])
    }

    @Test func `An index at the end of the numbers doesn't trap`() throws {
        let form = "a[9223372036854775807][b]=1&a[][b]=2&a[][b]=3"
        _ = try? decode([String: [[String: String]]].self, form)
        #expect(try decode([String: [[String: [String]]]].self, form)["a"]?.first?["b"] == ["1", "2", "3"])
    }

    @Test(arguments: FieldReflection.ArrayStrategy.allCases)
    func `A text may contain the separator of lists`(arrays: FieldReflection.ArrayStrategy) throws {
        let serializer = FormSerializer(FieldReflection(arrays: arrays))
        let values = ["name": "Ada, Countess of | Lovelace", "none": "", "mark": "a \u{301}b|\u{301},\u{301}", "one": "x", "ends": " ,| "]
        let form = try serializer.encode(values)
        #expect(try serializer.decode([String: String].self, from: form, at: [], contentType: nil) == values)
    }

    @Test func `The type decides whether a separator divides a field`() throws {
        struct Answer: Decodable, Equatable {
            var scope: String
            var names: [String]
        }
        func read<Value: Decodable>(_ arrays: FieldReflection.ArrayStrategy, _ form: String) throws -> Value {
            let serializer = FormSerializer(FieldReflection(arrays: arrays))
            return try serializer.decode(Value.self, from: Data(form.utf8), at: [], contentType: nil)
        }
        let answer = Answer(scope: "repo,gist", names: ["a", "b,c", ""])
        #expect(try read(.comma, "scope=repo,gist&names=a,b%2Cc,") == answer)
        #expect(try read(.comma, "scope=repo%2Cgist&names=a&names=b%2Cc&names=") == answer)
        #expect(try read(.space, "scope=read+write&names=a%20b") == Answer(scope: "read write", names: ["a", "b"]))
        #expect(try read(.pipe, "scope=a%7Cb&names=a|b") == Answer(scope: "a|b", names: ["a", "b"]))
        #expect(try read(.comma, "a=1,2&a=3") == ["a": [1, 2, 3]])
        #expect(try read(.comma, "a[][b]=1,2&a[][b]=3") == ["a": [["b": [1, 2]], ["b": [3]]]])
        // Two fields aren't one text, and two numbers aren't one number.
        #expect(throws: SerializationError.self) { let _: [String: String] = try read(.comma, "a=1,2&a=3") }
        #expect(throws: (any Error).self) { let _: [String: Int] = try read(.comma, "a=1,2") }
    }

    @Test func `Forms follow the array strategy unless their serializer has rules of its own`() async throws {
        struct Tags: Codable, Sendable { var tags = ["a", "b"] }
        func body(_ serializer: FormSerializer, _ arrays: FieldReflection.ArrayStrategy? = nil) async throws -> String {
            let client = WebServiceClient(serviceRoot: "https://a.test") {
                $0.serializer = serializer
                $0.arrays = .brackets
            }
            let request = try await client.dryRun { client in
                try await client.http.post("/", Tags()).describing { arrays.map($0.arrays) ?? $0 }.send()
            }
            return String(decoding: request.body?.data ?? Data(), as: UTF8.self)
        }
        #expect(try await body(FormSerializer()) == "tags%5B%5D=a&tags%5B%5D=b")
        #expect(try await body(FormSerializer(), .comma) == "tags=a,b")
        #expect(try await body(FormSerializer(), .repeatedKey) == "tags=a&tags=b")
        #expect(try await body(FormSerializer(FieldReflection()), .comma) == "tags=a&tags=b")
        let endpoint = try await WebServiceClient(serviceRoot: "https://a.test").dryRun { client in
            try await client.http.post("/", Tags()).describing { $0.serializer(FormSerializer()).arrays(.comma) }.send()
        }
        #expect(endpoint.body?.data == Data("tags=a,b".utf8))
    }

    @Test func `Flat fields of every simple kind`() throws {
        let form =
            "id=-5&note=a%26b+c%3D&isPaid=true&weight=1.5&speed=fast&placed=1970-01-01T00%3A00%3A01Z&tags=x&link=https%3A%2F%2Fa.example"
        let order = try decode(Order.self, form)
        #expect(order.id == -5)
        #expect(order.note == "a&b c=")
        #expect(order.isPaid)
        #expect(order.weight == 1.5)
        #expect(order.speed == .fast)
        #expect(order.placed == Date(timeIntervalSince1970: 1))
        #expect(order.tags == ["x"])
        #expect(order.link?.host() == "a.example")
        #expect(order.first == nil)
    }

    @Test func `A token response of OAuth`() throws {
        struct Token: Decodable {
            var access_token: String
            var expires_in: Int?
            var scope: String
        }
        let token = try decode(Token.self, "access_token=e72e16c7e42f292c&scope=repo%2Cgist&token_type=bearer")
        #expect(token.scope == "repo,gist")
        #expect(token.expires_in == nil)
    }

    @Test(
        "Arrays in every spelling",
        arguments: ["a=1&a=2&a=3", "a[]=1&a[]=2&a[]=3", "a%5B%5D=1&a%5B%5D=2&a%5B%5D=3", "a[0]=1&a[1]=2&a[2]=3", "a[2]=3&a[0]=1&a[1]=2"])
    func arrays(form: String) throws {
        #expect(try decode([String: [Int]].self, form) == ["a": [1, 2, 3]])
        #expect(try decode([Int].self, form, at: "a") == [1, 2, 3])
        #expect(try decode(Int.self, form, at: "a", "1") == 2)
    }

    @Test func `Nested fields`() throws {
        #expect(
            try decode([String: [String: [String: Int]]].self, "a[b][c]=1&a[b][d]=2&a[e][f]=3") == [
                "a": ["b": ["c": 1, "d": 2], "e": ["f": 3]]
            ])
        let lines = try decode([Order.Line].self, "l[0][article]=x&l[0][count]=1&l[1][article]=y&l[1][count]=2", at: "l")
        #expect(lines == [Order.Line(article: "x", count: 1), Order.Line(article: "y", count: 2)])
        let unnumbered = try decode([Order.Line].self, "l[][article]=x&l[][count]=1&l[][article]=y&l[][count]=2", at: "l")
        #expect(unnumbered == lines)
    }

    @Test func `Names that only look nested are taken as they are`() throws {
        let fields = try decode([String: String].self, "a[b=1&a]b=2&[c]=3&a[b]c=4&%5B=5&=6&d")
        #expect(fields == ["a[b": "1", "a]b": "2", "[c]": "3", "a[b]c": "4", "[": "5", "": "6", "d": ""])
    }

    @Test func `Bytes as they come: broken escapes, other charsets`() throws {
        #expect(try decode([String: String].self, "a=100%&b=%zz&c=%4") == ["a": "100%", "b": "%zz", "c": "%4"])
        let latin = try FormSerializer().decode(
            [String: String].self, from: Data("a=%E9".utf8), at: [], contentType: "application/x-www-form-urlencoded; charset=iso-8859-1")
        #expect(latin == ["a": "é"])
        #expect(throws: SerializationError.self) { try decode([String: String].self, "a=%E9") }
    }

    @Test func `What doesn't fit is told by its field`() {
        let many = #expect(throws: SerializationError.self) { try decode([String: Int].self, "a=1&a=2") }
        #expect(many?.message == "The form has 2 values at “a”, where one value is needed.")
        let wrong = #expect(throws: SerializationError.self) { try decode(Order.self, "id=x") }
        #expect(wrong?.message == "“x” at “id” can't be read as Int64.")
        #expect(throws: DecodingError.self) { try decode(Order.self, "note=x") }
        let bare = #expect(throws: DecodingError.self) { try decode(Order.self, "id=1") }
        #expect(bare.map { String(describing: $0).contains("isPaid") } == true)
        #expect(throws: SerializationError.self) { try decode([String: Int].self, "a[b]=1") }
        #expect(throws: SerializationError.self) { try decode([String: [String: Int]].self, "a=1") }
        let root = #expect(throws: SerializationError.self) { try decode(Int.self, "a[b]=1", at: "a", "c") }
        #expect(root?.kind == .root)
        #expect(root?.message.contains("“b”") == true)
        let deep = "a" + String(repeating: "[b]", count: 10_000) + "=1"
        #expect(throws: SerializationError.self) { try decode([String: Int].self, deep) }
    }

    @Test func `Written as browsers do`() throws {
        let order = Order(id: 1, note: "a&b c=ü", tags: ["x", "y"], first: Order.Line(article: "z", count: 2))
        let form = String(decoding: try FormSerializer().encode(order), as: UTF8.self)
        #expect(
            form == "id=1&note=a%26b+c%3D%C3%BC&tags=x&tags=y&isPaid=false&weight=0.0&speed=slow&first%5Barticle%5D=z&first%5Bcount%5D=2")
        #expect(throws: ReflectionError.self) { try FormSerializer().encode("alone") }
    }

    @Test func `What is written can be read again, in every dialect`() throws {
        var seed = SerializationSeed(12)
        func line() -> Order.Line { Order.Line(article: seed.text(upTo: 10), count: Int(truncatingIfNeeded: seed.next())) }
        for round in 0..<600 {
            let arrays = FieldReflection.ArrayStrategy.allCases[round % 3]
            let serializer = FormSerializer(
                FieldReflection(
                    arrays: arrays, nesting: FieldReflection.NestingStrategy.allCases[round % 2],
                    missing: FieldReflection.NilStrategy.allCases[round % 5 % 3]))
            var order = Order(id: Int64(bitPattern: seed.next()))
            // One of the dialects encodes nil as an empty text.
            if Bool.random(using: &seed) { order.note = "n" + seed.text(upTo: 20) }
            order.tags = (0..<Int.random(in: 0...3, using: &seed)).map { _ in "t" + seed.text(upTo: 8) }
            order.isPaid = Bool.random(using: &seed)
            order.weight = Double(Int32(truncatingIfNeeded: seed.next())) / 7
            if Bool.random(using: &seed) { order.first = line() }
            if Bool.random(using: &seed) { order.placed = Date(timeIntervalSince1970: Double(Int32(truncatingIfNeeded: seed.next()))) }
            if arrays != .comma { order.lines = (0..<Int.random(in: 0...3, using: &seed)).map { _ in line() } }
            order.matrix = arrays == .comma ? [] : [[1, 2], [3], [4, 5, 6]]
            order.counts = ["a b": 1, "c": 2]
            let data = try serializer.encode(order)
            let read = try serializer.decode(Order.self, from: data, at: [], contentType: serializer.contentType)
            #expect(read == order, "\(String(decoding: data, as: UTF8.self))")
        }
    }

    @Test func `Any bytes are a form or an error`() {
        var seed = SerializationSeed(10)
        for _ in 0..<3000 {
            _ = try? FormSerializer().decode([String: [String]].self, from: Data(seed.bytes(upTo: 40)), at: [], contentType: nil)
            let form = (0..<4).map { _ in "a[b][]=&%5B1%5D+".shuffled(using: &seed) }.map { String($0) }.joined()
            _ = try? decode([String: [String: [String]]].self, form)
            _ = try? decode([[String: Int]].self, form, at: "a")
        }
    }
}

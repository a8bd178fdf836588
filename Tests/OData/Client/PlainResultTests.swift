import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Strings, bytes and other primitive values as results, and null results.
@Suite struct PlainResultTests {
    struct Item: Decodable, Sendable, Equatable { let Id: Int }
    struct Loose: Decodable, Sendable, Equatable { let Name: String? }
    struct Setting: Decodable, Sendable, Equatable { let value: Int? }
    enum Colour: String, Decodable, Sendable { case red = "Red" }
    /// Types that decode themselves from one value or from an array.
    struct Money: Decodable, Sendable, Equatable {
        let amount: EdmDecimal
        init(_ amount: EdmDecimal) { self.amount = amount }
        init(from decoder: any Decoder) throws { amount = try decoder.singleValueContainer().decode(EdmDecimal.self) }
    }
    struct Label: Decodable, Sendable, Equatable {
        let text: String
        init(_ text: String) { self.text = text }
        init(from decoder: any Decoder) throws { text = try String(from: decoder) }
    }
    struct Place: Decodable, Sendable, Equatable {
        let x, y: Int
        init(_ x: Int, _ y: Int) { (self.x, self.y) = (x, y) }
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            (x, y) = (try container.decode(Int.self), try container.decode(Int.self))
        }
    }

    private let stub = StubTransport()
    private let name = EntityRequest<String>(at: "E(1)/Name")
    private let function = ResourcePath(function: "F")

    /// The bodies with a value as the result of a property or a function, by version.
    static func bodies(_ value: String, v2: String? = nil) -> [(ODataVersion, String)] {
        [
            (.v4, #"{"@odata.context":"$metadata#E(1)/Name","value":\#(value)}"#), (.v4, #"{"value":\#(value)}"#),
            (.v4, ##"{"@odata.context":"x","@odata.type":"#Edm.X","value@a.b":1,"value":\##(value)}"##),
            (.v401, #"{"@context":"$metadata#Edm.String","value":\#(value)}"#),
            (.v2, #"{"d":{"Name":\#(v2 ?? value)}}"#), (.v2, #"{"d":{"F":\#(v2 ?? value)}}"#),
            (.v2, #"{"d":{"__metadata":{"type":"Edm.String"},"Name":\#(v2 ?? value)}}"#),
        ]
    }

    /// A value at every entry point that returns one.
    private func expect<Value: Decodable & Sendable & Equatable>(
        _ value: Value, from four: String, v2: String? = nil, location: SourceLocation = #_sourceLocation
    ) async throws {
        for (version, body) in Self.bodies(four, v2: v2) {
            let client = stub.client(version)
            for type in ["application/json", "application/json;odata.metadata=minimal;charset=utf-8", "application/vnd.x+json"] {
                stub.fallback(.data(Data(body.utf8), type: type))
                #expect(try await client.evaluate(function) as Value == value, "\(version) \(body)", sourceLocation: location)
                #expect(try await client.evaluate(function) as Value? == value, sourceLocation: location)
                #expect(try await client.invoke(ResourcePath(entitySet: "A")) as Value == value, sourceLocation: location)
                #expect(try await client.fetch(EntityRequest<Value>(at: "E(1)/Name")) == value, sourceLocation: location)
                #expect(try await client.fetch(EntityRequest<Value?>(at: "E(1)/Name")) == value, sourceLocation: location)
                #expect(try await client.fetchIfPresent(EntityRequest<Value>(at: "E(1)/Name")) == value, sourceLocation: location)
            }
        }
        for body in [#"{"value":[\#(four)]}"#, #"{"d":{"results":[\#(v2 ?? four)]}}"#, #"{"d":[\#(v2 ?? four)]}"#] {
            let client = stub.client()
            stub.fallback(.json(body))
            #expect(try await client.evaluate(function) as [Value] == [value], "\(body)", sourceLocation: location)
            #expect(try await client.fetch(FetchRequest<Value>(from: "E(1)/Names")) == [value], sourceLocation: location)
        }
        let client = stub.client(.v2)
        stub.fallback(.json(#"{"d":{"F":[\#(v2 ?? four)]}}"#))
        #expect(try await client.evaluate(function) as [Value] == [value], sourceLocation: location)
        stub.fallback(.json(#"{"d":{"F":{"__metadata":{"type":"Collection(Edm.X)"},"results":[\#(v2 ?? four)]}}}"#))
        #expect(try await client.evaluate(function) as [Value] == [value], sourceLocation: location)
    }

    @Test func `strings are values and not their JSON`() async throws {
        for (text, json) in [
            ("abc", #""abc""#), ("", #""""#), ("a\"b\\\n", #""a\"b\\\n""#), ("ü😀", #""\u00fc\ud83d\ude00""#),
            ("{\"value\":1}", #""{\"value\":1}""#),
            ("null", #""null""#), ("<a/>", #""<a/>""#),
        ] { try await expect(text, from: json) }
    }

    @Test func `bytes are values, in base64url and in base64`() async throws {
        try await expect(Data([0xFB, 0xFF]), from: #""-_8""#, v2: #""+/8=""#)
        try await expect(Data([0xFB, 0xFF]), from: #""+/8=""#)
        try await expect(Data(), from: #""""#)
        try await expect(Data("abc".utf8), from: #""YWJj""#)
        try await expect(EdmBinary(Data([0xFB, 0xFF])), from: #""-_8""#, v2: #""+/8=""#)
    }

    @Test func `other primitive values are read`() async throws {
        try await expect(5, from: "5")
        try await expect(Int64(9_007_199_254_740_993), from: "9007199254740993", v2: #""9007199254740993""#)
        try await expect(true, from: "true")
        try await expect(1.5, from: "1.5", v2: #""1.5""#)
        try await expect(Float(1.5), from: "1.5", v2: #""1.5""#)
        try await expect(UInt8(7), from: "7")
        try await expect(#require(Decimal(string: "1.50")), from: "1.50", v2: #""1.50""#)
        try await expect(#require(EdmDecimal("1.50")), from: "1.50", v2: #""1.50""#)
        try await expect(
            #require(UUID(uuidString: "01020304-0506-0708-090a-0b0c0d0e0f10")), from: #""01020304-0506-0708-090a-0b0c0d0e0f10""#)
        try await expect(Date(timeIntervalSince1970: 0), from: #""1970-01-01T00:00:00Z""#, v2: #""/Date(0)/""#)
        try await expect(#require(EdmDate("2026-11-21")), from: #""2026-11-21""#, v2: #""/Date(1795219200000)/""#)
        try await expect(#require(EdmTimeOfDay("13:20:00")), from: #""13:20:00""#, v2: #""PT13H20M""#)
        try await expect(Duration.seconds(5), from: #""PT5S""#)
        try await expect(#require(URL(string: "https://h/a")), from: #""https://h/a""#)
        try await expect(Colour.red, from: #""Red""#)
    }

    @Test func `types with their own decoding are read from one value`() async throws {
        try await expect(Money(#require(EdmDecimal("5.50"))), from: "5.50", v2: #""5.50""#)
        try await expect(Label("abc"), from: #""abc""#)
        try await expect(Presence.value("abc"), from: #""abc""#)
        try await expect(Presence.value(EdmBinary(Data([0xFB]))), from: #""-w""#, v2: #""+w==""#)
        let client = stub.client()
        for body in [
            #"{"value":[1,2]}"#, #"{"d":{"F":[1,2]}}"#, #"{"d":{"results":[1,2]}}"#, #"{"d":{"F":{"results":[1,2]}}}"#, #"{"d":[1,2]}"#,
        ] {
            stub.fallback(.json(body))
            #expect(try await client.evaluate(function) as Place == Place(1, 2), "\(body)")
            #expect(try await client.evaluate(function) as Presence<[Int]> == .value([1, 2]), "\(body)")
        }
        for body in Self.nulls {
            stub.fallback(.json(body))
            #expect(try await client.evaluate(function) as Money? == nil)
            #expect(try await client.evaluate(function) as Place? == nil)
        }
        // The reason is the value's, with its place.
        stub.fallback(.json(#"{"value":"abc"}"#))
        let error = await #expect(throws: ServiceError.self) { let _: Money = try await client.evaluate(self.function) }
        #expect(error?.message.contains("'abc' isn't a number at value") == true, "\(String(describing: error))")
    }

    @Test func `a collection isn't read as one entity without properties`() async throws {
        let all = [
            #"{"value":[{"Name":"a"}]}"#, #"{"@odata.context":"$metadata#E","value":[{"Name":"a"},{"Name":"b"}]}"#, #"{"value":[]}"#,
            #"{"@odata.count":5,"value":[{"Name":"a"}],"@odata.nextLink":"E?x"}"#, #"{"d":{"results":[{"Name":"a"}]}}"#,
            #"{"d":{"results":[{"Name":"a"}],"__count":"1","__next":"E?x"}}"#, #"{"d":{"results":[]}}"#, #"{"value":["a"]}"#,
        ]
        for version in ODataVersion.allCases {
            let client = stub.client(version)
            for body in all {
                stub.fallback(.json(body))
                for call: () async throws -> Void in [
                    { _ = try await client.fetch(EntityRequest<Loose>(at: "E")) },
                    { _ = try await client.fetchIfPresent(EntityRequest<Loose>(at: "E")) },
                    { _ = try await client.entity(EntityRequest<Loose>(at: "E")) },
                    { let _: Loose? = try await client.evaluate(self.function) },
                    { let _: Loose = try await client.invoke(ResourcePath(entitySet: "A")) },
                ] {
                    let error = await #expect(throws: ServiceError.self, "\(body)") { try await call() }
                    #expect(error?.message.contains("is a collection") == true, "\(body): \(String(describing: error))")
                }
                // A type of any properties is read.
                _ = try await client.fetch(EntityRequest<DynamicEntity>(at: "E"))
            }
            // An entity may have a property of that name.
            stub.fallback(.json(##"{"@odata.context":"$metadata#E/$entity","value":["a"]}"##))
            #expect(try await client.fetch(EntityRequest<Loose>(at: "E(1)")) == Loose(Name: nil))
        }
    }

    @Test func `raw values, counts and media are the unchanged body`() async throws {
        for version in ODataVersion.allCases {
            let client = stub.client(version)
            for (path, type, body) in [
                ("E(1)/Name/$value", "text/plain", "abc"), ("E(1)/Name/$value", "application/json", #"{"value":"x"}"#),
                ("E(1)/$value", "application/json", #"["a"]"#), ("E(1)/$value", "image/png", "\u{1}"), ("E/$count", "text/plain", "5"),
                ("E/$count", "application/json", "5"), ("$metadata", "application/xml", "<edmx/>"), ("E(1)/$value", "text/html", "<p>"),
            ] {
                stub.fallback(.data(Data(body.utf8), type: type))
                #expect(try await client.fetch(EntityRequest<String>(at: path)) == body)
                #expect(try await client.fetch(EntityRequest<Data>(at: path)) == Data(body.utf8))
                #expect(try await client.evaluate(ResourcePath(path)) as Data? == Data(body.utf8))
            }
            stub.fallback(.text("36"))
            #expect(try await client.fetch(EntityRequest<Int>(at: "E(1)/Age/$value")) == 36)
            #expect(try await client.count(of: FetchRequest<Item>(from: "E")) == 36)
        }
    }

    @Test func `a raw value of another type is read from its text`() async throws {
        func expect<Value: Decodable & Sendable & Equatable>(
            _ value: Value?, from text: String, location: SourceLocation = #_sourceLocation
        ) async throws {
            let value = try #require(value, sourceLocation: location)
            for version in ODataVersion.allCases {
                let client = stub.client(version)
                for type in ["text/plain", "text/plain;charset=utf-8", ""] {
                    stub.fallback(.data(Data(text.utf8), type: type))
                    let request = EntityRequest<Value>(at: "E(1)/Name/$value")
                    #expect(try await client.fetch(request) == value, sourceLocation: location)
                    #expect(try await client.fetchIfPresent(request) == value, sourceLocation: location)
                    #expect(try await client.fetch(EntityRequest<Value?>(at: "E(1)/Name/$value")) == value, sourceLocation: location)
                    #expect(try await client.evaluate(ResourcePath("F()/$value")) as Value == value, sourceLocation: location)
                }
            }
        }
        try await expect(Date(timeIntervalSince1970: 0), from: "1970-01-01T00:00:00Z")
        try await expect(EdmDateTimeOffset("2026-11-28T01:02:03.5+01:00"), from: "2026-11-28T01:02:03.5+01:00\r\n")
        try await expect(EdmDate("2026-11-28"), from: "2026-11-28")
        try await expect(EdmTimeOfDay("13:20:00"), from: "13:20:00")
        try await expect(Duration.seconds(5), from: "PT5S")
        try await expect(
            UUID(uuidString: "01020304-0506-0708-090a-0b0c0d0e0f10"), from: "01020304-0506-0708-090a-0b0c0d0e0f10")
        try await expect(Colour.red, from: "Red")
        try await expect(OpenEnumeration<Colour>.unknown("Blue"), from: "Blue")
        try await expect(Double.infinity, from: "INF")
        try await expect(EdmDecimal("1.50"), from: "1.50")
        try await expect(true, from: "true")
        try await expect(5, from: "5")
        try await expect(EdmBinary(Data("5".utf8)), from: "5")
        try await expect(Label("a b"), from: "a b")
        // Neither a page nor a text that isn't one of the type.
        let client = stub.client()
        for (type, body) in [("text/html", "<html/>"), ("text/plain", "down"), ("application/xml", "2026-11-28")] {
            stub.fallback(.data(Data(body.utf8), type: type))
            await #expect(throws: ServiceError.self) { try await client.fetch(EntityRequest<EdmDate>(at: "E(1)/Name/$value")) }
        }
        stub.fallback(.data(Data("<html/>".utf8), type: "text/html"))
        await #expect(throws: ServiceError.self) { try await client.fetch(EntityRequest<OpenEnumeration<Colour>>(at: "E(1)/A/$value")) }
    }

    @Test func `bytes of a stream property are the body, and an answer of another kind isn't a text`() async throws {
        let client = stub.client()
        for type in ["image/png", "application/octet-stream", "application/pdf", "application/xml", "text/css"] {
            stub.fallback(.data(Data([1, 2, 3]), type: type))
            #expect(try await client.fetch(EntityRequest<Data>(at: "E(1)/Thumb")) == Data([1, 2, 3]))
        }
        for (type, body) in [("text/html", "<html><title>Sign in</title></html>"), ("multipart/mixed; boundary=b", "--b\r\n\r\n--b--")] {
            stub.fallback(.data(Data(body.utf8), type: type))
            let error = await #expect(throws: ServiceError.self) { try await client.fetch(name) }
            #expect(error?.kind == .format && error?.message.contains(type.prefix { $0 != ";" }) == true, "\(String(describing: error))")
            await #expect(throws: ServiceError.self) { try await client.fetch(EntityRequest<Data>(at: "E(1)/Seal")) }
        }
        stub.fallback(.json(#"{"value":"no base 64!"}"#))
        await #expect(throws: ServiceError.self) { try await client.fetch(EntityRequest<Data>(at: "E(1)/Seal")) }
        stub.fallback(.json(#"{"value":5}"#))
        await #expect(throws: ServiceError.self) { try await client.fetch(name) }
    }

    @Test func `declared endpoints read texts and bytes by the media type`() async throws {
        final class Shop: ODataClient, @unchecked Sendable {
            override class var endpoints: EndpointTable {
                ["label()": .get("/Label()"), "seal()": .get("/Seal()"), "raw()": .get("/E(1)/$value").raw(), "count()": .get("/E/$count")]
            }
            func label() async throws -> String? { try await call() }
            func seal() async throws -> Data { try await call() }
            func raw() async throws -> Data { try await call() }
            func count() async throws -> String { try await call() }
        }
        let shop = Shop(serviceRoot: "https://h.example/svc/") { $0.transport = stub }
        stub.fallback(.json(#"{"@odata.context":"x","value":"abc"}"#))
        #expect(try await shop.label() == "abc")
        #expect(try await shop.raw() == Data(#"{"@odata.context":"x","value":"abc"}"#.utf8))
        #expect(stub.requests.map { $0.request.headers[.accept] } == ["application/json;odata.metadata=minimal", "*/*"])
        stub.fallback(.json(#"{"value":null}"#))
        #expect(try await shop.label() == nil)
        stub.fallback(.json(#"{"value":"-_8"}"#))
        #expect(try await shop.seal() == Data([0xFB, 0xFF]))
        stub.fallback(.data(Data([1]), type: "image/png"))
        #expect(try await shop.seal() == Data([1]))
        stub.fallback(.text("5"))
        #expect(try await shop.count() == "5")
    }

    // MARK: Null

    static let nulls = [
        "null", #"{"value":null}"#, #"{"@odata.context":"$metadata#Edm.Null","@odata.null":true}"#, #"{"@odata.null":true}"#,
        #"{"@null":true}"#,
        #"{"odata.null":true}"#, #"{"odata.metadata":"x#Edm.Null","odata.null":true}"#, #"{"d":null}"#, #"{"d":{"F":null}}"#,
        #"{"@context":"$metadata#Edm.String","value":null}"#, #"{"@odata.context":"https://h.example/svc/$metadata#Edm.Null"}"#,
        ##"{"@odata.context":"x","@odata.type":"#N.T","value":null}"##, #"{"@odata.null":"true"}"#, " null ",
    ]

    @Test(arguments: nulls) func `a null result is nil`(body: String) async throws {
        stub.fallback(.json(body))
        for version in ODataVersion.allCases {
            let client = stub.client(version)
            stub.fallback(.json(body))
            #expect(try await client.evaluate(function) as Int? == nil)
            #expect(try await client.evaluate(function) as String? == nil)
            #expect(try await client.evaluate(function) as Data? == nil)
            #expect(try await client.evaluate(function) as [Int]? == nil)
            #expect(try await client.evaluate(function) as Item? == nil)
            #expect(try await client.evaluate(function) as Loose? == nil)
            #expect(try await client.evaluate(function) as ODataEntity<Item>? == nil)
            #expect(try await client.invoke(ResourcePath(entitySet: "A")) as Item? == nil)
            #expect(try await client.fetch(EntityRequest<Int?>(at: "E(1)/Age")) == nil)
            #expect(try await client.fetch(EntityRequest<Item?>(at: "E(1)/Boss")) == nil)
            #expect(try await client.fetchIfPresent(EntityRequest<Item>(at: "E(1)/Boss")) == nil)
            #expect(try await client.fetchIfPresent(EntityRequest<Loose>(at: "E(1)/Boss")) == nil)
            #expect(try await client.fetchIfPresent(EntityRequest<String>(at: "E(1)/Name")) == nil)
            #expect(try await client.fetchIfPresent(EntityRequest<Int?>(at: "E(1)/Age")) == nil)
            #expect(try await client.entity(of: ToOne<Item>.notLoaded(link: "E(1)/Boss")) == nil)
            // A required result that is null is an error.
            for call: () async throws -> Void in [
                { let _: Int = try await client.evaluate(self.function) }, { let _: String = try await client.evaluate(self.function) },
                { let _: Item = try await client.evaluate(self.function) }, { let _: Loose = try await client.evaluate(self.function) },
                { _ = try await client.entity(EntityRequest<Item>(at: "E(1)/Boss")) },
            ] {
                let error = await #expect(throws: ServiceError.self) { try await call() }
                #expect(error?.stage == .decoding && error?.message.contains("null") == true, "\(String(describing: error))")
            }
        }
    }

    @Test func `204 is nil, and 404 is nil only for fetchIfPresent`() async throws {
        let client = stub.client()
        #expect(try await client.evaluate(function) as Int? == nil)
        #expect(try await client.evaluate(function) as Item? == nil)
        #expect(try await client.fetch(EntityRequest<String?>(at: "E(1)/Name")) == nil)
        #expect(try await client.fetchIfPresent(name) == nil)
        #expect(try await client.fetch(EntityRequest<Data>(at: "E(1)/$value")).isEmpty)
        await #expect(throws: ServiceError.self) { try await client.fetch(self.name) }
        await #expect(throws: ServiceError.self) { let _: Data = try await client.evaluate(self.function) }
        stub.fallback(.status(200))
        await #expect(throws: ServiceError.self) { try await client.fetch(self.name) }
        stub.fallback(.json(#"{"error":{"code":"x","message":"none"}}"#, status: 404))
        #expect(try await client.fetchIfPresent(name) == nil)
        await #expect(throws: ServiceError.self) { let _: Int? = try await client.evaluate(self.function) }
        await #expect(throws: ServiceError.self) { try await client.fetch(EntityRequest<String?>(at: "E(1)/Name")) }
    }

    @Test func `a null property isn't a null result`() async throws {
        let client = stub.client()
        stub.fallback(.json(#"{"@odata.context":"x","value":null}"#))
        #expect(try await client.evaluate(function) as Setting? == Setting(value: nil))
        #expect(try await client.fetchIfPresent(EntityRequest<Setting>(at: "S")) == Setting(value: nil))
        stub.fallback(.json(#"{"@odata.context":"$metadata#S/$entity","value":null}"#))
        #expect(try await client.evaluate(function) as DynamicEntity? != nil)
        stub.fallback(.json(#"{"d":{"Name":null}}"#))
        #expect(try await client.evaluate(function) as Loose? == Loose(Name: nil))
        stub.fallback(.json(#"{"Name":null}"#))
        #expect(try await client.fetchIfPresent(EntityRequest<Loose>(at: "S")) == Loose(Name: nil))
        stub.fallback(.json(#"{"@odata.null":false,"Name":"a"}"#))
        #expect(try await client.evaluate(function) as Loose? == Loose(Name: "a"))
    }
}

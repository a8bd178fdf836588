import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

private struct Filter: Encodable, Sendable {
    var perPage = 10
    var createdAfter = Date(timeIntervalSince1970: 1_577_836_800)
    var nestedValue = Inner()
    var extraFields = ["keyName": 1]
    var missingOne: String?

    struct Inner: Encodable, Sendable {
        var isOpen = true
    }
}

/// A type without `Encodable`, which a mirror reads.
private struct Mirrored: Sendable {
    var perPage = 10
    var startDate = Date(timeIntervalSince1970: 0.5)
}

private struct FieldName: CodingKey, Hashable {
    var stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

private struct OneMember: Encodable {
    var name: String

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldName.self)
        try container.encode(1, forKey: FieldName(stringValue: name))
    }
}

@Suite struct FieldStrategiesTests {
    private func query(_ fields: FieldReflection, _ value: Any, named name: String? = nil) throws -> String {
        URLEncoding.decode(URLEncoding.query(of: try fields.fields(of: value, named: name))) ?? ""
    }

    @Test func `Names of properties are converted, keys of dictionaries aren't`() throws {
        let fields = FieldReflection(keys: .snakeCase, dates: .seconds)
        #expect(
            try query(fields, Filter())
                == "per_page=10&created_after=1577836800&nested_value[is_open]=true&extra_fields[keyName]=1")
        #expect(try query(fields, Mirrored()) == "per_page=10&start_date=0.5")
        #expect(
            try query(fields, ["keyName": 1]) == "keyName=1"
                && (try query(fields, Filter.Inner(), named: "theName")) == "theName[is_open]=true")
        #expect(try query(FieldReflection(keys: .custom { $0.uppercased() }), Filter.Inner()) == "ISOPEN=true")
    }

    @Test func `Snake case is Foundation's`() throws {
        var random = SeededGenerator(seed: 33)
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        var names = [
            "", "a", "A", "aB", "AB", "URLPath", "myURLProperty", "oneTwoThree", "isÄÖÜber", "_private", "a1B2", "ID", "aID", "x__Y",
        ]
        for _ in 0..<Sweep.rounds(ofAll: 4_000) {
            names.append(String((0..<Int.random(in: 0...9, using: &random)).map { _ in "abcABC_1éÉ".randomElement(using: &random) ?? "a" }))
        }
        for name in names {
            let json = try JSONDecoder().decode([String: Int].self, from: encoder.encode(OneMember(name: name)))
            let fields = try FieldReflection(keys: .snakeCase).fields(of: OneMember(name: name))
            #expect(fields.map(\.name) == Array(json.keys), "\(name)")
        }
    }

    @Test func `Dates by each strategy`() throws {
        let date = Date(timeIntervalSince1970: 1.5)
        func text(_ dates: FieldReflection.DateStrategy, _ date: Date) throws -> String? {
            try FieldReflection(dates: dates).fields(of: date, named: "d").first?.value
        }
        #expect(try text(.iso8601, date) == "1970-01-01T00:00:01.500Z" && (try text(.iso8601(fractionDigits: 0), date)) != nil)
        #expect(try text(.seconds, date) == "1.5" && (try text(.milliseconds, date)) == "1500")
        #expect(try text(.custom { "<\($0.timeIntervalSince1970)>" }, date) == "<1.5>")
        for bad in [Double.nan, .infinity, -.infinity, 1e300] {
            let date = Date(timeIntervalSince1970: bad)
            if bad != 1e300 {
                #expect(throws: ReflectionError.self) { try text(.seconds, date) }
                #expect(throws: ReflectionError.self) { try text(.milliseconds, date) }
            }
            #expect(throws: (any Error).self) { try text(.iso8601(fractionDigits: .max), date) }
            #expect(throws: EncodingError.self) { try text(.custom { _ in nil }, date) }
        }
        #expect(FieldReflection.DateStrategy.seconds == .seconds && FieldReflection.DateStrategy.custom { _ in "" } != .custom { _ in "" })
    }

    @Test func `A name that has brackets already keeps them`() throws {
        let fields = FieldReflection(arrays: .brackets)
        #expect(try query(fields, ["a", "b"], named: "expand[]") == "expand[]=a&expand[]=b")
        #expect(try query(fields, ["a", "b"], named: "expand") == "expand[]=a&expand[]=b")
        #expect(try query(fields, [["a"], ["b"]], named: "x[]") == "x[0][]=a&x[1][]=b")
        #expect(try query(fields, [Filter.Inner()], named: "x[]") == "x[0][isOpen]=true")
        #expect(try query(FieldReflection(), ["a", "b"], named: "expand[]") == "expand[]=a&expand[]=b")
        #expect(try query(FieldReflection(arrays: .comma), ["a", "b"], named: "expand[]") == "expand[]=a,b")
    }
}

@Suite struct FieldSettingTests {
    private final class Events: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            [
                "list(filter:since:)": .get("/events").query(.argument(0)).query("sinceDate", .argument(1)).query(["untilDate": "%%1%%"]),
                "form(_:)": .post("/form").serializer(FormSerializer()),
                "fixed(_:)": .post("/form").serializer(FormSerializer(FieldReflection(arrays: .comma))),
                "own(filter:)": .get("/own").query(.argument(0))
                    .fields(keys: .asDeclared, dates: .milliseconds, nesting: .dots, missing: .nameOnly),
                "flag(on:)": .get("/flag").query("on", .argument(0)).fields(missing: .nameOnly),
                "expand(fields:)": .get("/expand").query("expand[]", .argument(0)).arrays(.brackets),
                "latin(_:)": .post("/latin").serializer(FormSerializer(charset: .isoLatin1)),
                "headers(_:)": .get("/headers").headers(.argument(0)),
            ]
        }
    }

    private func sent(
        configure: (inout WebServiceClient.Configuration) -> Void = { $0.serializer = JSONSerializer(dates: .seconds, keys: .snakeCase) },
        _ call: @escaping @Sendable (Events) async throws -> Void
    ) async throws -> ServiceRequest {
        #expect(Events.verify().isEmpty, "\(Events.verify())")
        return try await Events(serviceRoot: "https://api.test", configure: configure).dryRun { try await call($0) }
    }

    private let date = Date(timeIntervalSince1970: 86_400)

    @Test func `The client's JSON strategies reach queries and forms, not literal names`() async throws {
        let request = try await sent { try await $0.dynamic.list(filter: Filter(), since: Date(timeIntervalSince1970: 86_400)) }
        #expect(
            request.url.query(percentEncoded: false)
                == "per_page=10&created_after=1577836800&nested_value[is_open]=true&extra_fields[keyName]=1&sinceDate=86400&untilDate=86400"
        )
        let form = try await sent { try await $0.dynamic.form(Filter()) }
        #expect(form.body?.data.map { String(decoding: $0, as: UTF8.self) }?.hasPrefix("per_page=10&created_after=1577836800&") == true)
        let fixed = try await sent { try await $0.dynamic.fixed(Filter()) }
        #expect(fixed.body?.data.map { String(decoding: $0, as: UTF8.self) }?.hasPrefix("perPage=10&createdAfter=2020-01-01T00") == true)
        let plain = try await sent(configure: { _ in }) {
            try await $0.dynamic.list(filter: Filter(), since: Date(timeIntervalSince1970: 0))
        }
        #expect(plain.url.query(percentEncoded: false)?.hasPrefix("perPage=10&createdAfter=2020-01-01T00:00:00Z&") == true, "\(plain.url)")
        let headers = try await sent { try await $0.dynamic.headers(Filter.Inner()) }
        #expect(headers.headers["isOpen"] == "true")
    }

    @Test func `Strategies of an encoder reach them, too`() async throws {
        let serializer = JSONSerializer { encoder, _ in
            encoder.keyEncodingStrategy = .custom { path in FieldName(stringValue: "x-" + (path.last?.stringValue ?? "")) }
            encoder.dateEncodingStrategy = .custom { date, encoder in
                var container = encoder.singleValueContainer()
                try container.encode(Int(date.timeIntervalSince1970) / 86_400)
            }
        }
        let request = try await sent(configure: { $0.serializer = serializer }) { try await $0.dynamic.list(filter: Filter(), since: nil) }
        #expect(
            request.url.query(percentEncoded: false)?.hasPrefix("x-perPage=10&x-createdAfter=18262&x-nestedValue[x-isOpen]=true") == true)
        let plain = JSONSerializer(encoder: JSONEncoder(), decoder: JSONDecoder())
        let same = try await sent(configure: { $0.serializer = plain }) { try await $0.dynamic.list(filter: Filter(), since: nil) }
        #expect(same.url.query(percentEncoded: false)?.contains("createdAfter=2020-01-01T00:00:00Z") == true)
    }

    @Test func `Method over class over client over serializer, each by itself`() async throws {
        let own = try await sent { try await $0.dynamic.own(filter: Filter()) }
        #expect(
            own.url.query(percentEncoded: false)
                == "perPage=10&createdAfter=1577836800000&nestedValue.isOpen=true&extraFields.keyName=1&missingOne")
        let client = try await sent(configure: {
            $0.serializer = JSONSerializer(dates: .seconds, keys: .snakeCase)
            $0.attributes[FieldReflection.DateStrategy.self] = .milliseconds
        }) { try await $0.dynamic.list(filter: Filter(), since: nil) }
        #expect(client.url.query()?.hasPrefix("per_page=10&created_after=1577836800000&") == true)
        let call = try await sent { try await $0.http.get("/x").query(Filter()).describing { $0.fields(keys: .asDeclared) }.send() }
        #expect(call.url.query()?.hasPrefix("perPage=10&createdAfter=1577836800&") == true)
    }

    @Test func `A stored call has its fields bound, and keeps its paging style`() throws {
        let client = Events(serviceRoot: "https://api.test")
        let call = client.http.get("/x").query(Filter.Inner()).paged(by: .linkHeader)
            .describing { $0.fields(keys: .snakeCase, dates: .seconds, nesting: .dots, missing: .empty) }
        let stored = try call.stored()
        #expect(stored.omitted.isEmpty && stored.target == .path("/x?is_open=true"))
        let again = try client.http.call(from: stored)
        #expect(again.descriptor.settings.attributes[PagingStyle.self] == .linkHeader)
    }

    @Test func `Nil, sets and brackets by strategy`() async throws {
        let none = try await sent { try await $0.dynamic.flag(on: nil as String?) }
        #expect(none.url.query() == "on")
        let set = try await sent { try await $0.dynamic.expand(fields: Set(["b", "a"])) }
        #expect(set.url.query(percentEncoded: false) == "expand[]=a&expand[]=b")
    }

    @Test func `Forms are read as they are written`() throws {
        struct Event: Codable, Equatable {
            var startDate = Date(timeIntervalSince1970: 90.5)
            var extraFields = ["keyName": 1]
            var innerValue = ["a": [Date(timeIntervalSince1970: 0)]]
        }
        for dates: FieldReflection.DateStrategy in [
            .seconds, .milliseconds, .iso8601,
            .custom(read: { Double($0.dropFirst()).map { Date(timeIntervalSince1970: $0) } }) { "@\($0.timeIntervalSince1970)" },
        ] {
            let form = FormSerializer(FieldReflection(keys: .snakeCase, dates: dates))
            let data = try form.encode(Event())
            #expect(String(decoding: data, as: UTF8.self).hasPrefix("start_date="))
            #expect(try form.decode(Event.self, from: data, at: [], contentType: nil) == Event(), "\(dates)")
        }
    }

    @Test func `Charsets of bodies`() async throws {
        let latin = try await sent { try await $0.dynamic.latin(["na&me": "é £*-._ ~"]) }
        #expect(latin.body?.data == Data("na%26me=%E9+%A3*-._+%7E".utf8))
        #expect(latin.headers[.contentType] == "application/x-www-form-urlencoded; charset=iso-8859-1")
        #expect(throws: SerializationError.self) { try FormSerializer(charset: .isoLatin1).encode(["a": "€"]) }
        #expect(throws: SerializationError.self) { try FormSerializer(charset: .utf16).encode(["a": "b"]) }
        #expect(try FormSerializer(charset: .utf8).encode(["a": "€"]) == FormSerializer().encode(["a": "€"]))
        let form = FormSerializer(charset: .windows1252)
        let bytes = try form.encode(["a": "€ü"])
        #expect(try form.decode([String: String].self, from: bytes, at: [], contentType: form.contentType) == ["a": "€ü"])

        let json = JSONSerializer(contentType: "application/json; charset=utf-8")
        let request = try await sent(configure: { $0.serializer = json }) { try await $0.http.post("/x").body(["é"]).send() }
        #expect(request.headers[.contentType] == "application/json; charset=utf-8" && request.headers[.accept] == "application/json")
        #expect(request.body?.data == Data(#"["é"]"#.utf8))
        let other = JSONSerializer(contentType: "application/json; charset=iso-8859-1")
        #expect(try other.encode(["é"]) == Data([0x5B, 0x22, 0xE9, 0x22, 0x5D]))
        #expect(throws: SerializationError.self) { try other.encode(["€"]) }
        #expect(throws: SerializationError.self) { try JSONSerializer(contentType: "application/json; charset=odd").encode(["a"]) }
    }
}

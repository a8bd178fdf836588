import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct OpenAPIExportTests {
    private typealias Table = [(String, EndpointDescriptor)]

    private func description(_ table: Table, _ defaults: EndpointDefaults = EndpointDefaults()) -> ClientDescription {
        var description = ClientDescription(client: "C", table: [:], defaults: defaults)
        for (key, descriptor) in table {
            let one = EndpointTable(dictionaryLiteral: (key, descriptor))
            description.endpoints += ClientDescription(client: "C", table: one, defaults: defaults).endpoints
        }
        return description
    }

    private func document(_ table: Table, _ defaults: EndpointDefaults = EndpointDefaults()) throws -> JSONValue {
        try document(of: description(table, defaults))
    }

    private func document(of description: ClientDescription) throws -> JSONValue {
        try JSONReader().decode(JSONValue.self, from: Data(description.openAPI().utf8))
    }

    /// All operations with their paths and methods, in the order of the document.
    private func operations(_ document: JSONValue) -> [(path: String, method: String, operation: JSONValue)] {
        (document["paths"]?.object.map { Array($0) } ?? []).flatMap { path, item in
            (item.object.map { Array($0) } ?? []).flatMap { name, value in
                name == "x-endpoints"
                    ? (value.array ?? []).map { (path, $0["x-method"]?.string ?? "", $0) } : [(path, name.uppercased(), value)]
            }
        }
    }

    /// The only operation of a table with one endpoint.
    private func operation(
        _ descriptor: EndpointDescriptor, _ defaults: EndpointDefaults = EndpointDefaults()
    ) throws -> (path: String, method: String, operation: JSONValue) {
        let all = operations(try document([("call(a:b:)", descriptor)], defaults))
        #expect(all.count == 1)
        return try #require(all.first)
    }

    private func parameters(_ operation: JSONValue, in list: String = "parameters") -> [String: JSONValue] {
        Dictionary((operation[list]?.array ?? []).map { ("\($0["in"]?.string ?? "") \($0["name"]?.string ?? "")", $0) }) { $1 }
    }

    /// Checks what holds for each document: it carries the whole description, identifiers are unique, and paths and parameters fit.
    private func check(_ description: ClientDescription, _ comment: Comment? = nil) throws {
        let document = try document(of: description)
        #expect(document["openapi"] == "3.1.1" && document["info"]["title"]?.string == description.client, comment)
        #expect(description.openAPI() == description.openAPI() && description.openAPI().hasSuffix("}\n"), comment)
        let all = operations(document)
        #expect(Set(all.map { $0.operation["operationId"]?.string }).count == description.endpoints.count, comment)
        var rest = try #require(document["x-description"])
        let keys = rest["keys"]?.array?.map(\.string) ?? []
        rest["keys"] = nil
        rest["endpoints"] = []
        var rebuilt = try rest.decode(ClientDescription.self)
        rebuilt.endpoints = try all.map { try #require($0.operation["x-endpoint"]).decode() }
        rebuilt.endpoints.sort { (keys.firstIndex(of: $0.key) ?? 0) < (keys.firstIndex(of: $1.key) ?? 0) }
        #expect(rebuilt == description, comment)
        for (path, method, operation) in all {
            #expect(operation["x-key"] == operation["x-endpoint"]["key"] && method == operation["x-endpoint"]["method"]?.string, comment)
            let list = operation["parameters"]?.array ?? []
            #expect(parameters(operation).count == list.count, "\(path)")
            let names = list.filter { $0["in"] == "path" }.compactMap { $0["name"]?.string }
            #expect(path.hasPrefix("/") && !path.contains { "?#".contains($0) }, "\(path)")
            let inPath = path.split(separator: "{").dropFirst(path.hasPrefix("{") ? 0 : 1).map { String($0.prefix { $0 != "}" }) }
            #expect(inPath == names && Set(names).count == names.count && !names.contains(""), "\(path) \(names)")
            #expect(operation["responses"]?.object?.isEmpty == false, comment)
        }
    }

    // MARK: Documents

    @Test func `Random tables are carried whole, each endpoint once`() throws {
        var random = SeededGenerator(seed: 37)
        for round in 0..<Sweep.rounds(ofAll: 120) {
            var table: Table = []
            for number in 0..<Int.random(in: 0...6, using: &random) {
                var descriptor = ClientDescriptionTests.routes.randomElement(using: &random) ?? .get("/")
                for slot in ClientDescriptionTests.slots where Int.random(in: 0..<4, using: &random) == 0 {
                    if let modifier = slot.values.randomElement(using: &random) { descriptor = modifier(descriptor) }
                }
                let key = ["call(a:b:)", "call(b:a:)", "call\(number)(a:b:)", "call(_:a:b:)"].randomElement(using: &random) ?? "call(a:b:)"
                if !table.contains(where: { $0.0 == key }) { table.append((key, descriptor)) }
            }
            let roots = ["", "https://a.test/v1/", "https://%%a%%.test?x=1"]
            try check(description(table, EndpointDefaults(serviceRoot: roots.randomElement(using: &random) ?? "")), "round \(round)")
        }
    }

    @Test func `Routes of any text are carried whole`() throws {
        var random = SeededGenerator(seed: 38)
        let pieces = [
            "%%a%%", "%%0%%", "%%", "{a}", "{+a*}", "{?a,b}", "{", "}", "/", "?", "#", "&", "=", "://", "%2F", "%", "ü", "x", "\u{301}",
            " ",
        ]
        for _ in 0..<Sweep.rounds(ofAll: 400) {
            let text = (0..<Int.random(in: 0...8, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            let descriptor = Bool.random(using: &random) ? EndpointDescriptor.get(text) : .get(uriTemplate: text)
            try check(description([("call(a:b:)", descriptor)]), "\(text)")
            try check(description([("call(a:", descriptor)], EndpointDefaults(serviceRoot: text)), "\(text)")
        }
    }

    @Test func `Paths, members and operations have the order of the table`() throws {
        let document = try document(
            [
                ("b()", .get("/b")), ("a(x:)", .get("/a/%%x%%")), ("c(y:)", .delete("/a/%%y%%")), ("again(z:)", .get("/a/%%z%%?page=2")),
                ("report(x:)", .endpoint("REPORT", "/a/%%x%%")),
            ], EndpointDefaults(serviceRoot: "https://a.test"))
        #expect(document.object?.names == ["openapi", "info", "servers", "paths", "x-description"])
        #expect(document["paths"]?.object?.names == ["/b", "/a/{x}"])
        let all = operations(document)
        #expect(all.map(\.method) == ["GET", "GET", "DELETE", "GET", "REPORT"])
        #expect(document["paths"]["/a/{x}"]?.object?.names == ["get", "delete", "x-endpoints"])
        // A path is identical to one with other names, so that it has the names of the first.
        #expect(all.map { parameters($0.operation)["path x"]?["x-argument"] } == [nil, 0, 0, 0, 0])
        #expect(all[3].operation["x-notes"]?[0]?.string?.contains("a(x:)") == true)
        #expect(all[4].operation["x-notes"]?[0]?.string?.contains("REPORT") == true)
    }

    @Test func `Operation identifiers are base names, with labels if they are shared`() throws {
        let keys = ["one(a:)", "two()", "two(a:)", "two(_:)", "two_a()", "prop", "broken(", "two(a:b:)"]
        let all = operations(try document(keys.map { ($0, EndpointDescriptor.get("/\($0.hashValue)")) }))
        #expect(
            Set(all.compactMap { $0.operation["operationId"]?.string })
                == ["one", "two", "two_a_2", "two_0", "two_a", "prop", "broken", "two_a_b"])
        let twice = description([("a()", .get("/1")), ("a()", .get("/2"))])
        #expect(operations(try document(of: twice)).map { $0.operation["operationId"] } == ["a", "a_2"])
    }

    @Test func `Servers have variables, and a root's query is part of each operation`() throws {
        let defaults = EndpointDefaults(serviceRoot: "https://%%a%%.test:8080/%%0%%/v1/?api-version=2&key=hush")
        let document = try document([("call(a:)", .get("/x"))], defaults)
        let server = document["servers"]?[0]
        #expect(server?["url"] == "https://{a}.test:8080/{argument0}/v1")
        #expect(server?["variables"]?.object?.names == ["a", "argument0"] && server?["variables"]?["a"]?["default"] == "a")
        let operation = operations(document)[0].operation
        #expect(parameters(operation)["query api-version"]?["schema"] == ["const": "2"])
        #expect(operation["security"] == [["key": []]] && !document.description.contains("hush"))
        #expect(document["components"]["securitySchemes"]["key"] == ["type": "apiKey", "in": "query", "name": "key"])
        #expect(try self.document([])["servers"] == nil)
        let mixed = try self.operation(.get(uriTemplate: "/x{?a}"), EndpointDefaults(serviceRoot: "https://a.test?q=v-%%a%%&f"))
        #expect(parameters(mixed.operation)["query q"]?["x-template"] == "v-%%a%%")
        #expect(mixed.operation["x-notes"]?.array?.count == 1)
    }

    // MARK: Requests

    @Test(arguments: [
        ("/a/%%a%%", "/a/{a}", ["path a": 0]), ("/%%0%%/%%b%%.json", "/{a}/{b}.json", ["path a": 0, "path b": 1]),
        ("/%%a%%/%%a%%", "/{a}/{a_2}", ["path a": 0, "path a_2": 0]), ("/{x}/ü", "/%7Bx%7D/%C3%BC", [:]), ("", "/", [:]),
        ("x?s=%%b%%", "/x", ["query s": 1]), ("%%b%%", "/{b}", ["path b": 1]),
    ])
    func `Placeholders become parameters`(route: String, path: String, arguments: [String: Int]) throws {
        let made = try operation(.get(route))
        #expect(made.path == path)
        #expect(parameters(made.operation).compactMapValues { $0["x-argument"]?.int } == arguments)
    }

    @Test(arguments: [
        ("/s/{a}", "/s/{a}", "path a", "simple", false), ("/s/{a*}", "/s/{a}", "path a", "simple", true),
        ("/s/{a,b}", "/s/{a},{b}", "path b", "simple", false), ("/l{.a*}", "/l{a}", "path a", "label", true),
        ("/m{;a,b}", "/m{a}{b}", "path b", "matrix", false), ("/p{/a,b}", "/p/{a}/{b}", "path b", "simple", false),
        ("/q{?a*,b}", "/q", "query a", "form", true), ("/q?x=1{&a}", "/q", "query a", "form", false),
        ("/r/{+a}", "/r/{a}", "path a", "simple", false), ("/q{?0}", "/q", "query 0", "form", false),
    ])
    func `Operators of URI templates become styles`(route: String, path: String, name: String, style: String, explode: Bool) throws {
        let made = try operation(.get(uriTemplate: route))
        let parameter = try #require(parameters(made.operation)[name])
        #expect(made.path == path && parameter["style"]?.string == style && parameter["explode"]?.bool == explode)
        #expect(parameter["required"]?.bool == (name.hasPrefix("path") ? true : nil))
    }

    @Test func `Queries are constants, templates and arguments`() throws {
        let route = EndpointDescriptor.get("/x?s=a%20b&q=is:%%a%%+x&f&%%b%%=1&d=1&d=2")
        let made = try operation(route.query(["k": "a&b", "t": "%%a%% (1)"]).query("n", .argument("b")))
        let found = parameters(made.operation)
        #expect(found["query s"]?["schema"] == ["const": "a b"] && found["query s"]?["required"] == true)
        #expect(found["query q"]?["schema"]?["pattern"] == "^is:[\\s\\S]*\\+x$" && found["query q"]?["allowReserved"] == true)
        #expect(found["query q"]?["x-template"] == "is:%%a%%+x" && found["query q"]?["required"] == nil)
        #expect(found["query f"]?["allowEmptyValue"] == true && found["query k"]?["schema"] == ["const": "a&b"])
        #expect(found["query t"]?["schema"]?["pattern"] == "^[\\s\\S]* \\(1\\)$" && found["query n"]?["x-argument"] == 1)
        let others = made.operation["x-parameters"]?.array ?? []
        #expect(others.map { $0["name"] } == ["%%b%%", "d"] && others.last?["schema"] == ["const": "2"])
        #expect(made.operation["x-notes"]?.array?.count == 3)
    }

    @Test func `Arrays and fields of arguments have their style`() throws {
        let plain = EndpointDescriptor.get("/x").query("s", .argument(0)).query(.argument(1))
        let found = parameters(try operation(plain).operation)
        #expect(found["query s"]?["style"] == "form" && found["query s"]?["explode"] == true && found["query s"]?["x-arrays"] == nil)
        #expect(found["query b"]?["explode"] == true && found["query b"]?["schema"] == ["type": "object"])
        #expect(parameters(try operation(plain.arrays(.comma)).operation)["query s"]?["explode"] == false)
        #expect(parameters(try operation(plain, EndpointDefaults(arrays: .comma)).operation)["query s"]?["explode"] == false)
        #expect(parameters(try operation(plain.arrays(.brackets)).operation)["query s"]?["x-arrays"] == "brackets")
        // The name of an argument with fields isn't sent, so that it can differ from that of a query item.
        #expect(parameters(try operation(.get("/x").query("a", .argument(1)).query(.argument(0))).operation)["query a_2"] != nil)
    }

    @Test func `Headers, credentials and media types`() throws {
        var defaults = EndpointDefaults(headers: ["X-Team": "hush", "Prefer": "minimal", "Authorization": "Bearer hush"])
        defaults.perMethod[.post] = EndpointDefaults(headers: ["Prefer": "wait=%%a%%"], serializer: FormSerializer())
        let made = try operation(
            .post("/x").header("X-Api-Key", "hush").header("Accept", "text/csv, text/plain;q=0.5").headers(.argument(0)), defaults)
        let found = parameters(made.operation)
        #expect(found.keys.sorted() == ["header Prefer", "header X-Team"])
        #expect(found["header Prefer"]?["x-template"] == "wait=%%a%%" && found["header X-Team"]?["required"] == true)
        #expect(made.operation["security"]?[0]?.object?.names == ["bearer", "X-Api-Key"])
        #expect(made.operation["requestBody"]?["content"]?.object?.names == ["application/x-www-form-urlencoded"])
        #expect(made.operation["requestBody"]?["x-argument"] == 1)
        #expect(made.operation["responses"]?["2XX"]?["content"]?.object?.names == ["text/csv", "text/plain"])
        #expect(made.operation["x-parameters"]?[0]?["in"] == "header" && !made.operation.description.contains("hush"))
        let signed = try operation(.get("/x").header("Authorization", "%%a%%").header("X-Note", "v=%%b%%"))
        #expect(signed.operation["security"] == [["Authorization": []]])
        #expect(parameters(signed.operation)["header X-Note"]?["required"] == nil)
        #expect(try operation(.get("/x").header("Content-Type", "a/b")).operation["requestBody"] == nil)
    }

    // MARK: Responses

    @Test(arguments: [
        (StatusSet.success, ["2XX"]), (.created, ["201"]), (.codes(204, 404), ["204", "404"]), (.range(200...399), ["2XX", "3XX"]),
        (StatusSet.codes(), []),
        (.range(298...301), ["298", "299", "300", "301"]), (.any, ["1XX", "2XX", "3XX", "4XX", "5XX"]),
    ])
    func `Statuses become responses`(statuses: StatusSet, names: [String]) throws {
        let made = try operation(.get("/x").accepting(statuses))
        #expect(made.operation["responses"]?.object?.names == names + ["default"])
        #expect(made.operation["responses"]?["204"]?["content"] == nil)
        #expect((made.operation["x-notes"] != nil) == (statuses == .any))
    }

    @Test func `Further statuses, heads and sockets`() throws {
        let defaults = EndpointDefaults(statuses: .ok)
        let more = try operation(.get("/x").alsoAccepting(.notFound), defaults)
        #expect(more.operation["responses"]?.object?.names == ["200", "404", "default"])
        #expect(try operation(.head("/x")).operation["responses"]?["2XX"] == ["description": "Success."])
        #expect(try operation(.get("/x").webSocket()).operation["responses"]?.object?.names == ["101", "default"])
        #expect(try operation(.get("/x").raw()).operation["responses"]?["2XX"]?["content"] == ["*/*": [:]])
        var stored = description([("call()", .get("/x"))])
        for success in ["0…9223372036854775807", "-9223372036854775808…5, 9…3, x", "+ ", "…", "99999999999999999999"] {
            stored.endpoints[0].success = success
            try check(stored, "\(success)")
        }
    }
}

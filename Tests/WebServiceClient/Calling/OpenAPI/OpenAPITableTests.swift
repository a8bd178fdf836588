import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

/// Tables that are exported as OpenAPI documents and read again.
@Suite struct OpenAPITableTests {
    private typealias Table = [(String, EndpointDescriptor)]

    private func description(_ table: Table, _ defaults: EndpointDefaults = EndpointDefaults()) -> ClientDescription {
        let entries = table.map { EndpointTable.Entry(key: $0.0, descriptor: $0.1) }
        return ClientDescription(client: "C", table: EndpointTable(entries: entries), defaults: defaults)
    }

    private func profile(_ description: ClientDescription) throws -> ServiceProfile {
        try ServiceProfile(openAPI: Data(description.openAPI().utf8))
    }

    private func endpoints(_ profile: ServiceProfile) -> [ClientDescription.Endpoint] {
        ClientDescription(client: "C", table: profile.endpoints).endpoints
    }

    /// The parts of an endpoint that a document can carry: not the types of the program, and nothing that only the program may set.
    private func portable(_ endpoint: ClientDescription.Endpoint) -> ClientDescription.Endpoint {
        var endpoint = endpoint
        endpoint.settings?.errorHandler = nil
        endpoint.settings?.urlBuilder = nil
        endpoint.settings?.trust = nil
        if endpoint.settings == ClientDescription.Settings() { endpoint.settings = nil }
        endpoint.attributes.removeAll { AttributeCatalog.attribute($0, from: .exportedTable) == nil }
        return endpoint
    }

    @Test func `Random tables are read again from their documents`() throws {
        let routes: [EndpointDescriptor] = [
            .get("/%%a%%/%%b%%"), .delete("/%%b%%/%%a%%?c=1"), .post("/x/%%a%%"), .put("/x/%%b%%"), .get(uriTemplate: "/x{?a,b}"),
            .get(uriTemplate: "/x{/a,b}"), .endpoint("REPORT", uriTemplate: "/x{;a*}{?b}"),
            .get("/x").query("a", .argument(0), arrays: .pipe, objects: .joined).header("X-B", .argument("b"), exploding: true),
            .get("/y").query("a", .argument(0), as: .json, keepingReserved: true).cookie("sid", .argument("b"), exploding: true),
            .get("/z").query("a", .argument("a")).query("b", .argument("b")).optional("b").alias("x-b", of: "b"),
            .patch("/x").query("a", .argument("a")).body(.argument("b")).bodyTypes("application/merge-patch+json", "application/json"),
            .post("/up/%%a%%").serviceRoot("/upload"), .post("/up/%%b%%").serviceRoot("https://up.test/v2?x=1"),
        ]
        let slots = ClientDescriptionTests.slots.filter { !["query", "body", "ignoring", "headers"].contains($0.name) }
        var random = SeededGenerator(seed: 41)
        var count = 0
        for round in 0..<Sweep.rounds(ofAll: 300) {
            var table: Table = []
            for number in 0..<Int.random(in: 1...5, using: &random) {
                var descriptor = routes.randomElement(using: &random) ?? .get("/")
                for slot in slots where Int.random(in: 0..<5, using: &random) == 0 {
                    if let modifier = slot.values.randomElement(using: &random) { descriptor = modifier(descriptor) }
                }
                let key = ["call(a:b:)", "call(b:a:)", "call\(number)(a:b:)"].randomElement(using: &random) ?? "call(a:b:)"
                guard let name = try? MethodName(key), !table.contains(where: { $0.0 == key }) else { continue }
                if EndpointCompiler.compile(descriptor, for: name, root: nil).1.isEmpty { table.append((key, descriptor)) }
            }
            guard !table.isEmpty else { continue }
            let original = description(table)
            let profile = try profile(original)
            #expect(endpoints(profile) == original.endpoints.map(portable), "round \(round): \(profile.notes)")
            #expect(profile.endpoints.keys == table.map(\.0), "round \(round)")
            count += table.count
        }
        #expect(count > Sweep.rounds(ofAll: 300) / 2)
    }

    @Test func `The tables of the test clients are read again`() throws {
        let clients: [WebServiceClient.Type] = [
            GitHub.self, Shop.self, Archive.self, Store.self, Switchboard.self, Station.self, Jobs.self,
        ]
        for client in clients { try expectSameTable(client.describe()) }
    }

    /// Expects that the table of a class makes the same operations after it was read from its document.
    private func expectSameTable(_ original: ClientDescription) throws {
        let profile = try profile(original)
        let comment: Comment = "\(original.client): \(profile.notes)"
        #expect(profile.endpoints.keys == original.endpoints.map(\.key), comment)
        // Secrets, which a document can't carry, are noted.
        guard !profile.notes.contains(where: { $0.contains("secret") }) else { return }
        let defaults = EndpointDefaults(serviceRoot: original.defaults?.serviceRoot ?? "")
        let again = ClientDescription(client: original.client, table: profile.endpoints, defaults: defaults)
        let documents = try [original, again].map { description in
            let document = try JSONReader().decode(JSONValue.self, from: Data(description.openAPI().utf8))
            return withoutDescriptions(document["paths"] ?? nil)
        }
        #expect(documents[0] == documents[1], comment)
    }

    /// A document without the descriptions of endpoints, which have the defaults of the class afterwards.
    private func withoutDescriptions(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members):
            .members(members.filter { !["x-endpoint", "x-notes"].contains($0.0) }.map { ($0.0, withoutDescriptions($0.1)) })
        case .array(let elements): .array(elements.map(withoutDescriptions))
        default: value
        }
    }

    @Test func `A table with the defaults of its class sends the same by a client without them`() throws {
        var defaults = EndpointDefaults(
            serviceRoot: "https://%%team%%.api.test/v1?key-version=2", headers: ["Accept": "text/csv", "Prefer": "wait=1"], statuses: .ok,
            arrays: .comma)
        defaults.perMethod[.post] = EndpointDefaults(headers: ["Prefer": "wait=2"], serializer: FormSerializer())
        let table: Table = [
            ("list(team:ids:)", .get("/list").query("ids", .argument("ids")).alsoAccepting(.notFound).decoding(at: "a.b")),
            ("add(team:item:)", .post("/list").timeout(.milliseconds(2_500)).retry(.never)),
            ("quiet(team:)", .get("/quiet").header("Accept", "a/b").raw()),
        ]
        let profile = try profile(description(table, defaults))
        #expect(profile.baseURL == defaults.serviceRoot && profile.notes.isEmpty, "\(profile.notes)")
        let read = endpoints(profile)
        #expect(read.map(\.key) == table.map(\.0))
        #expect(read[0].headers.map { "\($0.name): \($0.value ?? "")" } == ["Accept: text/csv", "Prefer: wait=1"])
        #expect(read[0].success == "200, 404" && read[0].settings?.arrays == "comma")
        #expect(read[1].headers.map { "\($0.name): \($0.value ?? "")" } == ["Accept: text/csv", "Prefer: wait=2"])
        #expect(read[1].settings?.serializer?.hasPrefix("FormSerializer") == true && read[1].attributes.count == 1)
        #expect(read[1].settings?.deadlines == "total 2.5 s")
        #expect(read[2].headers.map { "\($0.name): \($0.value ?? "")" } == ["Prefer: wait=1", "Accept: a/b"])
        #expect(read[0].root == "a.b" && read[2].settings?.parsing == "raw")
    }

    @Test func `Attributes and serializers with values of their own are read again`() throws {
        var overruled = RetryPolicy(
            attempts: 30, backoff: Backoff(base: .milliseconds(7), factor: 1.5, jitter: .equal), statuses: [503, 599])
        overruled.overrules = [.shouldRetry]
        overruled.limits = [.gitHub]
        let attributes: [any EndpointAttribute] = [
            overruled, BodyCompression(.gzip, above: 9), CircuitBreakerPolicy(window: .seconds(9), failureRatio: 0.25, statuses: [503]),
            WebSocketSettings(subprotocols: ["chat.v2"], pingInterval: .milliseconds(33)), StreamFraming.jsonLines,
            StreamEnd.data("[\"DONE\"]"), ReconnectionPolicy(attempts: 3, backoff: Backoff(base: .milliseconds(33))),
            FailingEvents("error", "a, b"), CacheTags("a, b", "\""), ExpectedDigest(ContentDigest.of(Data())),
            SentDigest([.sha512, .sha256]), IdempotencyKey(named: "X-Key"),
            FaultPlan(.times(2, .status(503, retryAfter: 1)), .passing(1), then: .reset(afterBytes: 10), latency: .fixed(.seconds(1))),
        ]
        func hashable(_ attribute: any EndpointAttribute) -> AnyHashable? {
            (attribute as? any DescribedAttribute).map { AnyHashable($0) }
        }
        for attribute in attributes {
            // Settings of bodies have no effect without one.
            let isOfBody = attribute is BodyCompression || attribute is SentDigest
            let (key, endpoint) = isOfBody ? ("a(x:)", EndpointDescriptor.post("/a")) : ("a()", EndpointDescriptor.get("/a"))
            let profile = try profile(description([(key, endpoint.with { $0.settings.attributes.set(attribute) })]))
            // The operation's documentation is an attribute, too.
            let read = try #require(profile.endpoints[key]?.settings.attributes.all.first { !($0 is OperationInfo) }, "\(profile.notes)")
            #expect(hashable(read) != nil && hashable(read) == hashable(attribute), "\(attribute)")
        }
        let serializers: [any SerializationDelegate] = [
            FormSerializer(charset: .isoLatin1), FormSerializer(FieldReflection(objects: .joined)), XMLSerializer(contentType: "a/b+xml"),
        ]
        for serializer in serializers {
            let profile = try profile(description([("a(x:)", EndpointDescriptor.post("/a").serializer(serializer))]))
            let read = try #require(profile.endpoints["a(x:)"]?.settings.serializer, "\(profile.notes)")
            #expect(SerializerCatalog.text(of: read) == SerializerCatalog.text(of: serializer))
        }
        // The closure's settings aren't in the text.
        let own = JSONSerializer { encoder, _ in encoder.outputFormatting.insert(.sortedKeys) }
        let left = try profile(description([("a(x:)", EndpointDescriptor.post("/a").serializer(own))]))
        #expect(left.endpoints["a(x:)"]?.settings.serializer == nil)
        #expect(left.notes.contains { $0.contains("the serializer JSONSerializer(application/json") && $0.contains("configured") })
    }

    @Test func `A table from a document keeps its security requirements when it is exported`() throws {
        let schemes = #"{"k": {"type": "apiKey", "name": "X-Key", "in": "header"}, "b": {"type": "http", "scheme": "bearer"}}"#
        let operation = #"{"operationId": "x", "security": [{"k": []}, {"k": [], "b": ["read"]}, {}]}"#
        let source =
            #"{"openapi": "3.1.0", "servers": [{"url": "https://a.test"}], "paths": {"/x": {"get": \#(operation)}}, "components": {"securitySchemes": \#(schemes)}}"#
        let table = try ServiceProfile(openAPI: Data(source.utf8)).endpoints
        let requirements = try #require(table["x()"]?.settings.attributes[SecurityRequirements.self])
        #expect(requirements.alternatives.map(\.count) == [1, 2, 0])
        let read = try profile(ClientDescription(client: "C", table: table)).endpoints
        #expect(read["x()"]?.settings.attributes[SecurityRequirements.self] == requirements)
    }

    @Test func `Overloads and other endpoints of a path keep their keys and order`() throws {
        let table: Table = [
            ("a(x:)", .get("/a/%%x%%")), ("b()", .get("/b")), ("a(y:)", .get("/a/%%y%%?full=1")),
            ("c(_:)", .endpoint("QUERY", "/b").body(.argument(0))),
            ("d", .get("/d")),
        ]
        let original = description(table)
        let profile = try profile(original)
        #expect(
            endpoints(profile) == original.endpoints
                && profile.notes == ["#: the document has no servers, so give the client a service root"])
    }

    @Test func `A document that was edited means what it says`() throws {
        let original = description([("list(page:)", .get("/list").query("page", .argument(0))), ("one(id:)", .get("/one/%%id%%"))])
        var document = try JSONReader().decode(JSONValue.self, from: Data(original.openAPI().utf8))
        document["servers"] = [["url": "https://b.test"]]
        document["paths"]?["/list"]?["get"]?["summary"] = "Lists all."
        document["paths"]?["/list"]?["get"]?["responses"]?["2XX"]?["content"]?["application/json"] = ["schema": ["type": "array"]]
        var read = try ServiceProfile(openAPI: Data(document.description.utf8))
        // Neither a summary nor a schema changes the endpoint, and the server is the document's.
        #expect(endpoints(read) == original.endpoints && read.notes.isEmpty && read.baseURL == "https://b.test", "\(read.notes)")
        document["paths"]?["/list"]?["get"]?["parameters"]?[0]?["name"] = "p"
        read = try ServiceProfile(openAPI: Data(document.description.utf8))
        #expect(read.endpoints.keys == ["one(id:)", "list(p:)"])
        #expect(read.notes.count == 1 && read.notes[0].contains("the operation was changed"), "\(read.notes)")
        // An extension without the operation that belongs to it isn't trusted.
        document["paths"]?["/one/{id}"]?["get"]?["x-endpoint"]?["route"] = "/other/%%id%%"
        read = try ServiceProfile(openAPI: Data(document.description.utf8))
        #expect(read.endpoints["one(id:)"]?.route == .uriTemplate("/one/{id}"))
        document["x-description"]?["version"] = 3
        read = try ServiceProfile(openAPI: Data(document.description.utf8))
        #expect(read.endpoints.keys == ["list(p:)", "one(id:)"] && read.notes.first?.contains("version 2") == true)
    }

    @Test func `The encodings of forms are exported and read again`() throws {
        let forms =
            #""multipart/form-data": {"encoding": {"avatar": {"contentType": "image/png"}}}, "application/x-www-form-urlencoded": {"encoding": {"ids": {"style": "form", "explode": false}}}"#
        let source =
            #"{"openapi": "3.1.0", "servers": [{"url": "https://a.test"}], "paths": {"/x": {"post": {"operationId": "x", "requestBody": {"content": {"application/json": {}, \#(forms)}}}}}}"#
        let table = try ServiceProfile(openAPI: Data(source.utf8)).endpoints
        let types = try #require(table["x(body:as:)"]?.bodyTypes)
        #expect(types.types.count == 3 && types.encodings.count == 2)
        let original = ClientDescription(client: "C", table: table)
        let read = try profile(original).endpoints
        #expect(read["x(body:as:)"]?.bodyTypes == types)
        #expect(original.markdown.contains("avatar in multipart/form-data: image/png"))

        var document = try JSONReader().decode(JSONValue.self, from: Data(original.openAPI().utf8))
        let content = document["paths"]?["/x"]?["post"]?["requestBody"]?["content"]
        #expect(content?.object?.map(\.0) == types.types)
        #expect(content?["multipart/form-data"]?["encoding"] == ["avatar": ["contentType": "image/png"]])
        #expect(content?["application/x-www-form-urlencoded"]?["encoding"] == ["ids": ["style": "form", "explode": false]])
        // An edited encoding counts.
        document["paths"]?["/x"]?["post"]?["requestBody"]?["content"]?["multipart/form-data"]?["encoding"] = [
            "avatar": ["contentType": "image/webp"]
        ]
        let edited = try ServiceProfile(openAPI: Data(document.description.utf8)).endpoints
        let encodings = edited["x(body:as:)"]?.bodyTypes?.encodings
        #expect(encodings?["multipart/form-data"] == ["avatar": PropertyEncoding(contentType: "image/webp")])
        #expect(encodings?["application/x-www-form-urlencoded"] == types.encodings["application/x-www-form-urlencoded"])
    }

    @Test(arguments: [true, false]) func `A copy of an exported operation is called by its method and path, or its own name`(
        keepsExtension: Bool
    ) throws {
        let original = description([("pets(limit:)", .get("/pets").query("limit", .argument(0)).optional("limit"))])
        var document = try JSONReader().decode(JSONValue.self, from: Data(original.openAPI().utf8))
        var copy = try #require(document["paths"]?["/pets"])
        if !keepsExtension { copy["get"]?["x-endpoint"] = nil }
        document["paths"]?["/v2/pets"] = copy
        let taken = try ServiceProfile(openAPI: Data(document.description.utf8))
        #expect(taken.endpoints.keys == ["pets(limit:)", "getV2Pets(limit:)"])
        #expect(
            taken.notes.last == "#/paths/~1v2~1pets/get: the operationId \"pets\" is the name of another operation: #/paths/~1pets/get; "
                + "it is called getV2Pets")
        document["paths"]?["/v2/pets"]?["get"]?["operationId"] = "morePets"
        let read = try ServiceProfile(openAPI: Data(document.description.utf8)).endpoints
        #expect(read.keys == ["pets(limit:)", "morePets(limit:)"])
    }

    @Test func `An operation without a name doesn't take the name of an endpoint`() throws {
        let original = description([("getX()", .get("/y")), ("find()", .endpoint("QUERY", "/z"))])
        var document = try JSONReader().decode(JSONValue.self, from: Data(original.openAPI().utf8))
        document["paths"]?["/x"] = ["get": ["responses": [:]]]
        let others = try #require(document["paths"]?["/z"]?["x-endpoints"]?.array)
        document["paths"]?["/z"]?["x-endpoints"] = .array(others + others)
        let profile = try ServiceProfile(openAPI: Data(document.description.utf8))
        #expect(profile.endpoints.keys == ["getX()", "find()", "getX2()"] && profile.endpoints["getX()"]?.route == .template("/y"))
        #expect(profile.notes.contains { $0.contains("its name getX is that of #/paths/~1y/get") }, "\(profile.notes)")
        #expect(profile.notes.contains { $0.contains("its key find() is that of #/paths/~1z/x-endpoints/0") }, "\(profile.notes)")
    }

    @Test func `Secrets and the program's own types are noted`() throws {
        struct Mine: EndpointAttribute { let text = "mine" }
        let defaults = EndpointDefaults(headers: ["Authorization": "Bearer hush", "X-Team": "red"])
        let table: Table = [("a()", .get("/a").attribute(Mine()).redirects(RedirectPolicy(.follow, limit: 99)).priority(.high))]
        let profile = try profile(description(table, defaults))
        let read = try #require(endpoints(profile).first)
        #expect(read.headers.isEmpty && read.attributes.contains("CallPriority.high"))
        #expect(profile.notes.filter { $0.contains("has a secret") }.count == 2, "\(profile.notes)")
        #expect(profile.notes.contains { $0.contains("Mine") } && profile.notes.contains { $0.contains("RedirectPolicy") })
        #expect(!profile.notes.joined().contains("hush"))
        // The credentials are a requirement that a provider fills.
        #expect(profile.endpoints["a()"]?.settings.attributes[SecurityRequirements.self] != nil)
        #expect(profile.securitySchemes.map(\.name) == ["bearer"])
    }

    @Test func `Extensions of any content are no trap`() throws {
        let original = description([("a(x:)", .get("/a/%%x%%").timeout(.seconds(5))), ("b()", .endpoint("REPORT", "/b"))]).openAPI()
        let document = try JSONReader().decode(JSONValue.self, from: Data(original.utf8))
        let values: [JSONValue] = [
            nil, true, 1, -1, "", "\u{301}", [], [nil], [:], ["a": []], .number(Int.max), "%%x%%", "…", "+ ", "cookie ",
        ]
        var random = SeededGenerator(seed: 7)
        func changed(_ value: JSONValue) -> JSONValue {
            if Int.random(in: 0..<60, using: &random) == 0 { return values.randomElement(using: &random) ?? nil }
            switch value {
            case .object(let members): return .members(members.map { ($0.0, changed($0.1)) })
            case .array(let elements): return .array(elements.map(changed))
            default: return value
            }
        }
        for _ in 0..<Sweep.rounds(ofAll: 400) {
            let text = changed(document).description
            guard let profile = try? ServiceProfile(openAPI: Data(text.utf8)) else { continue }
            for entry in profile.endpoints.entries {
                let name = try MethodName(entry.key)
                #expect(EndpointCompiler.compile(entry.descriptor, for: name, root: nil).1.isEmpty, "\(text)")
            }
        }
    }
}

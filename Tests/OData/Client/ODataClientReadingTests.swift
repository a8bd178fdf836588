import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

@Suite struct ODataClientReadingTests {
    struct Customer: Decodable, Sendable {
        let CustomerID: String
        let Orders: ToMany<Order>
        let Boss: ToOne<Boss>
    }
    struct Order: Decodable, Sendable, Equatable { let Id: Int64 }
    struct Boss: Decodable, Sendable { let Name: String }

    private let stub = StubTransport()

    private func client(_ version: ODataVersion = .v4) -> ODataClient {
        let client = ODataClient(serviceRoot: "https://h.example/svc/") {
            $0.transport = stub
            $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "s3cret")
        }
        client.printer = QueryPrinter(version: version)
        return client
    }

    private func customer(_ rest: String) async throws -> Customer {
        stub.fallback(.json(#"{"@odata.context":"https://h.example/svc/$metadata#Customers/$entity","CustomerID":"A""# + rest + "}"))
        return try await client().fetch(EntityRequest<Customer>(at: "Customers('A')"))
    }

    // MARK: Version 2

    @Test func `a client of version 2 sends version 2's headers and none of version 4's`() async throws {
        stub.fallback(.json(#"{"d":{"results":[]}}"#))
        _ = try await client(.v2).page(FetchRequest<Order>(from: "Orders").count())
        let sent = try #require(stub.requests.first)
        try sent.expectHeader("DataServiceVersion", "2.0")
        try sent.expectHeader("MaxDataServiceVersion", "2.0")
        try sent.expectHeader("Accept", "application/json")
        #expect(sent.request.headers["OData-MaxVersion"] == nil)
        try sent.expectURL("https://h.example/svc/Orders?$select=Id&$inlinecount=allpages")
    }

    @Test func `pages of version 2 are read`() async throws {
        stub["Customers"] = .inTurn(
            .json(
                #"{"d":{"results":[{"CustomerID":"A","Orders":{"__deferred":{"uri":"https://h.example/svc/Customers('A')/Orders"}}}],"__count":"2","__next":"https://h.example/svc/Customers?$skiptoken='A'"}}"#
            ),
            .json(#"{"d":{"results":[{"CustomerID":"B","Orders":{"results":[{"Id":"1"}]}}]}}"#))
        let client = client(.v2)
        let first = try await client.page(FetchRequest<Customer>(from: "Customers").count())
        #expect(first.count == 2 && first.entities[0].Orders.navigationLink?.hasSuffix("/Orders") == true)
        stub["Customers"] = .inTurn(
            .json(#"{"d":{"results":[{"CustomerID":"A"}],"__next":"https://h.example/svc/Customers?$skiptoken='A'"}}"#),
            .json(#"{"d":{"results":[{"CustomerID":"B","Orders":{"results":[{"Id":"9007199254740993"}]}}]}}"#))
        let all = try await client.fetch(FetchRequest<Customer>(from: "Customers"))
        #expect(all.map(\.CustomerID) == ["A", "B"] && all[1].Orders.elements == [Order(Id: 9_007_199_254_740_993)])
    }

    @Test func `an error of version 2 is read, also from a service of version 4`() async throws {
        let body =
            #"{"error":{"code":"X/1","message":{"lang":"en","value":"Wrong"},"innererror":{"errordetails":[{"code":"Y","message":"Seats","propertyref":"Seats"}]}}}"#
        stub.fallback(.json(body, status: 400))
        for version in ODataVersion.allCases {
            let error = await #expect(throws: ServiceError.self) { try await client(version).page(FetchRequest<Order>(from: "Orders")) }
            let read = error?.errorBody as? ODataErrorBody
            #expect(read?.message == "Wrong" && read?.details.first?.target == "Seats" && error?.status == 400)
        }
    }

    @Test func `declared endpoints of version 2 have its headers as well`() {
        let defaults = EndpointDefaults.odata(.v2)
        #expect(defaults.headers["DataServiceVersion"] == "2.0" && defaults.headers["OData-MaxVersion"] == nil)
        #expect(EndpointDefaults.odata().headers["OData-MaxVersion"] == "4.0")
    }

    // MARK: What is asked for

    @Test func `metadata and numbers as strings are requested by settings`() async throws {
        stub.fallback(.json(#"{"value":[{"Id":"5"}]}"#))
        let client = client()
        client.metadataLevel = .full
        client.asksForIEEE754Compatible = true
        #expect(try await client.fetch(FetchRequest<Order>(from: "Orders")) == [Order(Id: 5)])
        try stub.requests[0].expectHeader("Accept", "application/json;odata.metadata=full;IEEE754Compatible=true")
        client.asksForIEEE754Compatible = false
        client.metadataLevel = .none
        _ = try await client.page(FetchRequest<Order>(from: "Orders"))
        try stub.requests[1].expectHeader("Accept", "application/json;odata.metadata=none")
    }

    @Test func `the entity tag comes from the payload, or else from the header field`() async throws {
        stub["Orders(…)"] = .inTurn(
            .json(#"{"@odata.etag":"W/\"1\"","Id":1}"#, headers: ["ETag": "\"2\""]), .json(#"{"Id":1}"#, headers: ["ETag": "\"2\""]))
        let request = FetchRequest<Order>(from: "Orders").key(1)
        #expect(try await client().entity(request).metadata.etag == #"W/"1""#)
        let entity = try await client().entity(request)
        #expect(entity.metadata.etag == "\"2\"" && entity.Id == 1)
        // Undeclared properties are fetched as well.
        try stub.requests[0].expectURL("https://h.example/svc/Orders(1)")
    }

    @Test func `entities with their metadata are fetched with all properties, unless some are selected`() async throws {
        stub.fallback(.json(#"{"value":[]}"#))
        let orders = FetchRequest<Order>(from: "Orders")
        for (request, url) in [(orders.withMetadata(), "Orders"), (orders.select("Id").withMetadata(), "Orders?$select=Id")] {
            _ = try await client().page(request)
            try #require(stub.requests.last).expectURL("https://h.example/svc/" + url)
        }
        #expect(try orders.key(1).withMetadata().relativeURL() == "Orders(1)")
        #expect(try orders.key(1).select("Id").withMetadata().relativeURL() == "Orders(1)?$select=Id")
        let computed = orders.key(1).compute("Total") { $0["Id"].multiplied(by: 2) }.withMetadata()
        #expect(try computed.relativeURL(using: QueryPrinter(version: .v401)).hasSuffix("$select=*,Total"))
        stub.fallback(.json(#"{"Id":1,"ZipCode":"53111"}"#))
        #expect(try await client().entity(orders.key(1)).undeclared["ZipCode"]?.string == "53111")
        _ = try await client().entity(orders.key(1).select("Id"))
        try #require(stub.requests.last).expectURL("https://h.example/svc/Orders(1)?$select=Id")
    }

    @Test func `polymorphic entities use the client's types`() async throws {
        stub.fallback(.json(##"{"value":[{"@odata.type":"#N.Order","Id":1}]}"##))
        let client = client()
        client.types.register(Order.self, as: "N.Order")
        let found = try await client.fetch(FetchRequest<Polymorphic<any Sendable>>(from: "Things"))
        #expect(found.first?.value as? Order == Order(Id: 1))
    }

    @Test func `the payload's shape determines the version, regardless of the header field`() async throws {
        let shapes = [
            #"{"value":[{"Id":1}]}"#, #"{"@odata.context":"nonsense","value":[{"Id":1}]}"#,
            #"{"@context":"$metadata#A","value":[{"Id":1}]}"#,
            #"{"d":{"results":[{"Id":"1"}]}}"#, #"{"d":[{"Id":"1"}]}"#, #"{"odata.metadata":"x","value":[{"Id":1}]}"#,
        ]
        for shape in shapes {
            for head in ["4.0;NetFx", "3.0", "", "x"] {
                stub.fallback(.json(shape, headers: ["OData-Version": head, "DataServiceVersion": head]))
                #expect(try await client().fetch(FetchRequest<Order>(from: "Orders")) == [Order(Id: 1)])
            }
        }
    }

    // MARK: Relations

    @Test func `a relation's first page and the pages after it are one sequence`() async throws {
        let customer = try await customer(#","Orders":[{"Id":1}],"Orders@odata.nextLink":"Customers('A')/Orders?$skiptoken=1""#)
        stub.fallback(.json(#"{"value":[{"Id":2},{"Id":3}]}"#))
        var ids: [Int64] = []
        for try await order in client().entities(of: customer.Orders) { ids.append(order.Id) }
        #expect(ids == [1, 2, 3])
        try stub.requests[1].expectURL("https://h.example/svc/Customers('A')/Orders?$skiptoken=1")
        try stub.requests[1].expectHeader("Authorization")
    }

    @Test func `a relation that wasn't loaded is fetched by its link`() async throws {
        let customer = try await customer(
            #","Orders@odata.navigationLink":"Customers('A')/Orders","Boss@odata.navigationLink":"Customers('A')/Boss""#)
        stub.fallback(.json(#"{"value":[{"Id":2}]}"#))
        var ids: [Int64] = []
        for try await order in client().entities(of: customer.Orders) { ids.append(order.Id) }
        #expect(ids == [2])
        stub.fallback(.json(#"{"Name":"Bob"}"#))
        #expect(try await client().entity(of: customer.Boss)?.Name == "Bob")
        stub.fallback(.status(204))
        #expect(try await client().entity(of: customer.Boss) == nil)
        #expect(try await client().entity(of: ToOne<Boss>.null) == nil)
    }

    @Test func `a relation without a link is an error with a fix`() async throws {
        let customer = try await customer("")
        let error = await #expect(throws: ServiceError.self) { for try await _ in client().entities(of: customer.Orders) {} }
        #expect(error?.cause as? ODataLinkError == .notLoaded && error?.message.contains("expand") == true)
        await #expect(throws: ServiceError.self) { try await client().entity(of: customer.Boss) }
    }

    @Test func `credentials never follow a relation's link to another origin`() async throws {
        let customer = try await customer(
            #","Orders":[{"Id":1}],"Orders@odata.nextLink":"https://evil.example/Orders","Boss@odata.navigationLink":"https://evil.example/b""#
        )
        var ids: [Int64] = []
        let error = await #expect(throws: ServiceError.self) {
            for try await order in client().entities(of: customer.Orders) { ids.append(order.Id) }
        }
        #expect(ids == [1] && error?.kind == .link && stub.requests.count == 1)
        await #expect(throws: ServiceError.self) { try await client().entity(of: customer.Boss) }
        let open = client()
        open.foreignLinks = .followWithoutCredentials
        stub.fallback(.json(#"{"value":[{"Id":2}]}"#))
        for try await order in open.entities(of: customer.Orders) { ids.append(order.Id) }
        #expect(ids == [1, 1, 2] && stub.requests.last?.request.headers[.authorization] == nil)
    }

    @Test func `links with the host of an internal server are rebased onto the service's origin by a setting`() async throws {
        let client = client()
        client.foreignLinks = .rebase
        stub.fallback(
            .inTurn(
                .json(#"{"value":[{"Id":1}],"@odata.nextLink":"http://inside:8080/svc/Orders?$skiptoken=a%2Fb"}"#),
                .json(#"{"value":[{"Id":2}]}"#)))
        #expect(try await client.fetch(FetchRequest<Order>(from: "Orders")) == [Order(Id: 1), Order(Id: 2)])
        try stub.requests[1].expectURL("https://h.example/svc/Orders?$skiptoken=a%2Fb")
        try stub.requests[1].expectHeader("Authorization")
    }

    @Test func `a cycle of a relation's links is an error`() async throws {
        let customer = try await customer(#","Orders":[{"Id":1}],"Orders@odata.nextLink":"Customers('A')/Orders""#)
        stub.fallback(.json(#"{"value":[{"Id":2}],"@odata.nextLink":"/svc/Customers('A')/Orders"}"#))
        let error = await #expect(throws: ServiceError.self) { for try await _ in client().entities(of: customer.Orders) {} }
        guard case .loop = error?.cause as? ODataLinkError else { return #expect(Bool(false), "\(String(describing: error))") }
    }

    // MARK: Failures

    @Test func `the error of a page that the service broke off has the service's reason`() async throws {
        stub.fallback(
            .json(#"{"@odata.context":"x","value":[{"Id":1},{"Id":2,"Na{"error":{"code":"E1","message":"the database went away"}}"#))
        let error = await #expect(throws: ServiceError.self) { try await client().fetch(FetchRequest<Order>(from: "Orders")) }
        #expect((error?.errorBody as? ODataErrorBody)?.code == "E1" && error?.message.contains("the database went away") == true)
        let single = await #expect(throws: ServiceError.self) { try await client().fetch(EntityRequest<Order>(at: "Orders(1)")) }
        #expect((single?.errorBody as? ODataErrorBody)?.code == "E1")
    }

    @Test func `an answer with an error in its trailer is an error`() async throws {
        stub.fallback(.json(#"{"value":[{"Id":1}]}"#))
        let client = client().takingBackItsAnswers()
        let error = await #expect(throws: ServiceError.self) { try await client.fetch(FetchRequest<Order>(from: "Orders")) }
        #expect((error?.errorBody as? ODataErrorBody)?.code == "E1" && error?.message.contains("late") == true)
        #expect(error?.status == 200 && error?.response?.url.contains("/Orders") == true)
    }

    @Test func `an error page in HTML is an error with its status`() async throws {
        stub.fallback(.data(Data("<html>Bad gateway</html>".utf8), type: "text/html", status: 502))
        let error = await #expect(throws: ServiceError.self) { try await client().fetch(FetchRequest<Order>(from: "Orders")) }
        #expect(error?.status == 502 && error?.errorBody == nil)
        stub.fallback(.data(Data("<html>Log in</html>".utf8), type: "text/html"))
        await #expect(throws: ServiceError.self) { try await client().fetch(FetchRequest<Order>(from: "Orders")) }
    }
}

import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

@Suite struct ServiceVersionTests {
    private let stub = StubTransport()

    private func client(_ version: ODataVersion) -> ODataClient {
        let client = ODataClient(serviceRoot: "https://h.example/svc/") { $0.transport = stub }
        client.printer = QueryPrinter(version: version)
        return client
    }

    private let people = FetchRequest<DynamicEntity>(from: "People")

    @Test(arguments: [
        (ODataVersion.v4, "OData-Version", "4.02"), (.v4, "OData-Version", "5.0"), (.v401, "OData-Version", "4.02"),
        (.v2, "DataServiceVersion", "5.0;"),
    ])
    func `an answer in an unknown version is an error that names it`(
        version: ODataVersion, name: String, text: String
    ) async throws {
        let client = client(version)
        for body in [#"{"value":[{"a":1}]}"#, "[1]"] {
            stub.fallback(.json(body, headers: [HTTPFields.Name(name): text]))
            for attempt in [{ _ = try await client.page(people) }, { for try await _ in client.entities(matching: people) {} }]
                as [@Sendable () async throws -> Void]
            {
                let error = await #expect(throws: ServiceError.self) { try await attempt() }
                #expect(error?.kind == .version && error?.message.contains(text.prefix(4)) == true)
                #expect(error?.status == 200 && error?.response?.url.contains("/People") == true)
            }
        }
    }

    @Test(arguments: [
        (ODataVersion.v4, "4.0"), (.v4, "4.0;NetFx"), (.v4, " 4.0 "), (.v4, "3.0"), (.v4, "newest"), (.v4, ""), (.v401, "4.01"),
        (.v401, "4.0"), (.v4, "4.01"), (.v2, "3.0;"),
    ])
    func `any other answer is read`(version: ODataVersion, text: String) async throws {
        stub.fallback(.json(#"{"value":[{"a":1}]}"#, headers: ["OData-Version": text]))
        #expect(try await client(version).fetch(people).count == 1)
    }

    // MARK: Counting by long queries

    @Test func `a count whose query is too long for a URL is posted`() async throws {
        stub.fallback(.json(#"{"@odata.count":42,"value":[]}"#))
        let client = client(.v401)
        client.longQueries = .post(beyond: 60)
        let request = people.filter(raw: "Name eq '" + String(repeating: "x", count: 60) + "'").order(by: .ascending("Name")).top(3)
        #expect(try await client.count(of: request) == 42)
        let sent = try #require(stub.requests.last)
        try sent.expectURL("https://h.example/svc/People/$query")
        try sent.expectMethod(.post)
        let body = String(decoding: try #require(sent.body), as: UTF8.self)
        #expect(body.contains("$top=0&$count=true") && body.contains("$filter=Name") && !body.contains("$orderby"))
        stub.fallback(.json(#"{"value":[]}"#))
        await #expect(throws: ServiceError.self) { try await client.count(of: request) }
    }
}

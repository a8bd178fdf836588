import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Service operations, which version 2 has instead of actions, with parameters in the URL (OData 2.0, Operations, section 2.14).
@Suite struct ServiceOperationTests {
    struct Note: Codable, Sendable { var Text: String }
    enum Colour: String, Codable { case red }

    private let stub = StubTransport()

    private var client: ODataClient { stub.client(.v2) }

    @Test func `parameters are literals in the query, those that are nil are left out`() async throws {
        let client = client
        let approve = ResourcePath(entitySet: "Approve")
        try await client.invoke(
            approve,
            [
                "ID": 5, "Key": Int64(6), "By": "O'Neil & co", "At": EdmDate("2026-11-21"), "Why": String?.none, "Hue": Colour?.none,
            ])
        let sent = try #require(stub.requests.last)
        try sent.expectMethod(.post)
        try sent.expectURL(
            "https://h.example/svc/Approve?ID=5&Key=6L&By='O''Neil%20%26%20co'&At=datetime'2026-11-21T00%3A00%3A00'")
        #expect(sent.body == nil && sent.request.headers[.contentType] == nil)
        stub.fallback(.json(#"{"d":{"Approve":true}}"#))
        let isDone: Bool = try await client.invoke(ResourcePath("Approve"), ["ID": 5])
        #expect(isDone)
        try #require(stub.requests.last).expectURL("https://h.example/svc/Approve?ID=5")
        try await client.invoke(ResourcePath(function: "Approve", ["ID": 5]), ["Note": "x"])
        try #require(stub.requests.last).expectURL("https://h.example/svc/Approve?ID=5&Note='x'")
    }

    @Test func `a value that can't be in a URL is an error with a fix`() async throws {
        let client = client
        let structured = await #expect(throws: ServiceError.self) {
            try await client.invoke(ResourcePath(entitySet: "Approve"), ["note": Note(Text: "x")])
        }
        #expect(structured?.kind == .query && structured?.message.contains("'note'") == true)
        #expect(structured?.message.contains("EdmConvertible") == true)
        let bound = await #expect(throws: ServiceError.self) {
            try await client.invoke(ResourcePath(entitySet: "People").key(5).property("Approve"), ["ID": 5])
        }
        #expect(bound?.kind == .query && bound?.message.contains("root") == true)
        let qualified = await #expect(throws: ServiceError.self) {
            try await client.invoke(ResourcePath("Container.Approve"), ["ID": 5])
        }
        #expect(qualified?.kind == .query && qualified?.message.contains("only the operation's name") == true)
        #expect(stub.requests.isEmpty)
    }
}

import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Preferences and conditions of single requests.
@Suite struct RequestPreferencesTests {
    struct Item: Codable, Sendable, Equatable { var id: Int }

    private let stub = StubTransport()
    private let item = FetchRequest<Item>(from: "Items").key(1)

    @Test func `preferences are spelled for all versions of the protocol`() {
        let request = item.includingAnnotations("display.*", "-a\"b").omitting(.nulls).isolated()
        #expect(
            request.options.headers[values: "Prefer"] == ["odata.include-annotations=\"display.*,-ab\"", "omit-values=nulls"]
                && request.options.headers["OData-Isolation"] == "snapshot")
    }

    @Test func `an unchanged entity isn't read again`() async throws {
        let client = stub.client()
        stub.fallback(.status(304))
        #expect(try await client.entity(item, unlessVersion: "\"1\"") == nil)
        #expect(stub.requests[0].request.headers["If-None-Match"] == "\"1\"")
        stub.fallback(.json(#"{"id":1}"#, headers: ["ETag": "\"2\""]))
        let entity = try await client.entity(item, unlessVersion: "\"1\"")
        #expect(entity?.value == Item(id: 1) && entity?.metadata.etag == "\"2\"")
        #expect(try await client.entity(item, unlessVersion: nil)?.value == Item(id: 1))
        #expect(stub.requests[2].request.headers["If-None-Match"] == nil)
        for (answer, status) in [(StubAnswer.status(204), 204), (.status(404), 404), (.status(205), 205), (.status(412), 412)] {
            stub.fallback(answer)
            let error = await #expect(throws: ServiceError.self) { try await client.entity(item, unlessVersion: "\"1\"") }
            #expect(error?.status == status)
        }
        stub.fallback(.status(304))
        await #expect(throws: ServiceError.self) { try await client.entity(item, unlessVersion: nil) }
    }
}

import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

@Suite struct WriteResultTests {
    struct Trip: Codable, Sendable { var Title: String }

    private func result(_ answer: StubAnswer) async throws -> WriteResult<Trip> {
        let stub = StubTransport()
        stub.fallback(answer)
        let client = ODataClient(serviceRoot: "https://h.example/svc/") { $0.transport = stub }
        return try await client.create(Trip(Title: "a"), in: FetchRequest<Trip>(from: "People('x')/Trips"))
    }

    @Test func `links of the body are relative to its context`() async throws {
        let context = "https://h.example/svc/$metadata#Trips/$entity"
        let result = try await result(
            .json(#"{"@odata.context":"\#(context)","@odata.editLink":"Trips(5)","@odata.id":"Trips('5')","Title":"a"}"#, status: 201))
        #expect(result.location?.absoluteString == "https://h.example/svc/Trips(5)")
        #expect(result.entityID == "https://h.example/svc/Trips('5')")
    }

    @Test func `without a context of the same origin, links are relative to the request`() async throws {
        for context in [#""#, #""@odata.context":"https://inside.example/$metadata#T","#] {
            let result = try await result(.json(#"{\#(context)"@odata.editLink":"Trips(5)","Title":"a"}"#, status: 201))
            #expect(result.location?.absoluteString == "https://h.example/svc/People('x')/Trips(5)")
        }
    }

    @Test func `links in header fields are relative to the request, and precede the body's`() async throws {
        let result = try await result(
            .json(
                #"{"@odata.context":"../$metadata#Trips/$entity","@odata.editLink":"Trips(5)","@odata.id":"b","Title":"a"}"#, status: 201,
                headers: ["Location": "/svc/Trips(6)", "OData-EntityId": "../Trips(6)"]))
        #expect(result.location?.absoluteString == "https://h.example/svc/Trips(6)")
        #expect(result.entityID == "https://h.example/svc/Trips(6)")
    }

    @Test(arguments: ["urn:uuid:1-2", "https://h.example/Ö?a=b c", "tag:a,2026:x"])
    func `an absolute id is unchanged, with any scheme`(id: String) async throws {
        #expect(try await result(.json(#"{"@odata.id":"\#(id)","Title":"a"}"#, status: 201)).entityID == id)
    }
}

import Foundation
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct CommonFieldsTests {
    private func request(_ headers: HTTPFields, in common: CommonFields?) throws -> ServiceRequest {
        ServiceRequest(
            method: .get, url: try #require(URL(string: "https://api.test/")), headers: headers,
            sharing: RequestDetails.Shared(RequestDetails(), fields: common))
    }

    @Test func `A request has them in common until it is changed`() throws {
        let common = CommonFields(["Via": "a", "Accept": "x"])
        let original = try request(common.fields, in: common)
        #expect(original.commonFields === common)
        var copy = original
        #expect(copy.commonFields === common)
        copy.headers["Accept"] = "y"
        #expect(copy.commonFields == nil)
        #expect(original.commonFields === common && common.fields["Accept"] == "x")
        copy.headers["Accept"] = "x"
        // Alike, but nobody looks whether they are.
        #expect(copy.headers == common.fields && copy.commonFields == nil)
        // Another deadline makes details of its own, of which nothing is known.
        copy = original
        copy.timeouts.idle = .seconds(1)
        #expect(copy.commonFields == nil)
        #expect(try request(common.fields, in: nil).commonFields == nil)
    }

    @Test func `It is known whether they may be sent`() {
        #expect(CommonFields([:]).areValid)
        #expect(CommonFields(["Accept": "a/b", "X-Y": ""]).areValid)
        #expect(!CommonFields(["Accept": "a/b", "X Y": ""]).areValid)
        #expect(!CommonFields(["Accept": "a/b\nc", "X-Y": ""]).areValid)
    }

    @Test func `Calls of an endpoint have its fields in common, but for those that say something of their own`() async throws {
        let (client, stub) = Store.stubbed(.status(200))
        for _ in 0..<2 { try await client.get("/").send() }
        try await client.get("/").prepare { $0.headers["X-Mine"] = "1" }.send()
        try await client.get("/").send()
        let requests = stub.requests.map(\.request)
        try #require(requests.count == 4)
        #expect(requests.map { $0.commonFields != nil } == [true, true, false, true])
        #expect(requests[2].headers["X-Mine"] == "1" && requests[3].headers["X-Mine"] == nil)
    }
}

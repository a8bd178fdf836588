import Foundation
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct CommonFieldsTests {
    private func request(_ headers: HTTPFields, in common: CommonFields?) throws -> ServiceRequest {
        ServiceRequest(
            method: .get, url: try #require(URL(string: "https://api.test/")), headers: headers,
            sharing: RequestDetails.Shared(RequestDetails(), commonFields: common))
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
        // Equal fields in other storage aren't recognized as common.
        #expect(copy.headers == common.fields && copy.commonFields == nil)
        // Another deadline doesn't affect the fields.
        copy = original
        copy.timeouts.idle = .seconds(1)
        #expect(copy.commonFields === common)
        #expect(try request(common.fields, in: nil).commonFields == nil)
    }

    @Test func `It is known whether they may be sent`() {
        #expect(CommonFields([:]).areValid)
        #expect(CommonFields(["Accept": "a/b", "X-Y": ""]).areValid)
        #expect(!CommonFields(["Accept": "a/b", "X Y": ""]).areValid)
        #expect(!CommonFields(["Accept": "a/b\nc", "X-Y": ""]).areValid)
    }

    @Test func `Calls of a declared endpoint have its fields in common, but for those that say something of their own`() async throws {
        let (client, stub) = Store.stubbed(.json(#"{"id": 1, "name": "a"}"#))
        for id in 1...2 { _ = try await client.item(id: id) }
        _ = try await client.watch(id: 3) { _ in }
        _ = try await client.watch(id: 4) { $0.headers["X-Mine"] = "1" }
        _ = try await client.watch(id: 5) { $0.timeouts.idle = .seconds(9) }
        // An endpoint of a single call doesn't share its fields.
        try await client.http.get("/").send()
        let common = stub.requests.map(\.request.commonFields)
        try #require(common.count == 6)
        #expect(common[0] != nil && common[0] === common[1])
        #expect(common[2] != nil && common[2] !== common[0] && common[2] === common[4])
        #expect(common[3] == nil && common[5] == nil)
        #expect(stub.requests.map { $0.request.headers["X-Mine"] } == [nil, nil, nil, "1", nil, nil])
    }
}

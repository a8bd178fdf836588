import Foundation
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct RequestDetailsTests {
    private static let identity = CallIdentity(client: "Shop", key: "order()", route: "/orders")

    /// Each shared property, with a change and a check that the change was made.
    private static let properties: [(change: @Sendable (inout ServiceRequest) -> Void, isChanged: @Sendable (ServiceRequest) -> Bool)] = [
        ({ $0.timeouts.idle = .seconds(7) }, { $0.timeouts.idle == .seconds(7) }),
        ({ $0.trust = TrustPolicy(minimumTLSVersion: .tlsv13) }, { $0.trust?.minimumTLSVersion == .tlsv13 }),
        ({ $0.uploadProgress = { _ in } }, { $0.uploadProgress != nil }),
        ({ $0.downloadProgress = { _ in } }, { $0.downloadProgress != nil }),
        ({ $0.identity = identity }, { $0.identity == identity }),
    ]

    @Test func `What is changed in a copy changes nothing else, there or in the original`() throws {
        let original = ServiceRequest(url: try #require(URL(string: "https://api.test/")))
        for changed in Self.properties.indices {
            var copy = original
            Self.properties[changed].change(&copy)
            for (index, property) in Self.properties.enumerated() {
                #expect(property.isChanged(copy) == (index == changed))
                #expect(!property.isChanged(original))
            }
        }
        var all = original
        for property in Self.properties { property.change(&all) }
        #expect(Self.properties.allSatisfy { $0.isChanged(all) })
    }

    @Test func `What a call changes in its request is gone with the next call of the endpoint`() async throws {
        let (client, stub) = Store.stubbed(.status(200))
        try await client.http.get("/").prepare { request in
            for property in Self.properties { property.change(&request) }
        }.send()
        try await client.http.get("/").send()
        let requests = stub.requests.map(\.request)
        try #require(requests.count == 2)
        #expect(Self.properties.allSatisfy { $0.isChanged(requests[0]) })
        #expect(Self.properties.allSatisfy { !$0.isChanged(requests[1]) })
        #expect(requests[1].timeouts == ServiceTimeouts())
    }
}

import Testing

@testable import HTTPTransport

@Suite struct DefaultTransportTests {
    private let failure = CurlUnavailable(reason: "there is no libcurl")

    @Test func `without libcurl it is URLSession, and says why`() {
        let choice = DefaultTransport.choice(from: .failure(failure))
        #expect(choice.transport is URLSessionTransport)
        #if canImport(FoundationNetworking)
        #expect(choice.reason == failure.description)
        #endif
    }

    @Test func `only calls over the second best are told of`() throws {
        let note = DefaultTransport.note(to: "Shop", over: URLSessionTransport.shared, reason: failure.description)
        #expect(note?.level == .notice)
        #expect(note?.message.contains("Shop") == true && note?.message.contains("there is no libcurl") == true)
        #expect(DefaultTransport.note(to: "Shop", over: URLSessionTransport.shared, reason: nil) == nil)
        #expect(DefaultTransport.note(to: "Shop", over: StandIn(), reason: failure.description) == nil)
    }

    private struct StandIn: Transport {
        let capabilities: TransportCapabilities = []
        func send(_ request: ServiceRequest) async throws -> TransportResponse { throw CancellationError() }
    }
}

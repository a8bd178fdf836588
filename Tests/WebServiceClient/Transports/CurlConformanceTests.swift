import Testing
import WebServiceClient
import WebServiceTesting

/// What libcurl keeps of what a transport owes, and what is known not to hold.
@Suite(.enabled(if: CurlTransport.shared != nil, "libcurl isn't here.")) struct CurlConformanceTests {
    private static let suite = TransportConformance(limit: .seconds(300)) {
        try CurlTransport()
    }

    @Test(.atOnce(8), arguments: TransportConformance.cases) func conforms(_ item: ConformanceCase) async throws {
        try await Self.suite.check(item)
    }

    #if os(Linux)
    @Test(.atOnce(8), arguments: TransportConformance.cases)
    func `conforms where its callers' tasks run on its own thread`(_ item: ConformanceCase) async throws {
        let transport = try CurlTransport()
        let suite = TransportConformance(limit: .seconds(300)) { transport }
        _ = try await withTaskExecutorPreference(transport.taskExecutor) { try await suite.check(item) }
    }
    #endif
}

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
}

import Testing
import WebServiceClient
import WebServiceTesting

/// What libcurl keeps of what a transport owes, and what is known not to hold.
@Suite(.enabled(if: CurlTransport.shared != nil, "libcurl isn't here.")) struct CurlConformanceTests {
    private static let suite = TransportConformance(knownGaps: knownGaps, limit: .seconds(300)) {
        try CurlTransport()
    }

    private static let knownGaps = [
        "compression/truncated": "Compressed bytes that end too early count as whole."
    ]

    @Test(arguments: TransportConformance.cases) func conforms(_ item: ConformanceCase) async throws {
        try await Self.suite.check(item)
    }
}

import Testing
import WebServiceClient
import WebServiceTesting

/// What libcurl keeps of what a transport owes, and what is known not to hold.
@Suite(.enabled(if: CurlTransport.shared != nil, "libcurl isn't here.")) struct CurlConformanceTests {
    private static let suite = TransportConformance(knownGaps: knownGaps, limit: .seconds(60)) {
        try CurlTransport()
    }

    private static let knownGaps = [
        "uploads/progress-empty": "An empty body's progress isn't told.",
        "cuts/head": "To be mended: a cut just before the empty line is `truncated`, by libcurl's error 18, though there is no head.",
        "compression/truncated": "Compressed bytes that end too early count as whole.",
    ]

    @Test(arguments: TransportConformance.cases) func conforms(_ item: ConformanceCase) async throws {
        try await Self.suite.check(item)
    }
}

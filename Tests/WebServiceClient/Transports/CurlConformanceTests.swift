import Testing
import WebServiceClient
import WebServiceTesting

/// What libcurl keeps of what a transport owes, and what is known not to hold.
@Suite(.enabled(if: CurlTransport.shared != nil, "libcurl isn't here.")) struct CurlConformanceTests {
    private static let suite = TransportConformance(knownGaps: knownGaps, fatalGaps: fatalGaps, limit: .seconds(60)) {
        try CurlTransport()
    }

    private static let knownGaps = [
        "uploads/progress-empty": "An empty body's progress isn't told.",
        "compression/truncated": "Compressed bytes that end too early count as whole.",
    ]
    private static let fatalGaps = [
        "cuts/head": "To be mended: a connection that ends in order within the head lets the call hang, past all deadlines."
    ]

    @Test(arguments: TransportConformance.cases) func conforms(_ item: ConformanceCase) async throws {
        try await Self.suite.check(item)
    }
}

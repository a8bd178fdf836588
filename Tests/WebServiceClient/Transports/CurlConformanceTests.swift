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
        "uploads/early-answer": "To be mended: an answer before a stream's end throws CancellationError.",
        "uploads/early-answer-closing": "To be mended: as above.",
        "uploads/early-answer-reset": "To be mended: as above.",
        "malformed/bad-length": "Digits at its beginning count.",
        "malformed/huge-length": "Such a length counts for none.",
        "malformed/chunks": "To be mended: libcurl's error 43 for a bad chunk is `other`.",
    ]
    private static let fatalGaps = [
        "cuts/head": "To be mended: a connection that ends in order within the head lets the call hang, past all deadlines."
    ]

    @Test(arguments: TransportConformance.cases) func conforms(_ item: ConformanceCase) async throws {
        try await Self.suite.check(item)
    }
}

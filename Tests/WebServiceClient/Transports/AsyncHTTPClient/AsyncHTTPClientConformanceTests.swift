#if AsyncHTTPClient
import Testing
import WebServiceClient
import WebServiceTesting

/// Everything that a transport owes its callers, as far as it is declared.
@Suite struct AsyncHTTPClientConformanceTests {
    private let suite = TransportConformance { AsyncHTTPClientEngine.transport }

    @Test(arguments: TransportConformance.cases)
    func conforms(_ item: ConformanceCase) async throws {
        try await suite.check(item)
    }
}
#endif

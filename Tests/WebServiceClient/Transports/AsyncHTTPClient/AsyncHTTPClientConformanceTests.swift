#if AsyncHTTPClient
import Testing
import WebServiceClient
import WebServiceTesting

/// Everything that a transport owes its callers, as far as it is declared.
@Suite(.serialized) struct AsyncHTTPClientConformanceTests {
    private let suite = TransportConformance(knownGaps: [
        "compression/raw-deflate": "SwiftNIO's decompressor reads deflate in zlib's format only.",
        "fields/response-folded": "SwiftNIO's parser refuses folded fields.",
        "fields/response-latin1": "SwiftNIO reads values as UTF-8 and repairs what is none.",
        "fields/response-many": "SwiftNIO's parser reads no head of that size.",
        "plain/chunks": "SwiftNIO's parser refuses some of the forms that chunks can have.",
        "targets/plain": "A path with escapes that are no UTF-8 is refused, since HTTPClient would send another.",
    ]) { AsyncHTTPClientEngine.transport }

    @Test(arguments: TransportConformance.cases)
    func conforms(_ item: ConformanceCase) async throws {
        try await suite.check(item)
    }
}
#endif

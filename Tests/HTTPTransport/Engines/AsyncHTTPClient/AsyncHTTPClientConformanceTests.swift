#if AsyncHTTPClient
import Testing
import HTTPTransport
import TransportConformance
import WebServiceTesting

/// Runs the whole conformance suite, apart from the known gaps.
@Suite struct AsyncHTTPClientConformanceTests {
    private static let knownGaps = [
        "compression/raw-deflate": "SwiftNIO's decompressor reads deflate in zlib's format only.",
        "fields/response-folded": "SwiftNIO's parser refuses folded fields.",
        "fields/response-latin1": "SwiftNIO reads values as UTF-8 and repairs what is none.",
        "fields/response-many": "SwiftNIO's parser reads no head of that size.",
        "plain/chunks": "SwiftNIO's parser refuses some of the forms that chunks can have.",
        "proxies/plain": "HTTPClient asks for a tunnel also where the request isn't secure.",
        "proxies/credentials": "As proxies/plain: the credentials stand within the tunnel.",
        "proxies/statuses": "As proxies/plain: what the proxy answers is the refusal of a tunnel.",
        "targets/plain": "A path with escapes that are no UTF-8 is refused, since HTTPClient would send another.",
    ]
    /// The cases whose outcome depends on how soon HTTPClient learns of the change. They aren't run.
    private static let late = [
        "connections/late-bytes": "HTTPClient takes bytes on an idle connection for the next response.",
        "connections/late-end": "HTTPClient may send a request on a connection that the server has closed; the call then fails.",
        "connections/late-reset": "HTTPClient may send a request on a connection that the server has reset; the call then fails.",
    ]
    private static let lacking: TransportCapabilities = [
        .trailers, .metrics, .informationalResponses, .proxyAuthentication, .connectDeadlines, .pinning, .clientCertificates,
        .clientCertificatesInPEM, .ownCertificateAuthorities, .minimumTLSVersion,
    ]
    private static let suite = TransportConformance(
        knownGaps: knownGaps, fatalGaps: late, limit: .seconds(300), proxied: AsyncHTTPClientEngine.through
    ) { AsyncHTTPClientEngine.transport }

    @Test(.atOnce(8), arguments: TransportConformance.cases) func conforms(_ item: ConformanceCase) async throws {
        try await Self.suite.run(item, lacking: Self.lacking)
    }
}
#endif

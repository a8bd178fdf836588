public import Foundation

extension CurlTransport: TrustEvaluating {
    /// Connects to the URL's host, checks its certificates and pins, and closes the connection: no request is sent.
    ///
    /// - Throws: the same ``TransportError`` as a call; `badRequest` for a URL that isn't `https`, `unsupported` where the library doesn't
    ///   show its certificates.
    public func evaluateTrust(of url: URL, policy: TrustPolicy?, timeout: Duration) async throws -> TrustEvaluation {
        let request = try TrustProbe.request(to: url, policy: policy, timeout: timeout)
        guard capabilities.contains(.pinning) else {
            throw TransportError(
                .unsupported, "libcurl \(library.version) with \(library.tls ?? "no TLS") doesn't show the certificates it has verified.")
        }
        let probe = TrustProbe()
        return try await probe.evaluation(of: url) {
            let head = try await exchange(for: request, probe: probe).head()
            if head.isOfTunnel {
                throw TransportError(
                    .proxyRefused,
                    "The proxy on the way to \(url.host() ?? "the host") wants credentials: a check without a call has only those in the URL of "
                        + "CurlTransport.Configuration.proxy.")
            }
        }
    }
}

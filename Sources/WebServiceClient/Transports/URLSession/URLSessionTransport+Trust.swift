#if canImport(Security)
public import Foundation

extension URLSessionTransport: TrustEvaluating {
    /// Connects to the URL's host in a session of its own, so that no kept connection is used, checks its certificates and pins, and ends the
    /// handshake there: no request is sent.
    ///
    /// The evaluation doesn't tell the version of TLS, which isn't settled by then.
    ///
    /// - Throws: the same ``TransportError`` as a call; `badRequest` for a URL that isn't `https`.
    public func evaluateTrust(of url: URL, policy: TrustPolicy?, timeout: Duration) async throws -> TrustEvaluation {
        try Task.checkCancellation()
        let request = try TrustProbe.request(to: url, policy: policy, timeout: timeout)
        try policy?.check(capabilities, callTo: request.origin)
        let probe = TrustProbe()
        let session = try TrustedSession(policy ?? TrustPolicy(), sessionConfiguration, probe: probe)
        return try await probe.evaluation(of: url) {
            _ = try await send(request, over: session)
        }
    }
}
#endif

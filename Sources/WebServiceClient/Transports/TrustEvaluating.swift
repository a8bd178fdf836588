public import Foundation

/// A transport that can check whether a server is trusted without making a call.
///
///     let evaluation = try await transport.evaluateTrust(of: url, policy: policy)
///     print(evaluation.publicKeyPins)         // what could be pinned
public protocol TrustEvaluating: Transport {
    /// Connects to the URL's host, checks its certificates and pins, and closes the connection: no request is sent.
    ///
    /// - Parameters:
    ///   - url: a URL of scheme `https`; its path doesn't matter.
    ///   - policy: whom to trust; `nil` takes the transport's own policy.
    ///   - timeout: how long it may take. Default 30 seconds.
    /// - Throws: the same ``TransportError`` as a call: ``TransportError/isTrustFailure`` tells when the server isn't trusted.
    func evaluateTrust(of url: URL, policy: TrustPolicy?, timeout: Duration) async throws -> TrustEvaluation
}

extension TrustEvaluating {
    /// The same within 30 seconds.
    public func evaluateTrust(of url: URL, policy: TrustPolicy? = nil) async throws -> TrustEvaluation {
        try await evaluateTrust(of: url, policy: policy, timeout: .seconds(30))
    }
}

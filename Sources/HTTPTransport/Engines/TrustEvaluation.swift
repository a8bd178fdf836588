public import Foundation

/// The verified results of evaluating a server's trust.
public struct TrustEvaluation: Sendable, Hashable {
    /// The evaluated host.
    public let host: String
    /// The verified certificate chain, the server's certificate first.
    public let chain: [Certificate]
    /// The version of TLS, such as `TLSv1.3`, if the transport knows it.
    public let tlsVersion: String?

    /// The pins of the chain's public keys, the server's first, in the form for ``CertificatePin/publicKey(sha256:)-(String)``.
    public var publicKeyPins: [String] { chain.map(\.publicKeyPin) }

    /// Creates an evaluation.
    public init(host: String, chain: [Certificate], tlsVersion: String? = nil) {
        self.host = host
        self.chain = chain
        self.tlsVersion = tlsVersion
    }
}

/// A transport that can evaluate whether a server is trusted without making a call.
///
///     let evaluation = try await transport.evaluateTrust(of: url, policy: policy)
///     print(evaluation.publicKeyPins)         // possible pins
public protocol TrustEvaluating: Transport {
    /// Connects to the URL's host, checks its certificates and pins, and closes the connection without sending a request.
    ///
    /// - Parameters:
    ///   - url: A URL with the scheme `https`; its path is ignored.
    ///   - policy: The trust policy; `nil` for the transport's own.
    ///   - timeout: The time limit. Default 30 seconds.
    /// - Throws: The same ``TransportError`` as a call: ``TransportError/isTrustFailure`` is `true` if the server isn't trusted.
    func evaluateTrust(of url: URL, policy: TrustPolicy?, timeout: Duration) async throws -> TrustEvaluation
}

extension TrustEvaluating {
    /// Evaluates trust within 30 seconds.
    ///
    /// - Throws: The errors of ``evaluateTrust(of:policy:timeout:)``.
    public func evaluateTrust(of url: URL, policy: TrustPolicy? = nil) async throws -> TrustEvaluation {
        try await evaluateTrust(of: url, policy: policy, timeout: .seconds(30))
    }
}

/// Takes the result of an established connection before anything is sent over it, in place of a request.
package final class TrustProbe: Sendable {
    /// The connection is established and trusted; the exchange ends here.
    package struct Done: Error {}

    private let found = Locked<TrustEvaluation?>(nil)

    /// Ends an exchange whose connection has passed all checks.
    package func found(_ evaluation: TrustEvaluation) -> Done {
        found.withLock { $0 = evaluation }
        return Done()
    }

    /// Returns the request whose connection is evaluated.
    ///
    /// - Throws: ``TransportError/Code/badRequest`` for a URL that isn't `https`.
    package static func request(to url: URL, policy: TrustPolicy?, timeout: Duration) throws(TransportError) -> ServiceRequest {
        guard url.scheme?.lowercased() == "https" else {
            throw TransportError(.badRequest, "Trust can be evaluated only for https: \(SecretMask.text(of: url)) has another scheme.")
        }
        var request = ServiceRequest(method: .head, url: url, timeouts: ServiceTimeouts(firstByte: timeout))
        request.trust = policy
        return request
    }

    /// Returns the evaluation by an exchange, which must end without a response.
    func evaluation(of url: URL, by exchange: () async throws -> Void) async throws -> TrustEvaluation {
        do {
            try await exchange()
        } catch is Done {
            if let evaluation = found.withLock({ $0 }) { return evaluation }
        } catch let error as TransportError where error.code == .timedOutWaiting {
            let host = url.host() ?? "The host"
            throw TransportError(
                error.code,
                "\(host) didn't complete the TLS handshake in time: is it reachable, and does it support TLS? `timeout` sets "
                    + "the time.")
        }
        throw TransportError(.other, "\(url.host() ?? "The host") responded without a secure connection: use an https URL.")
    }
}

public import Foundation

/// What a server has shown when its trust was checked, all of it verified.
public struct TrustEvaluation: Sendable, Hashable {
    /// The host that was asked.
    public let host: String
    /// The verified chain of certificates, the server's own first.
    public let chain: [Certificate]
    /// The version of TLS, such as `TLSv1.3`, where the transport knows it.
    public let tlsVersion: String?

    /// The pins of the chain's public keys, the server's own first: what ``CertificatePin/publicKey(sha256:)-(String)`` takes.
    public var publicKeyPins: [String] { chain.map(\.publicKeyPin) }

    /// An evaluation.
    public init(host: String, chain: [Certificate], tlsVersion: String? = nil) {
        self.host = host
        self.chain = chain
        self.tlsVersion = tlsVersion
    }
}

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

/// Takes the place of a request: what a connection has shown, before anything is sent over it.
package final class TrustProbe: Sendable {
    /// The connection stands and is trusted; the exchange ends here.
    package struct Done: Error {}

    private let found = Locked<TrustEvaluation?>(nil)

    /// Ends an exchange whose connection has passed all checks.
    package func found(_ evaluation: TrustEvaluation) -> Done {
        found.withLock { $0 = evaluation }
        return Done()
    }

    /// The request whose connection is looked at.
    ///
    /// - Throws: ``TransportError/Code/badRequest`` for a URL that isn't `https`.
    package static func request(to url: URL, policy: TrustPolicy?, timeout: Duration) throws(TransportError) -> ServiceRequest {
        guard url.scheme?.lowercased() == "https" else {
            throw TransportError(.badRequest, "Trust is a matter of https: \(SecretMask.text(of: url)) is another scheme.")
        }
        var request = ServiceRequest(method: .head, url: url, timeouts: ServiceTimeouts(firstByte: timeout))
        request.trust = policy
        return request
    }

    /// What was found by an exchange that must not come to an answer.
    func evaluation(of url: URL, by exchange: () async throws -> Void) async throws -> TrustEvaluation {
        do {
            try await exchange()
        } catch is Done {
            if let evaluation = found.withLock({ $0 }) { return evaluation }
        } catch let error as TransportError where error.code == .timedOutWaiting {
            let host = url.host() ?? "The host"
            throw TransportError(
                error.code, "\(host) shook no hands in time: is it reachable, and does it speak TLS there? `timeout` sets the time.")
        }
        throw TransportError(.other, "\(url.host() ?? "The host") answered without a secure connection.")
    }
}

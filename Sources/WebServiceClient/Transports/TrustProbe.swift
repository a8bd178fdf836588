import Foundation

/// Takes the place of a request: what a connection has shown, before anything is sent over it.
final class TrustProbe: Sendable {
    /// The connection stands and is trusted; the exchange ends here.
    struct Done: Error {}

    private let found = Locked<TrustEvaluation?>(nil)

    /// Ends an exchange whose connection has passed all checks.
    func found(_ evaluation: TrustEvaluation) -> Done {
        found.withLock { $0 = evaluation }
        return Done()
    }

    /// The request whose connection is looked at.
    ///
    /// - Throws: ``TransportError/Code/badRequest`` for a URL that isn't `https`.
    static func request(to url: URL, policy: TrustPolicy?, timeout: Duration) throws(TransportError) -> ServiceRequest {
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

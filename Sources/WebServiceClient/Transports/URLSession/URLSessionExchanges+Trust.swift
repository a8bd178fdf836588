#if canImport(Security)
import Foundation

extension URLSessionExchanges {
    /// Answers a challenge of TLS by the session's trust policy; without one the system does. It fails closed.
    func answer(
        _ challenge: URLAuthenticationChallenge, of task: URLSessionTask,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let trust else { return completionHandler(.performDefaultHandling, nil) }
        let space = challenge.protectionSpace
        guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust else {
            // Without an identity the handshake goes on without one: the system must not choose one of the user's.
            return completionHandler(.useCredential, trust.credential)
        }
        let host = space.host
        let exchange = exchange(of: task)
        guard let server = space.serverTrust else {
            exchange?.abandon(TransportError(.tls, "\(host) could not be checked, since it has shown no certificate."))
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        let probe = probe
        trust.evaluate(server, host: host) { result in
            switch result {
            case .failure(let failure): exchange?.abandon(failure)
            case .success(let passed):
                guard let probe else { return completionHandler(.useCredential, passed.credential) }
                exchange?.abandon(probe.found(TrustEvaluation(host: host, chain: passed.chain)))
            }
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }

    /// The error of a task, or what the policy had against its server: the system only says that the task was cancelled.
    func explained(_ error: (any Error)?, of task: URLSessionTask) -> (any Error)? {
        guard let trust, (error as? URLError)?.code == .cancelled else { return error }
        return task.originalRequest?.url?.host(percentEncoded: false).flatMap { trust.lastFailure(host: $0) } ?? error
    }
}
#endif

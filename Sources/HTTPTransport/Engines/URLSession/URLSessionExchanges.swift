import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The one delegate of the session: brings what URLSession says of a task to the exchange that the task belongs to.
///
/// Delegates of single tasks aren't asked about redirects and challenges on Linux, so there is this one with a table.
final class URLSessionExchanges: NSObject, URLSessionDataDelegate, Sendable {
    /// Where tasks are made, resumed and cancelled: each of these waits for URLSession's own queue, and nothing else may wait with it.
    let control = DispatchQueue(label: "WebServiceClient.URLSessionTransport.control")
    private let table = Locked<[Int: URLSessionExchange]>([:])

    #if canImport(Security)
    /// Answers the challenges of TLS; `nil` leaves them to the system.
    let trust: TrustEvaluator?
    /// Ends exchanges once their servers have passed.
    let probe: TrustProbe?

    init(trust: TrustEvaluator? = nil, probe: TrustProbe? = nil) {
        self.trust = trust
        self.probe = probe
    }
    #endif

    /// Brings to the exchange whatever comes of the task. To be called before the task is resumed.
    func add(_ exchange: URLSessionExchange, for task: URLSessionTask) {
        table.withLock { $0[task.taskIdentifier] = exchange }
    }

    /// Nothing that still comes of the task is wanted.
    func remove(_ task: URLSessionTask) {
        table.withLock { $0[task.taskIdentifier] = nil }
    }

    func exchange(of task: URLSessionTask) -> URLSessionExchange? {
        table.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        exchange(of: task)?.sent(totalBytesSent)
    }

    /// Redirects are refused: the 3xx is the response, and whoever wants to follow it does so above the transport.
    ///
    /// Answered where tasks are cancelled, and only for one that isn't: on Linux, an answer that comes after the task was cancelled ends the
    /// process.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        control.async { [self] in
            // What is to be cancelled leaves the table before that is queued.
            guard exchange(of: task) != nil else { return }
            completionHandler(nil)
        }
    }

    /// Credentials are never given: the 401 is the response.
    ///
    /// On Linux the challenge comes after the whole response, which then is complete; the task would wait for an answer for ever and is
    /// cancelled. On Apple platforms it comes before the response, which follows once the protection space is rejected.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        exchange(of: task)?.complete(nil, response: challenge.failureResponse)
        control.async { completionHandler(.cancelAuthenticationChallenge, nil) }
        #else
        switch challenge.protectionSpace.authenticationMethod {
        case NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate:
            answer(challenge, of: task, completionHandler)
        default:
            completionHandler(.rejectProtectionSpace, nil)
        }
        #endif
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        #if canImport(Security)
        exchange(of: task)?.complete(explained(error, of: task), response: task.response)
        #else
        exchange(of: task)?.complete(error, response: task.response)
        #endif
    }
}

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

/// The queue that URLSession calls its delegate on: one call at a time, on a serial dispatch queue.
///
/// Such a queue gets a thread even where tasks keep every core busy. An operation queue left to itself may get none, and then idle times
/// would pass while pieces that have arrived wait.
///
/// `@unchecked Sendable`: as its superclass is; the one property never changes.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
    /// Held here, since the operation queue doesn't hold it.
    private let events = DispatchQueue(label: "WebServiceClient.URLSessionTransport.delegate")

    override init() {
        super.init()
        maxConcurrentOperationCount = 1
        underlyingQueue = events
    }
}

/// A task that was resumed, and how to get rid of it.
struct RunningTask: Sendable {
    let task: URLSessionTask
    let table: URLSessionExchanges

    /// Takes the task out of the table: nothing more of it is wanted.
    ///
    /// It is cancelled on a queue of its own: `cancel()` waits for URLSession's own queue, which on Linux may at that moment wait for the
    /// thread that cancels.
    func release(cancelling: Bool) {
        table.remove(task)
        guard cancelling else { return }
        table.control.async { task.cancel() }
    }
}

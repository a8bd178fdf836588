import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The delegate of the session: passes the events of each task to its exchange.
///
/// On Linux, delegates of single tasks aren't asked about redirects and challenges. Therefore there is one delegate with a table.
final class URLSessionExchanges: NSObject, URLSessionDataDelegate, Sendable {
    /// The queue on which tasks are created, resumed and cancelled: each of these calls blocks until URLSession's internal queue has
    /// processed it, and nothing else may block with it.
    let control = DispatchQueue(label: "WebServiceClient.URLSessionTransport.control")
    private let table = Locked<[Int: URLSessionExchange]>([:])
    #if !canImport(FoundationNetworking)
    private let sockets = Locked<[Int: URLSessionSocket]>([:])
    #endif

    #if canImport(Security)
    /// Answers TLS challenges; `nil` for the system's handling.
    let trust: TrustEvaluator?
    /// Ends exchanges once their servers have passed.
    let probe: TrustProbe?

    init(trust: TrustEvaluator? = nil, probe: TrustProbe? = nil) {
        self.trust = trust
        self.probe = probe
    }
    #endif

    /// Passes the events of a task to an exchange. Must be called before the task is resumed.
    func add(_ exchange: URLSessionExchange, for task: URLSessionTask) {
        table.withLock { $0[task.taskIdentifier] = exchange }
    }

    /// Ignores all further events of a task.
    func remove(_ task: URLSessionTask) {
        table.withLock { $0[task.taskIdentifier] = nil }
        #if !canImport(FoundationNetworking)
        sockets.withLock { $0[task.taskIdentifier] = nil }
        #endif
    }

    #if !canImport(FoundationNetworking)
    /// Passes the events of its task to a WebSocket. Must be called before the task is resumed.
    func add(_ socket: URLSessionSocket) {
        sockets.withLock { $0[socket.task.taskIdentifier] = socket }
    }

    func socket(of task: URLSessionTask) -> URLSessionSocket? {
        sockets.withLock { $0[task.taskIdentifier] }
    }
    #endif

    /// Whether the events of a task are awaited.
    private func isKnown(_ task: URLSessionTask) -> Bool {
        #if !canImport(FoundationNetworking)
        if socket(of: task) != nil { return true }
        #endif
        return exchange(of: task) != nil
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

    /// Refuses redirects: the 3xx is the response, and redirects are followed above the transport.
    ///
    /// Answers on the queue on which tasks are cancelled, and only if the task isn't: on Linux, an answer after the cancellation ends the
    /// process.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        control.async { [self] in
            // A task leaves the table before its cancellation is queued.
            guard isKnown(task) else { return }
            completionHandler(nil)
        }
    }

    /// Never provides credentials: the 401 is the response.
    ///
    /// On Linux, the challenge arrives after the whole response, which is complete then; the task would wait forever for an answer, and is
    /// cancelled. On Apple platforms, it arrives before the response, which follows once the protection space is rejected.
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
        if let socket = socket(of: task) { return socket.completed(explained(error, of: task)) }
        exchange(of: task)?.complete(explained(error, of: task), response: task.response)
        #else
        exchange(of: task)?.complete(error, response: task.response)
        #endif
    }
}

#if canImport(Security)
import Foundation

extension URLSessionExchanges {
    /// Answers a TLS challenge according to the session's trust policy; without one, the system does. If anything is missing, the challenge
    /// is cancelled.
    func answer(
        _ challenge: URLAuthenticationChallenge, of task: URLSessionTask,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let trust else { return completionHandler(.performDefaultHandling, nil) }
        let space = challenge.protectionSpace
        guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust else {
            // Without an identity, the handshake continues without one: the system must not choose one of the user's.
            return completionHandler(.useCredential, trust.credential)
        }
        let host = space.host
        let exchange = exchange(of: task)
        guard let server = space.serverTrust else {
            exchange?.abandon(TransportError(.tls, "\(host) could not be checked, because it presented no certificate."))
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

    /// Returns the error of a task, or the trust policy's error for its server: the system reports only a cancellation.
    func explained(_ error: (any Error)?, of task: URLSessionTask) -> (any Error)? {
        guard let trust, (error as? URLError)?.code == .cancelled else { return error }
        return task.originalRequest?.url?.host(percentEncoded: false).flatMap { trust.lastFailure(host: $0) } ?? error
    }
}
#endif

#if !canImport(FoundationNetworking)
extension URLSessionExchanges: URLSessionWebSocketDelegate {
    func urlSession(_ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol subprotocol: String?) {
        socket(of: webSocketTask)?.opened(subprotocol)
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) {
        socket(of: webSocketTask)?.completed(nil)
    }
}
#endif

/// The queue for URLSession's delegate calls: serial, on a dispatch queue.
///
/// A serial dispatch queue gets a thread even if tasks keep every core busy. An operation queue alone may get none, and idle times would
/// pass while received pieces wait.
///
/// `@unchecked Sendable`: as its superclass; the only property never changes.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
    /// Retained here, because the operation queue doesn't retain it.
    private let events = DispatchQueue(label: "WebServiceClient.URLSessionTransport.delegate")

    override init() {
        super.init()
        maxConcurrentOperationCount = 1
        TransportThread.mark(events)
        underlyingQueue = events
    }
}

/// A task that was resumed, and the means to end it.
struct RunningTask: Sendable {
    let task: URLSessionTask
    let table: URLSessionExchanges

    /// Removes the task from the table: its further events are ignored.
    ///
    /// It is cancelled on a separate queue: `cancel()` waits for URLSession's internal queue, which on Linux may be waiting for the
    /// cancelling thread at that moment.
    func release(cancelling: Bool) {
        table.remove(task)
        guard cancelling else { return }
        table.control.async { task.cancel() }
    }
}

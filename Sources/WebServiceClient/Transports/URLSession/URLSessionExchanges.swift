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

import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session with its delegate, for requests of one trust policy.
///
/// URLSession checks a server when it connects, not for each request: were requests of several policies to share a session, one with
/// pins could go over a connection that was made without them. So each policy has a session, and connections, of its own; ``TrustedSessions``
/// says more.
final class TrustedSession: Sendable {
    private let session: URLSession
    private let exchanges: URLSessionExchanges
    private let isInvalid = Locked(false)

    init(_ configuration: URLSessionConfiguration, exchanges: URLSessionExchanges) {
        self.exchanges = exchanges
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: DelegateQueue())
    }

    deinit {
        invalidate()
    }

    /// Ends the session: exchanges that are under way go on to their end, new ones are refused. The last reference does the same.
    func invalidate() {
        isInvalid.withLock { [session, exchanges] isInvalid in
            guard !isInvalid else { return }
            isInvalid = true
            exchanges.control.async { session.finishTasksAndInvalidate() }
        }
    }

    /// Has the task made and resumed, on the queue that also cancels: URLSession lets whoever does that wait for its own queue, and the
    /// threads that run tasks must not wait.
    func start(_ exchange: URLSessionExchange, _ request: URLRequest, _ upload: UploadSource) {
        // A session that was invalidated ends the process when it is asked for a task: so what is on the queue is in the right order.
        let isAccepted = isInvalid.withLock { [session, exchanges] isInvalid in
            guard !isInvalid else { return false }
            exchanges.control.async {
                guard exchange.isWanted else { return }
                let task = Self.task(session, request, upload)
                exchanges.add(exchange, for: task)
                task.resume()
                exchange.attach(RunningTask(task: task, table: exchanges))
            }
            return true
        }
        guard !isAccepted else { return }
        exchange.abandon(TransportError(.other, "The transport was invalidated: make a new one, or keep this one for longer."))
    }

    private static func task(_ session: URLSession, _ request: URLRequest, _ upload: UploadSource) -> URLSessionTask {
        switch upload {
        case .none: session.dataTask(with: request)
        case .data(let data): session.uploadTask(with: request, from: data)
        case .file(let file, _): session.uploadTask(with: request, fromFile: file)
        case .spool(let spool): session.uploadTask(with: request, fromFile: spool.file)
        }
    }
}

import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if canImport(Security)
import Foundation
import Security

/// The sessions of the most recently used trust policies, on Apple platforms.
///
/// Hosts with different pins have different sessions, even with the same policy: over HTTP/2, the system sends requests for one host over a
/// connection to another host whose certificate names both (RFC 9113 §9.1.1), and then doesn't ask to check the server again.
final class TrustedSessions: Sendable {
    /// The maximum number of sessions. A session that is dropped ends after its exchanges.
    private static let limit = 16

    private struct Entry {
        let policy: TrustPolicy
        let pins: PinSet?
        let session: TrustedSession
    }

    private struct State {
        var entries: [Entry] = []
        var isInvalid = false
    }

    private let state = Locked(State())

    /// Returns the session for a policy and the pins of a host.
    ///
    /// - Throws: ``TransportError/Code/clientCertificate`` if its identity can't be used, ``TransportError/Code/badRequest`` if one of its
    ///   authorities can't.
    func session(for policy: TrustPolicy, pins: PinSet?, _ configuration: URLSessionConfiguration) throws -> TrustedSession {
        if let known = state.withLock({ Self.use(policy, pins, &$0) }) { return known }
        let made = try TrustedSession(policy, configuration)
        // Another task may have created one in the meantime: that one is used, and this one ends unused.
        return try state.withLock { state in
            guard !state.isInvalid else {
                throw TransportError(.other, "The transport was invalidated: make a new one, or keep this one for longer.")
            }
            if let known = Self.use(policy, pins, &state) { return known }
            state.entries.append(Entry(policy: policy, pins: pins, session: made))
            if state.entries.count > Self.limit { state.entries.removeFirst() }
            return made
        }
    }

    /// Ends all sessions.
    func invalidate() {
        let entries = state.withLock { state in
            let entries = state.entries
            state = State(isInvalid: true)
            return entries
        }
        for entry in entries { entry.session.invalidate() }
    }

    /// Returns the session of a policy and pins, and marks it as most recently used.
    private static func use(_ policy: TrustPolicy, _ pins: PinSet?, _ state: inout State) -> TrustedSession? {
        guard let index = state.entries.firstIndex(where: { $0.policy == policy && $0.pins == pins }) else { return nil }
        let entry = state.entries.remove(at: index)
        state.entries.append(entry)
        return entry.session
    }
}

extension TrustedSession {
    /// Creates a session for a policy.
    ///
    /// - Parameter probe: Ends its exchanges once their servers have passed.
    /// - Throws: The same errors as ``TrustedSessions/session(for:pins:_:)``.
    convenience init(_ policy: TrustPolicy, _ configuration: URLSessionConfiguration, probe: TrustProbe? = nil) throws {
        let exchanges = URLSessionExchanges(trust: try TrustEvaluator(policy), probe: probe)
        if let version = policy.minimumTLSVersion { configuration.tlsMinimumSupportedProtocolVersion = version.protocolVersion }
        self.init(configuration, exchanges: exchanges)
    }
}

extension TLSVersion {
    fileprivate var protocolVersion: tls_protocol_version_t {
        switch self {
        case .tlsv12: .TLSv12
        case .tlsv13: .TLSv13
        }
    }
}
#endif

/// A session with its delegate, for requests with one trust policy.
///
/// URLSession checks a server when it connects, not for each request: if requests with several policies shared a session, a request with
/// pins could use a connection that was established without them. Therefore each policy has a separate session with separate connections;
/// see also ``TrustedSessions``.
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

    /// Ends the session: exchanges in progress continue to their end, new ones are refused. Releasing the last reference does the same.
    func invalidate() {
        isInvalid.withLock { [session, exchanges] isInvalid in
            guard !isInvalid else { return }
            isInvalid = true
            exchanges.control.async { session.finishTasksAndInvalidate() }
        }
    }

    /// Creates and resumes the task on the queue that also cancels: these calls block until URLSession's internal queue has processed them,
    /// and the threads of Swift's concurrency must not block.
    func start(_ exchange: URLSessionExchange, _ request: URLRequest, _ upload: URLSessionUpload) {
        // An invalidated session ends the process if it is asked for a task: the queue guarantees the order.
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

    #if !canImport(FoundationNetworking)
    /// Creates the task of a WebSocket.
    ///
    /// - Throws: ``TransportError`` if the session was invalidated.
    func socket(_ request: URLRequest, messageLimit: Int) throws(TransportError) -> URLSessionSocket {
        var request = request
        // URLSession takes only these schemes; the rest of the URL is unchanged.
        request.url = request.url.flatMap { URL(string: "ws" + $0.absoluteString.dropFirst(4)) }
        let socket: URLSessionSocket? = isInvalid.withLock { [session, exchanges, request] isInvalid in
            guard !isInvalid else { return nil }
            let task = session.webSocketTask(with: request)
            task.maximumMessageSize = messageLimit
            let socket = URLSessionSocket(task, table: exchanges)
            exchanges.add(socket)
            return socket
        }
        guard let socket else {
            throw TransportError(.other, "The transport was invalidated: make a new one, or keep this one for longer.")
        }
        return socket
    }
    #endif

    private static func task(_ session: URLSession, _ request: URLRequest, _ upload: URLSessionUpload) -> URLSessionTask {
        switch upload {
        case .none: session.dataTask(with: request)
        case .data(let data): session.uploadTask(with: request, from: data)
        case .file(let file, _): session.uploadTask(with: request, fromFile: file)
        case .spool(let spool): session.uploadTask(with: request, fromFile: spool.file)
        }
    }
}

import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if canImport(Security)
import Foundation
import Security

/// The sessions of the trust policies that were used last, on Apple platforms.
///
/// Hosts with different pins have different sessions, also by one policy: over HTTP/2 the system sends what is for one host over a connection
/// to another one, whose certificate names both (RFC 9113 §9.1.1), and then doesn't ask about the server again.
final class TrustedSessions: Sendable {
    /// So many are kept. One that is dropped ends once its exchanges have.
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

    /// The session for a policy, to a host with those pins.
    ///
    /// - Throws: ``TransportError/Code/clientCertificate`` when its identity can't be used, ``TransportError/Code/badRequest`` when one of
    ///   its authorities can't.
    func session(for policy: TrustPolicy, pins: PinSet?, _ configuration: URLSessionConfiguration) throws -> TrustedSession {
        if let known = state.withLock({ Self.use(policy, pins, &$0) }) { return known }
        let made = try TrustedSession(policy, configuration)
        // Another task may have made one meanwhile: that one is used, and this one ends unused.
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

    /// Ends all of them.
    func invalidate() {
        let entries = state.withLock { state in
            let entries = state.entries
            state = State(isInvalid: true)
            return entries
        }
        for entry in entries { entry.session.invalidate() }
    }

    /// The session of a policy and pins, which then is the one used last.
    private static func use(_ policy: TrustPolicy, _ pins: PinSet?, _ state: inout State) -> TrustedSession? {
        guard let index = state.entries.firstIndex(where: { $0.policy == policy && $0.pins == pins }) else { return nil }
        let entry = state.entries.remove(at: index)
        state.entries.append(entry)
        return entry.session
    }
}

extension TrustedSession {
    /// A session for a policy.
    ///
    /// - Parameter probe: ends its exchanges once their servers have passed.
    /// - Throws: as ``TrustedSessions/session(for:_:)`` does.
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

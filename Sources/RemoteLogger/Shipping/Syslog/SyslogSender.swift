import Dispatch
import Foundation
import WebServiceClient

/// Writes payloads to a connection that it opens, and opens again.
final class SyslogSender: PayloadSender {
    private struct State: Sendable {
        var connection: (any SyslogConnection)?
        var window: ResendWindow
        /// Somebody looks when the window is over.
        var isWatching = false
        var watcher: Task<Void, any Error>?
        /// Whether something is being sent.
        var isBusy = false
        var isClosed = false
    }

    private let address: SyslogReceiver
    private let settings: ShippingSettings
    /// Makes the connections over TLS; `nil` for plain TCP.
    private let connector: CurlConnector?
    private let queue = DispatchQueue(label: "RemoteLogger.SyslogSender", qos: .utility)
    private let state: Locked<State>

    init(receiver: SyslogReceiver, settings: ShippingSettings) throws(LogShipperError) {
        address = receiver
        self.settings = settings
        state = Locked(State(window: ResendWindow(length: receiver.resendWindow, maximumBytes: receiver.resendBytes)))
        guard receiver.usesTLS else {
            guard settings.trust == nil else {
                throw LogShipperError(
                    message: "The trust policy means nothing to \(receiver): take SyslogReceiver.tls(host:port:), or leave the policy out.")
            }
            connector = nil
            return
        }
        do {
            connector = try CurlConnector(host: receiver.host, port: receiver.port, trust: settings.trust ?? TrustPolicy())
        } catch {
            throw LogShipperError(message: "Syslog over TLS can't be used here. \(error.message)")
        }
    }

    var receiver: String { address.description }
    var clockOffset: Int64? { nil }

    func attempt(_ payload: Payload) async -> Attempt {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                continuation.resume(returning: send(payload.body))
            }
        }
    }

    func isAcknowledged(_ ticket: String) async -> Bool { true }

    func close() {
        let (connection, isBusy) = state.withLock { state in
            state.isClosed = true
            state.watcher?.cancel()
            defer { state.connection = nil }
            return (state.connection, state.isBusy)
        }
        // Else nobody has it any more: it ends in good order, and TLS says so to the receiver (RFC 5425 §4.4).
        if isBusy { connection?.close() }
    }

    private func send(_ body: Data) -> Attempt {
        state.withLock { $0.isBusy = true }
        defer { state.withLock { $0.isBusy = false } }
        do {
            let connection = try connection()
            try connection.write(body)
            try connection.drain()
            note(body)
            return .verdict(.delivered(), status: nil, retryAfter: nil)
        } catch {
            state.withLock { $0.connection }?.close()
            state.withLock { $0.connection = nil }
            return .failure(error.message)
        }
    }

    /// The open connection, or a new one, on which first is sent again what may have been lost with the old one.
    private func connection() throws(ConnectionFault) -> any SyslogConnection {
        let (open, isClosed) = state.withLock { ($0.connection, $0.isClosed) }
        if isClosed { throw ConnectionFault(message: "the shipper is shut down") }
        if let open {
            if (try? open.isAlive()) == true { return open }
            open.close()
            state.withLock { $0.connection = nil }
        }
        let connection = try newConnection()
        // From here on the end of the shipper ends the connection, too, whatever it waits for.
        let isLate = state.withLock { state in
            state.connection = state.isClosed ? nil : connection
            return state.isClosed
        }
        if isLate {
            connection.close()
            throw ConnectionFault(message: "the shipper is shut down")
        }
        try connection.open()
        for body in state.withLock({ $0.window.bodies }) {
            try connection.write(body)
            try connection.drain()
        }
        state.withLock { $0.window.renew(at: settings.clock.uptime) }
        return connection
    }

    private func newConnection() throws(ConnectionFault) -> any SyslogConnection {
        guard let connector else { return try TCPConnection(host: address.host, port: address.port, timeout: settings.timeout) }
        return try TLSConnection(connector, timeout: settings.timeout)
    }

    private func note(_ body: Data) {
        let now = settings.clock.uptime
        state.withLock { state in
            state.window.noteLife(at: now)
            state.window.append(body, at: now)
        }
        watch()
    }

    // MARK: What may be lost with the connection

    /// Looks whether the connection lives when the window of what was sent is over: nobody tells when it breaks while nothing is sent.
    private func watch() {
        let pause = state.withLock { state -> Duration? in
            guard !state.isWatching, !state.isClosed, state.connection != nil, let left = state.window.timeLeft(at: settings.clock.uptime)
            else { return nil }
            state.isWatching = true
            return left
        }
        guard let pause else { return }
        let clock = settings.clock
        let task = Task.detached(priority: .utility) { [weak self] in
            try await clock.sleep(for: max(pause, .milliseconds(1)))
            self?.queue.async { [weak self] in self?.look() }
        }
        state.withLock { state in
            if state.isClosed { task.cancel() } else { state.watcher = task }
        }
    }

    private func look() {
        state.withLock { $0.isWatching = false }
        // Without a connection the window stands still until there is one.
        guard let connection = state.withLock({ $0.connection }) else { return }
        if (try? connection.isAlive()) == true {
            state.withLock { $0.window.noteLife(at: settings.clock.uptime) }
            watch()
        } else {
            connection.close()
            state.withLock { $0.connection = nil }
        }
    }
}

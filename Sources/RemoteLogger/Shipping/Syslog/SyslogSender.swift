import Dispatch
import Foundation
import HTTPTransport

/// Writes payloads to a connection that it opens and reopens.
final class SyslogSender: PayloadSender {
    private struct State: Sendable {
        var connection: (any SyslogConnection)?
        var window: ResendWindow
        /// Whether a check of the connection, or a reconnection, is scheduled.
        var isWatching = false
        /// The number of failed reconnections.
        var failures = 0
        /// Whether the current payload has failed and will be sent again.
        var isFailing = false
        var watcher: Task<Void, any Error>?
        /// Whether a payload is being sent.
        var isBusy = false
        var isClosed = false
    }

    private let address: SyslogReceiver
    private let settings: ShippingSettings
    /// The connector for TLS; `nil` for plain TCP.
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
                    message: "The trust policy has no effect on \(receiver): use SyslogReceiver.tls(host:port:), or omit the policy.")
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

    func attempt(_ payload: BatchBody) async -> Attempt {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                continuation.resume(returning: send(payload.body))
            }
        }
    }

    func acknowledgement(of ticket: String) async -> Acknowledgement { .stored }

    func close() {
        let (connection, isBusy) = state.withLock { state in
            state.isClosed = true
            state.watcher?.cancel()
            defer { state.connection = nil }
            return (state.connection, state.isBusy)
        }
        // Otherwise the last reference is released here: the connection ends gracefully, and TLS notifies the receiver (RFC 5425 §4.4).
        if isBusy { connection?.close() }
    }

    private func send(_ body: Data) -> Attempt {
        state.withLock { $0.isBusy = true }
        defer { state.withLock { $0.isBusy = false } }
        do {
            let connection = try connection(isQuiet: false)
            try connection.write(body)
            try connection.drain()
            note(body)
            return .verdict(.delivered(), status: nil, retryAfter: nil)
        } catch {
            drop()
            state.withLock { $0.isFailing = true }
            return .failure(error.message)
        }
    }

    /// Returns the open connection, or a new one on which possibly lost payloads are sent again first.
    ///
    /// - Parameter isQuiet: Whether there is nothing else to send.
    private func connection(isQuiet: Bool) throws(ConnectionFault) -> any SyslogConnection {
        let (open, isClosed) = state.withLock { ($0.connection, $0.isClosed) }
        if isClosed { throw ConnectionFault(message: "the shipper is shut down") }
        if let open {
            if (try? open.isAlive()) == true { return open }
            drop()
        }
        let connection = try newConnection()
        // From here on, closing the shipper also closes the connection and ends its waits.
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
        state.withLock { $0.window.renew(at: settings.clock.uptime, isQuiet: isQuiet) }
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
            state.isFailing = false
            state.failures = 0
        }
        watch()
    }

    // MARK: Payloads that may be lost with the connection

    /// Checks the connection when the resend window ends, because a break isn't detected while nothing is sent. If it is broken, opens
    /// another one to resend what may be lost, at increasing intervals.
    private func watch() {
        let pause = state.withLock { state -> Duration? in
            guard !state.isWatching, !state.isClosed, let left = state.window.timeLeft(at: settings.clock.uptime) else { return nil }
            state.isWatching = true
            guard state.connection == nil else { return left }
            var generator = SystemRandomNumberGenerator()
            return settings.backoff.delay(afterFailures: max(1, state.failures), using: &generator)
        }
        guard let pause else { return }
        let clock = settings.clock
        let end = clock.uptime &+ max(pause, .milliseconds(1)).wholeNanoseconds
        let task = Task.detached(priority: .utility) { [weak self] in
            try await clock.sleep(until: end)
            self?.queue.async { [weak self] in self?.look() }
        }
        state.withLock { state in
            if state.isClosed { task.cancel() } else { state.watcher = task }
        }
    }

    private func look() {
        let isNeeded = state.withLock { state in
            state.isWatching = false
            // Resending the failed payload opens a connection by itself and sends the window first.
            guard !state.isFailing, !state.window.isEmpty else { return false }
            state.isBusy = true
            return true
        }
        guard isNeeded else { return }
        do {
            _ = try connection(isQuiet: true)
            state.withLock { state in
                state.failures = 0
                state.window.noteLife(at: settings.clock.uptime)
            }
        } catch {
            drop()
            state.withLock { $0.failures += 1 }
        }
        state.withLock { $0.isBusy = false }
        watch()
    }

    /// Closes the connection and forgets it.
    private func drop() {
        state.withLock { state in
            defer { state.connection = nil }
            return state.connection
        }?.close()
    }
}

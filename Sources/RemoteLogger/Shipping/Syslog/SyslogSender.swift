import Dispatch
import Foundation
import WebServiceClient

/// Writes payloads to a connection that it opens, and opens again.
final class SyslogSender: PayloadSender {
    /// What was sent lately, in order.
    private struct Recent: Sendable {
        let sent: UInt64
        let body: Data
    }

    private struct State: Sendable {
        var connection: (any SyslogConnection)?
        var recent: [Recent] = []
        /// Whether something is being sent.
        var isBusy = false
        var isClosed = false
    }

    private let address: SyslogReceiver
    private let settings: ShippingSettings
    /// Makes the connections over TLS; `nil` for plain TCP.
    private let connector: CurlConnector?
    private let queue = DispatchQueue(label: "RemoteLogger.SyslogSender", qos: .utility)
    private let state = Locked(State())

    init(receiver: SyslogReceiver, settings: ShippingSettings) throws(LogShipperError) {
        address = receiver
        self.settings = settings
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
        for body in recent() {
            try connection.write(body)
            try connection.drain()
        }
        return connection
    }

    private func newConnection() throws(ConnectionFault) -> any SyslogConnection {
        guard let connector else { return try TCPConnection(host: address.host, port: address.port, timeout: settings.timeout) }
        return try TLSConnection(connector, timeout: settings.timeout)
    }

    private func recent() -> [Data] {
        let now = settings.clock.uptime
        let window = address.resendWindow.wholeNanoseconds
        return state.withLock { state in
            state.recent.removeAll { now &- $0.sent > window }
            return state.recent.map(\.body)
        }
    }

    private func note(_ body: Data) {
        let now = settings.clock.uptime
        let window = address.resendWindow.wholeNanoseconds
        let limit = address.resendBytes
        guard window > 0 else { return }
        state.withLock { state in
            state.recent.append(Recent(sent: now, body: body))
            state.recent.removeAll { now &- $0.sent > window }
            var bytes = state.recent.reduce(0) { $0 + $1.body.count }
            while bytes > limit, let first = state.recent.first {
                bytes -= first.body.count
                state.recent.removeFirst()
            }
        }
    }
}

/// The deadlines of one exchange, on the monotonic clock.
struct ExchangeDeadlines: Sendable {
    /// The next deadline, and the code of its error.
    struct Due {
        let instant: MonotonicInstant
        let code: TransportError.Code
    }

    private let start: MonotonicInstant
    private let connecting: MonotonicInstant?
    private let waiting: Duration?
    private let idle: Duration?
    private let total: MonotonicInstant?
    private let timeouts: ServiceTimeouts

    /// Creates the deadlines of a request that is attempted now.
    init(_ request: borrowing ServiceRequest, start: MonotonicInstant) {
        timeouts = request.timeouts
        self.start = start
        connecting = request.timeouts.connect.map { start.advanced(by: Self.bounded($0)) }
        waiting = request.timeouts.firstByte.map(Self.bounded)
        idle = request.timeouts.idle.map(Self.bounded)
        total = request.end ?? request.timeouts.total.map { start.advanced(by: Self.bounded($0)) }
    }

    /// Whether there are no deadlines.
    var isEmpty: Bool { connecting == nil && waiting == nil && idle == nil && total == nil }

    /// The next deadline while there is no connection.
    var dueWhileConnecting: Due? {
        guard let connecting, waiting.map({ connecting < start.advanced(by: $0) }) ?? true else { return dueWhileWaiting() }
        return sooner(connecting, .timedOutConnecting)
    }

    /// Returns the next deadline while waiting for the head of the response.
    ///
    /// - Parameter lastSent: The last time when bytes of the request's body were sent; `nil` if none were. While a large body is sent, or
    ///   over a slow link, the server isn't considered silent.
    func dueWhileWaiting(lastSent: MonotonicInstant? = nil) -> Due? {
        sooner(waiting.map { (lastSent ?? start).advanced(by: $0) }, .timedOutWaiting)
    }

    /// Returns the next deadline while the body is received, if bytes last arrived at the given instant.
    func dueWhileReceiving(lastArrival: MonotonicInstant) -> Due? {
        sooner(idle.map { lastArrival.advanced(by: $0) }, .timedOutIdle)
    }

    /// The event that an exchange was waiting for at its deadline.
    enum Awaited {
        /// A slot of the transport.
        case slot
        /// A connection: their number per host is limited.
        case connection(most: Int)
        /// More of the request's own body.
        case ownBody
        /// The service, or a connection to the service or its proxy.
        case way(proxy: String?)
    }

    /// Returns the error for a passed deadline.
    func error(_ code: TransportError.Code, host: String, _ awaited: Awaited = .way(proxy: nil)) -> TransportError {
        let sentence = sentence(code, host: host, awaited)
        return switch awaited {
        case .slot:
            TransportError(
                code,
                "The call to \(host) was not sent: it waited for a free slot of the transport, after other calls that wait for their "
                    + "responses, until \(limit(code)). Make fewer calls at once, or raise maximumConcurrentExchangesPerOrigin or "
                    + "maximumConcurrentExchanges.")
        case .connection(let most):
            TransportError(
                code,
                "The call to \(host) was not sent: as many connections as maximumConnectionsPerHost allows, \(most), were in use until "
                    + "\(limit(code)). Make fewer calls at once, or raise it.")
        case .way(let proxy?): TransportError(code, "\(sentence) The transport's proxy: \(proxy).")
        case .way, .ownBody: TransportError(code, sentence)
        }
    }

    private func sentence(_ code: TransportError.Code, host: String, _ awaited: Awaited) -> String {
        switch (code, awaited) {
        case (.timedOutConnecting, _):
            "No connection to \(host) was established within \(Self.text(timeouts.connect)): is it reachable? timeouts.connect sets the "
                + "time."
        case (.timedOutWaiting, .ownBody):
            "The request's body provided no more bytes for \(host) for \(Self.text(timeouts.firstByte)), which timeouts.firstByte "
                + "sets."
        case (.timedOutWaiting, _):
            "No response from \(host) within \(Self.text(timeouts.firstByte)): is the service up? timeouts.firstByte sets the time."
        case (.timedOutIdle, .ownBody):
            "\(host) has begun to respond, and the request's body provided no more bytes for \(Self.text(timeouts.idle)), which "
                + "timeouts.idle sets."
        case (.timedOutIdle, _):
            "The response from \(host) paused for \(Self.text(timeouts.idle)) in its body: timeouts.idle sets the time."
        case (.timedOutTotal, _) where timeouts.total == nil:
            "The call to \(host) did not end by the deadline of its request."
        default:
            "The call to \(host) did not end within its whole time of \(Self.text(timeouts.total)), set by timeouts.total."
        }
    }

    /// Returns the timeout that has expired, and the setting that determines it.
    private func limit(_ code: TransportError.Code) -> String {
        switch code {
        case .timedOutConnecting: "its time to connect was over (timeouts.connect, \(Self.text(timeouts.connect)))"
        case .timedOutWaiting: "its time to the first byte was over (timeouts.firstByte, \(Self.text(timeouts.firstByte)))"
        default:
            timeouts.total == nil
                ? "the deadline of its request had passed" : "its whole time was over (timeouts.total, \(Self.text(timeouts.total)))"
        }
    }

    /// Limits a duration to values that any clock can add, and to 0 or more.
    private static func bounded(_ duration: Duration) -> Duration { max(duration.bounded, .zero) }

    private func sooner(_ instant: MonotonicInstant?, _ code: TransportError.Code) -> Due? {
        guard let instant else { return total.map { Due(instant: $0, code: .timedOutTotal) } }
        guard let total, total <= instant else { return Due(instant: instant, code: code) }
        return Due(instant: total, code: .timedOutTotal)
    }

    private static func text(_ duration: Duration?) -> String {
        duration?.text ?? "the time that was left"
    }
}

extension ExchangeDeadlines {
    /// Performs work that precedes the head of the response, and cancels it at the deadline for waiting.
    ///
    /// - Parameters:
    ///   - host: The host of the request, for the error.
    ///   - lastSent: The last time when bytes of the request's body were sent, at which the timeout starts.
    ///   - work: The work. At the deadline its task is cancelled, and its end is awaited.
    /// - Throws: Any error of the work; ``TransportError`` at the deadline.
    func whileWaiting<Result: Sendable>(
        for host: String, lastSent: @escaping @Sendable () -> MonotonicInstant?, _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let first = dueWhileWaiting() else { return try await work() }
        guard first.instant > .now else { throw error(first.code, host: host) }
        return try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await work() }
            group.addTask {
                var due = first
                while true {
                    try await due.instant.sleep()
                    due = dueWhileWaiting(lastSent: lastSent()) ?? due
                    guard due.instant > .now else { throw error(due.code, host: host) }
                }
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }
}

/// The deadlines of one exchange, on the monotonic clock.
package struct ExchangeDeadlines: Sendable {
    /// What passes next, and what it then is called.
    package struct Due {
        package let instant: MonotonicInstant
        package let code: TransportError.Code
    }

    private let start: MonotonicInstant
    private let connecting: MonotonicInstant?
    private let waiting: Duration?
    private let idle: Duration?
    private let total: MonotonicInstant?
    private let timeouts: ServiceTimeouts

    /// The deadlines of a request whose attempt starts now.
    package init(_ request: borrowing ServiceRequest, start: MonotonicInstant) {
        timeouts = request.timeouts
        self.start = start
        connecting = request.timeouts.connect.map { start.advanced(by: Self.bounded($0)) }
        waiting = request.timeouts.firstByte.map(Self.bounded)
        idle = request.timeouts.idle.map(Self.bounded)
        total = request.end ?? request.timeouts.total.map { start.advanced(by: Self.bounded($0)) }
    }

    /// Whether there is anything to watch.
    package var isEmpty: Bool { connecting == nil && waiting == nil && idle == nil && total == nil }

    /// What passes next while there is no connection.
    var dueWhileConnecting: Due? {
        guard let connecting, waiting.map({ connecting < start.advanced(by: $0) }) ?? true else { return dueWhileWaiting() }
        return sooner(connecting, .timedOutConnecting)
    }

    /// What passes next while the head of the response is awaited.
    ///
    /// - Parameter lastSent: when something of the request's body last went out, `nil` where nothing did: a body that is large, or a link
    ///   that is slow, is no silence of the server.
    func dueWhileWaiting(lastSent: MonotonicInstant? = nil) -> Due? {
        sooner(waiting.map { (lastSent ?? start).advanced(by: $0) }, .timedOutWaiting)
    }

    /// What passes next while the body is received, when something of it last came at that instant.
    func dueWhileReceiving(lastArrival: MonotonicInstant) -> Due? {
        sooner(idle.map { lastArrival.advanced(by: $0) }, .timedOutIdle)
    }

    /// What an exchange waited for when a deadline passed.
    package enum Awaited {
        /// Its turn, behind others.
        case slot
        /// A connection, of which there may be so many to a host.
        case connection(most: Int)
        /// More of the request's own body.
        case ownBody
        /// The service, or a connection to it; where there is a proxy perhaps that.
        case way(proxy: String?)
    }

    /// What is thrown when a deadline has passed.
    package func error(_ code: TransportError.Code, host: String, _ awaited: Awaited = .way(proxy: nil)) -> TransportError {
        let sentence = sentence(code, host: host, awaited)
        return switch awaited {
        case .slot:
            TransportError(
                code,
                "The call to \(host) was not sent: it waited for a free slot of the transport, behind other calls that wait for their answers, "
                    + "until \(limit(code)). Make fewer calls at once, or raise maximumConcurrentExchangesPerOrigin or "
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
            "No connection to \(host) within \(Self.text(timeouts.connect)): is it reachable? timeouts.connect sets the time."
        case (.timedOutWaiting, .ownBody):
            "The request's own body gave nothing more to send to \(host) for \(Self.text(timeouts.firstByte)), which timeouts.firstByte sets."
        case (.timedOutWaiting, _):
            "No response from \(host) within \(Self.text(timeouts.firstByte)): is the service up? timeouts.firstByte sets the time."
        case (.timedOutIdle, .ownBody):
            "\(host) has begun to answer, and the request's own body gave nothing more to send for \(Self.text(timeouts.idle)), which "
                + "timeouts.idle sets."
        case (.timedOutIdle, _):
            "The response from \(host) paused for \(Self.text(timeouts.idle)) in its body: timeouts.idle sets the time."
        case (.timedOutTotal, _) where timeouts.total == nil:
            "The call to \(host) did not end by the deadline that its request was given."
        default:
            "The call to \(host) did not end within its whole time of \(Self.text(timeouts.total)), set by timeouts.total."
        }
    }

    /// Which time was over, and what sets it.
    private func limit(_ code: TransportError.Code) -> String {
        switch code {
        case .timedOutConnecting: "its time to connect was over (timeouts.connect, \(Self.text(timeouts.connect)))"
        case .timedOutWaiting: "its time for an answer to begin was over (timeouts.firstByte, \(Self.text(timeouts.firstByte)))"
        default:
            timeouts.total == nil
                ? "the deadline of its request had passed" : "its whole time was over (timeouts.total, \(Self.text(timeouts.total)))"
        }
    }

    /// A time that any clock can add, and none that has passed before it begins.
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
    /// Does work before whose end there is no head of a response, and ends it when the time for waiting has passed.
    ///
    /// - Parameters:
    ///   - host: Where the request goes, for the error.
    ///   - lastSent: When something of the request's body last went on its way: the time counts from there.
    ///   - work: What is to be done. Its task is cancelled when the time has passed, and waited for.
    /// - Throws: What the work throws; ``TransportError`` when the time has passed.
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

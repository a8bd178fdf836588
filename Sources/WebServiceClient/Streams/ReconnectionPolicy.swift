public import HTTPTransport

/// Whether and how an event stream reconnects when its connection ends (WHATWG HTML §9.2.3).
///
///     "prices()": .get("/prices").reconnecting()
///
/// The call is sent again, through the whole chain, with the field `Last-Event-ID` if an event had an ID. The wait before it is the time
/// that the stream asked for with `retry`, plus the backoff. A response with the status 204 ends the stream. Any other status than 200, any
/// other type than `text/event-stream`, and any error that doesn't come from the connection end it with an error. A call whose body can't
/// be sent again doesn't reconnect.
///
/// Every reconnection is a new request: if the method isn't idempotent, the service must support that.
public struct ReconnectionPolicy: Sendable, Hashable, Codable {
    /// The maximum number of consecutive reconnections without an event; 0 to never reconnect. Default 10.
    public var attempts: Int
    /// The wait in addition to the one that the stream asks for. Default 1 second, doubled after each failure, up to a minute; half of it
    /// is random.
    public var backoff: Backoff
    /// The maximum wait that the stream may ask for. Default 5 minutes.
    public var longestWait: Duration

    /// Creates a policy.
    public init(
        attempts: Int = 10, backoff: Backoff = Backoff(base: .seconds(1), cap: .seconds(60), jitter: .equal),
        longestWait: Duration = .seconds(300)
    ) {
        self.attempts = attempts
        self.backoff = backoff
        self.longestWait = longestWait
    }

    /// The stream never reconnects.
    public static let never = ReconnectionPolicy(attempts: 0)

    /// The faults of the values.
    var faults: [(problem: String, fix: String)] {
        var faults: [(problem: String, fix: String)] = []
        if attempts < 0 { faults.append(("\(attempts) attempts are less than none", "0 or more attempts")) }
        if longestWait < .zero { faults.append(("the longest wait is negative", "zero or a positive duration")) }
        if backoff.base < .zero || backoff.cap < .zero { faults.append(("the backoff is negative", "zero or positive durations")) }
        return faults
    }

    /// The wait before an attempt.
    ///
    /// - Parameters:
    ///   - failures: The number of reconnections since the last event, including this one.
    ///   - asked: The milliseconds that the stream asked for.
    ///   - fraction: A random number between 0 and 1.
    func wait(afterFailures failures: Int, asked: Int?, fraction: Double) -> Duration {
        let asked = min(Duration.milliseconds(asked ?? 0), max(longestWait, .zero).bounded)
        return asked + backoff.delay(afterFailures: failures, fraction: fraction)
    }
}

/// The event that ends a stream before its connection ends.
public enum StreamEnd: Sendable, Hashable, Codable {
    /// An event with this data, which isn't delivered, such as `[DONE]`.
    case data(String)
    /// An event of this type, which is delivered, such as `message_stop`.
    case event(String)
}

/// Reconnects an event stream.
struct EventReconnection: Sendable {
    /// The result of a reconnection.
    enum Outcome: Sendable {
        case opened(ResponseBody, failure: @Sendable (any Error) -> any Error)
        /// The service has no more events.
        case ended
        /// A further attempt may succeed.
        case failed(any Error)
    }

    let policy: ReconnectionPolicy
    /// Waits, and sends the call again. Its errors are final.
    let open: @Sendable (_ lastID: String, _ wait: Duration) async throws -> Outcome
    /// Whether an error of the connection permits a further attempt.
    let permits: @Sendable (any Error) -> Bool
    /// Makes random numbers between 0 and 1.
    var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
}

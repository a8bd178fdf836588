public import HTTPTransport

/// Whether and how an event stream connects again when its connection ends (WHATWG HTML §9.2.3).
///
///     "prices()": .get("/prices").reconnecting()
///
/// The call is sent again, through the whole chain, with the field `Last-Event-ID` if an event had an ID. The wait before it is the time
/// that the stream asked for with `retry`, plus the backoff. A response with the status 204 ends the stream; another status than 200 and
/// another type than `text/event-stream` end it with an error, and so does an error that isn't one of the connection. A call whose body
/// can't be sent again doesn't connect again.
///
/// Every reconnection is a request of its own: for a method that isn't idempotent, the service must expect that.
public struct ReconnectionPolicy: Sendable, Hashable {
    /// The maximum number of connections in a row that bring no event; 0 to never connect again. Default 10.
    public var attempts: Int
    /// The wait in addition to the one that the stream asks for. Default 1 second, doubled for each failure, up to a minute, half of it
    /// random.
    public var backoff: Backoff
    /// The maximum of the wait that the stream may ask for. Default 5 minutes.
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

    /// The stream never connects again.
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
    ///   - failures: The number of connections in a row that have brought no event, including the last one.
    ///   - asked: The milliseconds that the stream asked for.
    ///   - fraction: A random number between 0 and 1.
    func wait(afterFailures failures: Int, asked: Int?, fraction: Double) -> Duration {
        let asked = min(Duration.milliseconds(asked ?? 0), max(longestWait, .zero).bounded)
        return asked + backoff.delay(afterFailures: failures, fraction: fraction)
    }
}

/// What ends an event stream before its connection ends.
public enum StreamEnd: Sendable, Hashable {
    /// An event with this data, which isn't delivered, such as `[DONE]`.
    case data(String)
    /// An event of this type, which is delivered, such as `message_stop`.
    case event(String)
}

/// Opens the connection of an event stream again.
struct EventReconnection: Sendable {
    /// A connection.
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

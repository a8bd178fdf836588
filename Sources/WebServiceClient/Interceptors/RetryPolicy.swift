/// Whether and how a call is repeated after a failure that may pass.
///
/// It is a client's setting and an attribute of endpoints; the endpoint's wins. Only idempotent methods are repeated, unless the policy
/// says that the endpoint bears it, and only bodies that can be replayed.
public struct RetryPolicy: EndpointAttribute, Hashable {
    /// The most attempts, the first included: 3 means one call and two repeats. 1 or less means no repeat. It bounds the whole call: hops of
    /// redirects share the repeats.
    public var attempts: Int
    /// The waits between attempts.
    public var backoff: Backoff
    /// The statuses after which the call is repeated. Default 408, 429, 500, 502, 503, 504.
    public var statuses: StatusSet
    /// Whether requests of methods that aren't idempotent, such as POST, are repeated too. Default no.
    public var repeatsUnsafeMethods: Bool
    /// The longest `Retry-After` that is waited for; a server that asks for more gets no repeat. Default 60 seconds.
    public var longestWait: Duration

    /// A policy.
    public init(
        attempts: Int = 3, backoff: Backoff = Backoff(), statuses: StatusSet = [408, 429, 500, 502, 503, 504],
        repeatsUnsafeMethods: Bool = false, longestWait: Duration = .seconds(60)
    ) {
        self.attempts = attempts
        self.backoff = backoff
        self.statuses = statuses
        self.repeatsUnsafeMethods = repeatsUnsafeMethods
        self.longestWait = longestWait
    }

    /// No repeat, also where a kept connection ends before anything of an answer has come: the default of a client. Only a request of which an
    /// HTTP/2 server says that it has taken nothing is sent once more, see ``TransportError/isUnprocessed``.
    public static let never = RetryPolicy(attempts: 1)

    /// Whether this failure of the transport may pass by itself.
    func covers(_ error: TransportError) -> Bool {
        switch error.code {
        case .cannotConnect, .connectionLost, .hostNotFound, .timedOutConnecting, .timedOutWaiting: true
        default: false
        }
    }
}

/// What a transport can say about an exchange beside its head and body. It fills up while the body is read, and is complete after its end.
public struct ExchangeReport: Sendable {
    private let readMetrics: @Sendable () -> ExchangeMetrics
    private let readTrailers: @Sendable () -> HTTPFields

    /// Informational responses (RFC 9110 §15.2) that came before the final one, in order, such as 103 Early Hints.
    public let informational: [InformationalResponse]

    /// A report that asks the transport each time it is read.
    public init(
        informational: [InformationalResponse] = [], metrics: @escaping @Sendable () -> ExchangeMetrics,
        trailers: @escaping @Sendable () -> HTTPFields = { [:] }
    ) {
        self.informational = informational
        readMetrics = metrics
        readTrailers = trailers
    }

    /// Times and bytes, as far as they are known by now.
    public var metrics: ExchangeMetrics { readMetrics() }

    /// The trailer fields (RFC 9110 §6.5): empty until the body was read to its end.
    public var trailers: HTTPFields { readTrailers() }
}

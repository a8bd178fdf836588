/// Takes the place of a request: what a connection has shown, before anything is sent over it.
final class TrustProbe: Sendable {
    /// The connection stands and is trusted; the exchange ends here.
    struct Done: Error {}

    private let found = Locked<TrustEvaluation?>(nil)

    /// What was found.
    var evaluation: TrustEvaluation? { found.withLock { $0 } }

    /// Looks at a connection that has passed all checks.
    func look(_ easy: OpaquePointer, host: String, tlsVersion: String?) throws(TransportError) {
        let chain = try CurlTrust.verifiedChain(easy, host: host)
        found.withLock { $0 = TrustEvaluation(host: host, chain: chain, tlsVersion: tlsVersion) }
    }
}

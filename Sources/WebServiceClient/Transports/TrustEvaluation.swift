/// What a server has shown when its trust was checked, all of it verified.
public struct TrustEvaluation: Sendable, Hashable {
    /// The host that was asked.
    public let host: String
    /// The verified chain of certificates, the server's own first.
    public let chain: [Certificate]
    /// The version of TLS, such as `TLSv1.3`, where the transport knows it.
    public let tlsVersion: String?

    /// The pins of the chain's public keys, the server's own first: what ``CertificatePin/publicKey(sha256:)-(String)`` takes.
    public var publicKeyPins: [String] { chain.map(\.publicKeyPin) }

    /// An evaluation.
    public init(host: String, chain: [Certificate], tlsVersion: String? = nil) {
        self.host = host
        self.chain = chain
        self.tlsVersion = tlsVersion
    }
}

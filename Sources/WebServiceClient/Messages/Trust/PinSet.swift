/// The pins of a host: one of them must match. Pin a backup too, a key that isn't in use yet: without it, a lost key locks clients out
/// (RFC 7469 §4.3).
///
///     trust.pins["api.example.com"] = [.publicKey(sha256: "hash of the key in use"), .publicKey(sha256: "hash of its backup")]
public struct PinSet: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// The pins.
    public var pins: [CertificatePin]

    /// A set of pins. An empty one lets nothing pass.
    public init(_ pins: [CertificatePin]) { self.pins = pins }

    /// A set of pins.
    public init(arrayLiteral pins: CertificatePin...) { self.pins = pins }

    /// Whether a certificate of a verified chain matches one of the pins.
    public func matches(_ chain: [Certificate]) -> Bool {
        chain.contains { certificate in pins.contains { $0.matches(certificate) } }
    }
}

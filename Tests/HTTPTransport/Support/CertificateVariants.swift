import TestSupport

@testable import HTTPTransport

extension SampleCertificate {
    /// Returns a certificate whose key and names depend on the number. It is derived from the sample's bytes, so its signature is invalid.
    static func variant(_ number: UInt8) throws -> Certificate {
        var bytes = try certificate().bytes
        let key = try CertificateLayout(bytes).subjectPublicKeyInfo
        bytes[key.upperBound - 1] ^= number
        return try Certificate(bytes: bytes)
    }
}

import TestSupport

@testable import HTTPTransport

extension SampleCertificate {
    /// Certificates that differ in their keys and names. They are made from the sample's bytes, so that nothing in them is signed.
    static func variant(_ number: UInt8) throws -> Certificate {
        var bytes = try certificate().bytes
        let key = try CertificateLayout(bytes).subjectPublicKeyInfo
        bytes[key.upperBound - 1] ^= number
        return try Certificate(bytes: bytes)
    }
}

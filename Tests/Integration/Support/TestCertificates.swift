import Foundation
import WebServiceClient

/// The certificates made by `Tests/Integration/servers`, by path, and their pins as computed by openssl.
struct TestCertificates: Decodable, Sendable {
    let root: String
    let otherRoot: String
    let intermediate: String
    let server: String
    let selfSigned: String
    let client: String
    let clientKey: String
    let clientEncryptedKey: String
    let clientPKCS12: String
    let passphrase: String
    let otherClient: String
    let otherClientKey: String
    let otherClientPKCS12: String
    let serverPin: String
    let intermediatePin: String
    let rootPin: String
    let wrongPin: String

    /// Returns the certificate in a file.
    static func certificate(_ path: String) throws -> Certificate {
        try Certificate(file: URL(filePath: path))
    }

    /// Trusts only the authority of the servers.
    func ownAuthorityOnly() throws -> CertificateAuthorities { .only([try Self.certificate(root)]) }

    /// The identity that the servers with client certificates accept.
    func identity() throws -> ClientIdentity {
        try .pem(chainFile: URL(filePath: client), keyFile: URL(filePath: clientKey))
    }
}

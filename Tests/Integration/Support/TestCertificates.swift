import Foundation
import WebServiceClient

/// The certificates that `Tests/Integration/servers` has made, by path, and their pins as openssl computed them.
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

    /// The certificate in a file.
    static func certificate(_ path: String) throws -> Certificate {
        try Certificate(file: URL(filePath: path))
    }

    /// The authority of the servers, and no other.
    func ownAuthorityOnly() throws -> CertificateAuthorities { .only([try Self.certificate(root)]) }

    /// Who the servers that ask for a client accept.
    func identity() throws -> ClientIdentity {
        try .pem(chainFile: URL(filePath: client), keyFile: URL(filePath: clientKey))
    }
}

import Foundation
import WebServiceClient

extension Certificate {
    /// The certificate of an authority whose key is gone: nobody can be vouched for by it.
    static func conformance() throws -> Certificate {
        let text = """
            -----BEGIN CERTIFICATE-----
            MIIBgzCCASmgAwIBAgIUTQqRw2b9gMriJKtVj7Bnf7SVb5IwCgYIKoZIzj0EAwIw
            FjEUMBIGA1UEAwwLQ29uZm9ybWFuY2UwIBcNMjYxMTI2MDIxNTUwWhgPMjEyNjEx
            MDIwMjE1NTBaMBYxFDASBgNVBAMMC0NvbmZvcm1hbmNlMFkwEwYHKoZIzj0CAQYI
            KoZIzj0DAQcDQgAEeC/iiHCGnULwvdfolIBCn3sa8tsgykhYyRz9YqdaaIYqXsHm
            0SOiToR8zUR/4DvbXilfWbbr1ZOky4NZluRsI6NTMFEwHQYDVR0OBBYEFGPchmCY
            ps1bG4yQ9re14uBom2nlMB8GA1UdIwQYMBaAFGPchmCYps1bG4yQ9re14uBom2nl
            MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAN5vJ9TLC5J8k4Vi
            1gu5hv0CzTDIDLTCls9vBD19aQLCAiB9kN82Iq9SLEGXmP531gC5y+uIfQiQJl4Q
            CiVLxxdGnQ==
            -----END CERTIFICATE-----
            """
        guard let certificate = try Certificate.certificates(in: Data(text.utf8)).first else {
            throw TestingFailure("The suite's own certificate can't be read.")
        }
        return certificate
    }
}

extension CertificatePin {
    /// A pin that no key has.
    static let conformance = CertificatePin.publicKey(sha256: Data(repeating: 0x5A, count: 32))
}

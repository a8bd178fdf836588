/// Whom to believe when they vouch for a server's certificate.
public struct CertificateAuthorities: Sendable, Hashable, CustomStringConvertible {
    /// Whether the authorities that the system trusts are believed.
    public let includesSystem: Bool
    /// The authorities that are believed beside, or in place of, the system's.
    public let certificates: [Certificate]

    /// Those that the system trusts, and no others.
    public static let system = CertificateAuthorities(includesSystem: true, certificates: [])

    /// Those that the system trusts, and these.
    public static func system(adding certificates: [Certificate]) -> CertificateAuthorities {
        CertificateAuthorities(includesSystem: true, certificates: certificates)
    }

    /// These, and no others.
    public static func only(_ certificates: [Certificate]) -> CertificateAuthorities {
        CertificateAuthorities(includesSystem: false, certificates: certificates)
    }

    /// Whether these are the system's and nothing else.
    public var isSystem: Bool { includesSystem && certificates.isEmpty }

    /// The own authorities in PEM, one after the other.
    public var pem: String { certificates.map(\.pem).joined() }

    /// Whom, as text.
    public var description: String {
        let names = certificates.map { $0.subjectName ?? "a nameless authority" }.joined(separator: ", ")
        return (includesSystem ? ["the system's authorities"] : []).joined() + (includesSystem && !names.isEmpty ? " and " : "") + names
    }
}

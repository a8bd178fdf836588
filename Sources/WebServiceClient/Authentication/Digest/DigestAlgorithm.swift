/// A hash of Digest authentication and its variant (RFC 7616 §3.3, `algorithm`).
struct DigestAlgorithm: Hashable, Sendable {
    typealias Function = DigestAuthenticationProvider.Hash

    let function: Function

    /// Whether the hash of user, realm and password includes the session's first nonces (`-sess`, RFC 7616 §3.4.2).
    let isSession: Bool

    /// Creates the algorithm with a name, ignoring case; `nil` if it isn't supported.
    init?(name: String) {
        switch name.lowercased() {
        case "md5": self.init(.md5)
        case "md5-sess": self.init(.md5, isSession: true)
        case "sha-256": self.init(.sha256)
        case "sha-256-sess": self.init(.sha256, isSession: true)
        case "sha-512-256": self.init(.sha512_256)
        case "sha-512-256-sess": self.init(.sha512_256, isSession: true)
        default: return nil
        }
    }

    init(_ function: Function, isSession: Bool = false) {
        self.function = function
        self.isSession = isSession
    }
}

extension DigestAuthenticationProvider.Hash {
    /// Creates an empty hash.
    func makeHash() -> any HashFunction {
        switch self {
        case .md5: MD5()
        case .sha256: SHA256()
        case .sha512_256: SHA512_256()
        }
    }

    /// Returns the digest of the colon-separated fields in hexadecimal digits, `H(a ":" b)` in RFC 7616's notation.
    func digest(of fields: String...) -> String {
        switch self {
        case .md5: Self.digest(of: fields, MD5())
        case .sha256: Self.digest(of: fields, SHA256())
        case .sha512_256: Self.digest(of: fields, SHA512_256())
        }
    }

    /// Returns the digest of the colon-separated fields, given as bytes.
    func digest(of fields: [UInt8]...) -> String {
        var hash = makeHash()
        for (index, field) in fields.enumerated() {
            if index > 0 { hash.update(":") }
            hash.update(field)
        }
        return Hexadecimal.text(of: hash.finalize())
    }

    private static func digest(of fields: [String], _ empty: some HashFunction) -> String {
        var hash = empty
        for (index, field) in fields.enumerated() {
            if index > 0 { hash.update(":") }
            hash.update(field)
        }
        return Hexadecimal.text(of: hash.finalize())
    }
}

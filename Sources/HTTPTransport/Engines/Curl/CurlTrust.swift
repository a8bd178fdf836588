import CSystemLibraries
import Foundation

/// A ``TrustPolicy`` as libcurl takes it.
struct CurlTrust: Sendable {
    private let policy: TrustPolicy
    private let library: CurlLibrary
    /// The authorities in PEM, where they aren't just the system's.
    private let authorities: [UInt8]?

    /// Prepares a policy.
    ///
    /// - Throws: ``TransportError`` with `unsupported` when this library can't do what the policy asks for: never is it left out.
    init(_ policy: TrustPolicy, library: CurlLibrary) throws(TransportError) {
        if let fault = policy.faults.first { throw TransportError(.badRequest, "The trust policy can't be right: \(fault).") }
        self.policy = policy
        self.library = library
        guard !policy.isStandard else {
            authorities = nil
            return
        }
        guard policy.pins.isEmpty || (library.readsCertificateChains && library.reportsConnections) else {
            throw TransportError(
                .unsupported,
                "Pins need libcurl 7.80 or later with OpenSSL, and this is \(library.version) with \(library.tls ?? "no TLS").")
        }
        guard policy.identity == nil || library.takesBlobs else { throw Self.blobsAreMissing(library) }
        authorities = try Self.authorities(policy.authorities, library)
    }

    /// What the transport can do of it with a library.
    static func capabilities(of library: CurlLibrary) -> TransportCapabilities {
        guard library.features.contains(.tls) else { return [] }
        var capabilities: TransportCapabilities = [.minimumTLSVersion]
        if library.readsCertificateChains && library.reportsConnections { capabilities.insert(.pinning) }
        if library.takesBlobs {
            capabilities.formUnion([.ownCertificateAuthorities, .clientCertificates, .clientCertificatesInPEM])
        }
        return capabilities
    }

    /// Whether the client shows who it is.
    var hasIdentity: Bool { policy.identity != nil }

    /// Whether there is nothing to set.
    var isStandard: Bool { policy.isStandard }

    /// Refuses a call without TLS to a host that has pins.
    func checkPins(callTo origin: Origin) throws(TransportError) {
        guard !policy.isStandard else { return }
        try policy.checkPins(callTo: origin)
    }

    /// Sets it.
    ///
    /// - Throws: ``TransportError`` with `unsupported` where the library doesn't take a part of it.
    func apply(to easy: OpaquePointer) throws(TransportError) {
        guard !policy.isStandard else { return }
        // 1.2 is the lowest in any case: see CurlSettings.
        if policy.minimumTLSVersion == .tlsv13 {
            try library.check(csl_easy_set_long(easy, CSL_OPTION_TLS_VERSION, CSL_TLS_VERSION_1_3), "a minimum version of TLS")
        }
        if let authorities {
            try library.check(Self.set(authorities, CSL_OPTION_AUTHORITIES_BLOB, of: easy), "own authorities")
            if !policy.authorities.includesSystem { csl_easy_set_text(easy, CSL_OPTION_AUTHORITIES_FOLDER, library.noFolder) }
        }
        if let identity = policy.identity { try library.check(Self.set(identity, of: easy), "client identities") }
        guard !policy.pins.isEmpty else { return }
        // A resumed session has no chain of certificates to check: none is resumed here, and no connection is taken over from those without
        // pins, which may have been. The option itself means nothing to OpenSSL, but libcurl keeps connections apart by it.
        csl_easy_set_long(easy, CSL_OPTION_TLS_SESSION_CACHE, 0)
        csl_easy_set_long(easy, CSL_OPTION_TLS_OPTIONS, CSL_TLS_NO_REVOKE)
        if !library.keepsOptionsApart { csl_easy_set_long(easy, CSL_OPTION_FRESH_CONNECTION, 1) }
    }

    /// Checks the pins of a host on a connection that stands.
    func check(_ easy: OpaquePointer, origin: Origin) throws(TransportError) {
        guard origin.scheme == "https", policy.pins(forHost: origin.host) != nil else { return }
        let chain = try Self.verifiedChain(easy, host: origin.host)
        do {
            try PinCheck.check(host: origin.host, chain: chain, policy: policy)
        } catch {
            throw TransportError(.pinMismatch, error.description, underlying: error)
        }
    }

    /// The certificates of a connection as they were verified, the server's own first.
    static func verifiedChain(_ easy: OpaquePointer, host: String) throws(TransportError) -> [Certificate] {
        var chain: [Certificate] = []
        for index in 0..<max(0, csl_easy_chain_count(easy)) {
            var length = 0
            guard let bytes = csl_easy_chain_certificate(easy, index, &length) else { break }
            defer { csl_free(bytes) }
            do {
                chain.append(try Certificate(bytes: [UInt8](UnsafeBufferPointer(start: bytes, count: length))))
            } catch {
                throw TransportError(.tls, "A certificate of \(host) can't be read: \(error.message)", underlying: error)
            }
        }
        guard !chain.isEmpty else {
            throw TransportError(.tls, "The verified certificates of \(host) can't be read, and its pins can't be checked.")
        }
        return chain
    }

    private static func blobsAreMissing(_ library: CurlLibrary) -> TransportError {
        TransportError(.unsupported, "Own authorities and client identities need libcurl 7.77 or later, and this is \(library.version).")
    }

    /// Authorities in PEM; `nil` where they are just the system's.
    ///
    /// Beside own ones libcurl goes on to look into the system's folder, but no more at the file with all of them, which is taken along:
    /// many a container has nothing else.
    ///
    /// - Throws: ``TransportError`` with `unsupported` when this library can't take any, or the system's can't be found.
    static func authorities(_ authorities: CertificateAuthorities, _ library: CurlLibrary) throws(TransportError) -> [UInt8]? {
        guard !authorities.isSystem else { return nil }
        guard library.takesBlobs else { throw blobsAreMissing(library) }
        let own = [UInt8](authorities.pem.utf8)
        guard authorities.includesSystem else { return own }
        guard let system = library.authoritiesFile.flatMap(FileManager.default.contents) else {
            guard library.authoritiesFolder == nil else { return own }
            throw TransportError(
                .unsupported,
                "The system's certificate authorities can't be found here, to add others to them: use .only(…) with all of them.")
        }
        return [UInt8](system) + [10] + own
    }

    /// Sets who the client is.
    ///
    /// libcurl takes a connection for that of an identity by its certificate alone, which is public, and not by key and passphrase. So
    /// behind the certificate, where its reader doesn't look any more, stands a number for all three, another one in each process.
    ///
    /// - Returns: the first result that isn't good.
    private static func set(_ identity: ClientIdentity, of easy: OpaquePointer) -> Int32 {
        let number = Array("\n\(UInt(bitPattern: identity.hashValue))\n".utf8)
        let results: [Int32]
        switch identity.content {
        case .pem(let chain, let key):
            results = [
                csl_easy_set_text(easy, CSL_OPTION_CERTIFICATE_TYPE, "PEM"),
                set(chain.map(\.pem).joined().utf8 + number, CSL_OPTION_CERTIFICATE_BLOB, of: easy),
                set(key, CSL_OPTION_KEY_BLOB, of: easy),
            ]
        case .pkcs12(let bytes):
            results = [
                csl_easy_set_text(easy, CSL_OPTION_CERTIFICATE_TYPE, "P12"),
                set(bytes + number, CSL_OPTION_CERTIFICATE_BLOB, of: easy),
            ]
        }
        let password = csl_easy_set_text(easy, CSL_OPTION_KEY_PASSWORD, identity.passphrase)
        return results.first { $0 != 0 } ?? password
    }

    /// Gives libcurl a copy of bytes.
    static func set(_ bytes: [UInt8], _ option: Int, of easy: OpaquePointer) -> Int32 {
        bytes.withUnsafeBytes { csl_easy_set_blob(easy, option, $0.baseAddress, $0.count) }
    }
}

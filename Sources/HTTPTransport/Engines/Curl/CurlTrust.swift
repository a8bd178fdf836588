import CSystemLibraries
import Foundation

/// A ``TrustPolicy`` in libcurl's form.
struct CurlTrust: Sendable {
    private let policy: TrustPolicy
    private let library: CurlLibrary
    /// The authorities in PEM; `nil` for only the system's.
    private let authorities: [UInt8]?

    /// Prepares a policy.
    ///
    /// - Throws: ``TransportError`` with `unsupported` if this library doesn't support a part of the policy: no part is ever omitted.
    init(_ policy: TrustPolicy, library: CurlLibrary) throws(TransportError) {
        if let fault = policy.faults.first { throw TransportError(.badRequest, "The trust policy is invalid: \(fault).") }
        self.policy = policy
        self.library = library
        guard !policy.isStandard else {
            authorities = nil
            return
        }
        guard policy.pins.isEmpty || (library.readsCertificateChains && library.reportsConnections) else {
            throw TransportError(
                .unsupported,
                "Pins require libcurl 7.80 or later with OpenSSL; this is \(library.version) with \(library.tls ?? "no TLS").")
        }
        guard policy.identity == nil || library.takesBlobs else { throw Self.blobsAreMissing(library) }
        authorities = try Self.authorities(policy.authorities, library)
    }

    /// Returns the trust capabilities of the transport with a library.
    static func capabilities(of library: CurlLibrary) -> TransportCapabilities {
        guard library.features.contains(.tls) else { return [] }
        var capabilities: TransportCapabilities = [.minimumTLSVersion]
        if library.readsCertificateChains && library.reportsConnections { capabilities.insert(.pinning) }
        if library.takesBlobs {
            capabilities.formUnion([.ownCertificateAuthorities, .clientCertificates, .clientCertificatesInPEM])
        }
        return capabilities
    }

    /// Whether the client has an identity.
    var hasIdentity: Bool { policy.identity != nil }

    /// Whether there is nothing to set.
    var isStandard: Bool { policy.isStandard }

    /// Rejects a call without TLS to a host with pins.
    func checkPins(callTo origin: Origin) throws(TransportError) {
        guard !policy.isStandard else { return }
        try policy.checkPins(callTo: origin)
    }

    /// Sets the policy.
    ///
    /// - Throws: ``TransportError`` with `unsupported` if the library doesn't support a part of it.
    func apply(to easy: OpaquePointer) throws(TransportError) {
        guard !policy.isStandard else { return }
        // 1.2 is the minimum in any case: see CurlSettings.
        if policy.minimumTLSVersion == .tlsv13 {
            try library.check(csl_easy_set_long(easy, CSL_OPTION_TLS_VERSION, CSL_TLS_VERSION_1_3), "this minimum version of TLS")
        }
        if let authorities {
            try library.check(Self.set(authorities, CSL_OPTION_AUTHORITIES_BLOB, of: easy), "custom authorities")
            if !policy.authorities.includesSystem { csl_easy_set_text(easy, CSL_OPTION_AUTHORITIES_FOLDER, library.noFolder) }
        }
        if let identity = policy.identity { try library.check(Self.set(identity, of: easy), "client identities") }
        guard !policy.pins.isEmpty else { return }
        // A resumed session has no certificate chain to check, so no session is resumed, and no connection of an exchange without pins is
        // reused, because its session may have been resumed. OpenSSL ignores the option itself, but libcurl separates connections by it.
        csl_easy_set_long(easy, CSL_OPTION_TLS_SESSION_CACHE, 0)
        csl_easy_set_long(easy, CSL_OPTION_TLS_OPTIONS, CSL_TLS_NO_REVOKE)
        if !library.keepsOptionsApart { csl_easy_set_long(easy, CSL_OPTION_FRESH_CONNECTION, 1) }
    }

    /// Checks the pins of a host on an established connection.
    func check(_ easy: OpaquePointer, origin: Origin) throws(TransportError) {
        guard origin.scheme == "https", policy.pins(forHost: origin.host) != nil else { return }
        let chain = try Self.verifiedChain(easy, host: origin.host)
        do {
            try PinCheck.check(host: origin.host, chain: chain, policy: policy)
        } catch {
            throw TransportError(.pinMismatch, error.description, underlying: error)
        }
    }

    /// Returns the verified certificates of a connection, the server's first.
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
            throw TransportError(
                .tls, "The verified certificates of \(host) can't be read, so its pins can't be checked: repeat the call.")
        }
        return chain
    }

    private static func blobsAreMissing(_ library: CurlLibrary) -> TransportError {
        TransportError(.unsupported, "Custom authorities and client identities require libcurl 7.77 or later; this is \(library.version).")
    }

    /// Returns authorities in PEM; `nil` if they are only the system's.
    ///
    /// In addition to custom authorities, libcurl reads the system's folder, but no longer the system's file, which is included here: many
    /// containers have only the file.
    ///
    /// - Throws: ``TransportError`` with `unsupported` if this library supports no custom authorities, or if the system's can't be found.
    static func authorities(_ authorities: CertificateAuthorities, _ library: CurlLibrary) throws(TransportError) -> [UInt8]? {
        guard !authorities.isSystem else { return nil }
        guard library.takesBlobs else { throw blobsAreMissing(library) }
        let own = [UInt8](authorities.pem.utf8)
        guard authorities.includesSystem else { return own }
        guard let system = library.authoritiesFile.flatMap(FileManager.default.contents) else {
            guard library.authoritiesFolder == nil else { return own }
            throw TransportError(
                .unsupported,
                "The system's certificate authorities can't be found, so none can be added to them: use .only(…) with all authorities.")
        }
        return [UInt8](system) + [10] + own
    }

    /// Sets the client's identity.
    ///
    /// libcurl decides by the certificate alone which connections belong to an identity. The certificate is public, so a connection could
    /// be used with another key or passphrase. Therefore a number derived from all three is appended to the certificate, where the parser
    /// ignores it. The number differs between processes.
    ///
    /// - Returns: The first result other than success.
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

    /// Passes a copy of bytes to libcurl.
    static func set(_ bytes: [UInt8], _ option: Int, of easy: OpaquePointer) -> Int32 {
        bytes.withUnsafeBytes { csl_easy_set_blob(easy, option, $0.baseAddress, $0.count) }
    }
}

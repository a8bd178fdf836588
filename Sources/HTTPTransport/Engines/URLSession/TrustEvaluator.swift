#if canImport(Security)
import Dispatch
import Foundation
import Security

/// Checks servers and shows who the client is by a trust policy, on Apple platforms: the system's whole evaluation first, by the
/// policy's authorities, then the pins on the chain which that evaluation has built.
///
/// `@unchecked Sendable`: everything is set once, before it is shared, and these objects of Security never change.
final class TrustEvaluator: @unchecked Sendable {
    /// What is shown to a server that asks for a certificate.
    let credential: URLCredential?

    private let policy: TrustPolicy
    private let anchors: [SecCertificate]
    private let queue = DispatchQueue(label: "WebServiceClient.URLSessionTransport.trust", attributes: .concurrent)
    private let failures = Locked<[String: TransportError]>([:])

    init(_ policy: TrustPolicy) throws {
        self.policy = policy
        anchors = try policy.authorities.certificates.map { certificate in
            guard let anchor = SecCertificateCreateWithData(nil, NSData(data: certificate.der) as CFData) else {
                throw TransportError(.badRequest, "The system can't read the authority \(certificate): take it out of the trust policy.")
            }
            return anchor
        }
        credential = try policy.identity.map(Self.credential)
    }

    /// A server that passes: what to answer its challenge with, and its verified chain, its own certificate first.
    struct Passed: Sendable {
        let credential: URLCredential
        let chain: [Certificate]
    }

    /// Evaluates on a queue of its own, since the system may have to fetch certificates, and then says there whether the server passes.
    func evaluate(_ trust: SecTrust, host: String, then answer: @escaping @Sendable (Result<Passed, TransportError>) -> Void) {
        let handover = Handover(trust: trust)
        queue.async { [self] in
            let failure = failure(of: handover.trust, host: host)
            failures.withLock { $0[host] = failure }
            if let failure { return answer(.failure(failure)) }
            answer(.success(Passed(credential: URLCredential(trust: handover.trust), chain: Self.chain(of: handover.trust))))
        }
    }

    /// Why the last server of that name did not pass: exchanges that waited for the same connection are merely cancelled by the system.
    func lastFailure(host: String) -> TransportError? {
        failures.withLock { $0[host] }
    }

    private func failure(of trust: SecTrust, host: String) -> TransportError? {
        if !policy.authorities.isSystem {
            let isSet =
                SecTrustSetAnchorCertificates(trust, NSArray(array: anchors) as CFArray) == errSecSuccess
                && SecTrustSetAnchorCertificatesOnly(trust, !policy.authorities.includesSystem) == errSecSuccess
            guard isSet else { return TransportError(.tls, "The authorities of the trust policy could not be set for \(host).") }
        }
        var error: CFError?
        guard SecTrustEvaluateWithError(trust, &error) else {
            return Self.failure(code: error.map { OSStatus(truncatingIfNeeded: CFErrorGetCode($0)) } ?? errSecNotTrusted, host: host)
        }
        guard !policy.pins.isEmpty else { return nil }
        do {
            try PinCheck.check(host: host, chain: Self.chain(of: trust), policy: policy)
            return nil
        } catch {
            return TransportError(error)
        }
    }

    /// The chain that an evaluation has built. What can't be read is left out, and then matches no pin.
    private static func chain(of trust: SecTrust) -> [Certificate] {
        (SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []).compactMap { certificate in
            try? Certificate(der: SecCertificateCopyData(certificate) as Data)
        }
    }

    private static func failure(code: OSStatus, host: String) -> TransportError {
        switch code {
        case errSecCertificateExpired:
            TransportError(.certificateExpired, "The certificate of \(host) is not valid any more: the service must renew it.")
        case errSecCertificateNotValidYet:
            TransportError(.certificateNotYetValid, "The certificate of \(host) is not valid yet: is the clock here right?")
        case errSecHostNameMismatch:
            TransportError(.certificateForOtherHost, "The certificate of \(host) is for other hosts: is the host's name right?")
        case errSecNotTrusted, errSecCreateChainFailed:
            TransportError(
                .unknownIssuer,
                "No trusted authority vouches for the certificate of \(host): if its issuer is to be trusted, add it to the authorities.")
        default:
            TransportError(.tls, "The certificate of \(host) does not pass the system's evaluation (OSStatus \(code)).")
        }
    }

    /// Hands an evaluation over to the one queue that then works on it.
    ///
    /// `@unchecked Sendable`: whoever hands it over doesn't touch it afterwards.
    private struct Handover: @unchecked Sendable {
        let trust: SecTrust
    }
}

extension TrustEvaluator {
    /// The identity as the system takes it. On macOS before 15 the system keeps what it imports in the user's keychain.
    private static func credential(_ identity: ClientIdentity) throws -> URLCredential {
        guard case .pkcs12(let bytes) = identity.content else {
            throw TransportError(
                .clientCertificate,
                "URLSession takes client identities in PKCS#12 only: convert with \"openssl pkcs12 -export -legacy -in CHAIN -inkey KEY\".")
        }
        var options: [String: Any] = [kSecImportExportPassphrase as String: identity.passphrase ?? ""]
        #if os(macOS)
        if #available(macOS 15, *) { options[kSecImportToMemoryOnly as String] = true }
        #endif
        var items: CFArray?
        let status = SecPKCS12Import(NSData(data: Data(bytes)) as CFData, NSDictionary(dictionary: options) as CFDictionary, &items)
        guard status == errSecSuccess else { throw unusable(status) }
        guard let first = (items as? [[String: Any]])?.first, let value = first[kSecImportItemIdentity as String] else {
            throw unusable(errSecItemNotFound)
        }
        let object = value as CFTypeRef
        guard CFGetTypeID(object) == SecIdentityGetTypeID() else { throw unusable(errSecItemNotFound) }
        // The first of the chain is the identity's own certificate, which goes by itself.
        let chain = first[kSecImportItemCertChain as String] as? [Any] ?? []
        return URLCredential(
            identity: unsafeDowncast(object, to: SecIdentity.self), certificates: Array(chain.dropFirst()), persistence: .none)
    }

    private static func unusable(_ status: OSStatus) -> TransportError {
        let reason =
            switch status {
            case errSecAuthFailed, errSecPkcs12VerifyFailure: "the passphrase is wrong"
            case errSecDecode: "the system can't read it; write it with \"openssl pkcs12 -export -legacy\""
            case errSecItemNotFound: "it holds no certificate with its private key"
            default: "OSStatus \(status)"
            }
        return TransportError(.clientCertificate, "The client's PKCS#12 identity can't be used: \(reason).")
    }
}
#endif

#if canImport(Security)
import Dispatch
import Foundation
import Security

/// Checks servers and presents the client's identity according to a trust policy, on Apple platforms: first the system's whole evaluation
/// with the policy's authorities, then the pins, on the chain that the evaluation has built.
///
/// `@unchecked Sendable`: everything is set once before it is shared, and these objects of Security are immutable.
final class TrustEvaluator: @unchecked Sendable {
    /// The credential for servers that request a certificate.
    let credential: URLCredential?

    private let policy: TrustPolicy
    private let anchors: [SecCertificate]
    private let queue = DispatchQueue(label: "WebServiceClient.URLSessionTransport.trust", attributes: .concurrent)
    private let failures = Locked<[String: TransportError]>([:])

    init(_ policy: TrustPolicy) throws {
        self.policy = policy
        anchors = try policy.authorities.certificates.map { certificate in
            guard let anchor = SecCertificateCreateWithData(nil, NSData(data: certificate.der) as CFData) else {
                throw TransportError(.badRequest, "The system can't read the authority \(certificate): remove it from the trust policy.")
            }
            return anchor
        }
        credential = try policy.identity.map(Self.credential)
    }

    /// An accepted server: the credential for its challenge, and its verified chain, its own certificate first.
    struct Passed: Sendable {
        let credential: URLCredential
        let chain: [Certificate]
    }

    /// Evaluates a server on a queue, because the system may have to fetch certificates, and reports the result on that queue.
    func evaluate(_ trust: SecTrust, host: String, then answer: @escaping @Sendable (Result<Passed, TransportError>) -> Void) {
        let handover = Handover(trust: trust)
        queue.async { [self] in
            let failure = failure(of: handover.trust, host: host)
            failures.withLock { $0[host] = failure }
            if let failure { return answer(.failure(failure)) }
            answer(.success(Passed(credential: URLCredential(trust: handover.trust), chain: Self.chain(of: handover.trust))))
        }
    }

    /// Returns the error of the last rejected server with a name: the system only cancels exchanges that waited for the same connection.
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

    /// Returns the chain built by an evaluation. Certificates that can't be read are omitted, so they match no pin.
    private static func chain(of trust: SecTrust) -> [Certificate] {
        (SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []).compactMap { certificate in
            try? Certificate(der: SecCertificateCopyData(certificate) as Data)
        }
    }

    private static func failure(code: OSStatus, host: String) -> TransportError {
        switch code {
        case errSecCertificateExpired:
            TransportError(.certificateExpired, "The certificate of \(host) has expired: the service must renew it.")
        case errSecCertificateNotValidYet:
            TransportError(.certificateNotYetValid, "The certificate of \(host) is not valid yet: check the clock of this machine.")
        case errSecHostNameMismatch:
            TransportError(.certificateForOtherHost, "The certificate of \(host) is for other hosts: check the host's name.")
        case errSecNotTrusted, errSecCreateChainFailed:
            TransportError(
                .unknownIssuer,
                "No trusted authority issued the certificate of \(host): if its issuer is to be trusted, add it to the authorities.")
        default:
            TransportError(.tls, "The certificate of \(host) does not pass the system's evaluation (OSStatus \(code)).")
        }
    }

    /// Transfers an evaluation to the queue that works on it.
    ///
    /// `@unchecked Sendable`: the sender doesn't use it afterwards.
    private struct Handover: @unchecked Sendable {
        let trust: SecTrust
    }
}

extension TrustEvaluator {
    /// Returns the identity in the system's form. On macOS before 15, the system stores imported items in the user's keychain.
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
        // The first certificate of the chain is the identity's own, which is passed separately.
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

import CSystemLibraries
public import Foundation

#if canImport(CryptoKit)
import CryptoKit
#endif

/// The way in which a ``RemoteProfile`` proves that a profile comes from the service's operator: a detached signature of the profile's
/// bytes.
///
/// The signature is a separate resource, at the profile's URL with the additional suffix `.sig`: its bytes, or their Base64 text.
public struct ProfileSignature: Sendable {
    enum Method: Sendable {
        case ed25519([Data])
        case custom(@Sendable (_ profile: Data, _ signature: Data) async throws -> Bool)
        case none
    }

    let method: Method

    /// Ed25519 (RFC 8032) with any one of these public keys, so that keys can be exchanged one after the other. CryptoKit verifies the
    /// signatures on Apple platforms, and elsewhere the system's `libcrypto` of OpenSSL 1.1.1 or later.
    ///
    ///     openssl genpkey -algorithm ed25519 -out private.pem
    ///     openssl pkey -in private.pem -pubout -outform der | tail -c 32 | base64            # the public key
    ///     openssl pkeyutl -sign -inkey private.pem -rawin -in shop.json -out shop.json.sig   # for each version
    ///
    /// - Parameter publicKeys: Keys of 32 bytes.
    public static func ed25519(publicKeys: Data...) -> ProfileSignature {
        ProfileSignature(method: .ed25519(publicKeys))
    }

    /// A verification by the program, for other algorithms. It returns whether the signature is valid.
    public static func verified(
        by verify: @escaping @Sendable (_ profile: Data, _ signature: Data) async throws -> Bool
    ) -> ProfileSignature {
        ProfileSignature(method: .custom(verify))
    }

    /// No signature: whoever controls the profile's server controls methods and paths of the client. The URL must be an https URL.
    public static let unsigned = ProfileSignature(method: .none)

    /// Whether there is a signature to fetch.
    var isDetached: Bool {
        if case .none = method { false } else { true }
    }

    /// The fault of the signature's settings, and the fix.
    var fault: String? {
        guard case .ed25519(let keys) = method else { return nil }
        if keys.isEmpty { return "there is no public key: give the key of the service's operator." }
        if let wrong = keys.first(where: { $0.count != 32 }) {
            return "a public key has \(wrong.count) bytes, and Ed25519 keys have 32: give the raw key, without its DER or PEM envelope."
        }
        guard Ed25519.isAvailable else {
            return "the system has no libcrypto that verifies Ed25519: install OpenSSL 1.1.1 or later, or use .verified(by:)."
        }
        return nil
    }

    /// Whether a signature is valid for the profile's bytes.
    ///
    /// - Throws: The error of the program's closure.
    func isValid(_ signature: Data, of profile: Data) async throws -> Bool {
        switch method {
        case .none: true
        case .custom(let verify): try await verify(profile, signature)
        case .ed25519(let keys):
            keys.contains { Ed25519.isValid(Self.bytes(of: signature), of: profile, key: $0) }
        }
    }

    /// The bytes of a signature that is stored as bytes or as Base64 text.
    private static func bytes(of signature: Data) -> Data {
        guard signature.count != 64 else { return signature }
        let text = String(decoding: signature, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return Data(base64Encoded: text) ?? signature
    }
}

/// Signatures by Ed25519 (RFC 8032).
enum Ed25519 {
    /// Whether signatures can be verified.
    static var isAvailable: Bool {
        #if canImport(CryptoKit)
        true
        #else
        csl_ed25519_is_available()
        #endif
    }

    /// Whether a signature of a message is valid for a public key; `false` for an invalid key.
    static func isValid(_ signature: Data, of message: Data, key: Data) -> Bool {
        guard key.count == 32, signature.count == 64 else { return false }
        #if canImport(CryptoKit)
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key) else { return false }
        return key.isValidSignature(signature, for: message)
        #else
        let (key, signature, message) = (Array(key), Array(signature), Array(message))
        return csl_ed25519_verify(key, signature, signature.count, message, message.count) == csl_signature_valid
        #endif
    }
}

import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct ProfileSignatureTests {
    /// The test vectors 1 to 3 of RFC 8032 §7.1.
    private static let vectors = [
        (
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
        (
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
        (
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    ]

    private static func bytes(_ hex: String) -> Data {
        var bytes = Data()
        var rest = hex[...]
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    @Test(.enabled(if: Ed25519.isAvailable, "The system has no libcrypto that verifies Ed25519."), arguments: vectors)
    func `Signatures of RFC 8032 are valid, and changed ones aren't`(key: String, message: String, signature: String) async throws {
        let (key, message, signature) = (Self.bytes(key), Self.bytes(message), Self.bytes(signature))
        #expect(Ed25519.isValid(signature, of: message, key: key))
        #expect(!Ed25519.isValid(signature, of: message + [0], key: key))
        #expect(!Ed25519.isValid(signature.dropLast(), of: message, key: key) && !Ed25519.isValid(signature + [0], of: message, key: key))
        #expect(!Ed25519.isValid(Data(), of: message, key: key) && !Ed25519.isValid(signature, of: message, key: key.dropLast()))
        for position in 0..<64 {
            var changed = signature
            changed[position] ^= 1
            #expect(!Ed25519.isValid(changed, of: message, key: key))
        }
        for byte: UInt8 in [0, 1, 0x7f, 0xff] { #expect(!Ed25519.isValid(signature, of: message, key: Data(repeating: byte, count: 32))) }
        // As text, and by the second of two keys.
        let signed = ProfileSignature.ed25519(publicKeys: Data(repeating: 9, count: 32), key)
        let text = Data((signature.base64EncodedString() + "\r\n").utf8)
        #expect(signed.fault == nil)
        #expect(try await signed.isValid(signature, of: message))
        #expect(try await signed.isValid(text, of: message))
        #expect(try await !signed.isValid(Data("no".utf8), of: message))
    }

    @Test func `Keys that can't be used are told`() {
        #expect(ProfileSignature(method: .ed25519([])).fault?.contains("no public key") == true)
        #expect(ProfileSignature.ed25519(publicKeys: Data(count: 44)).fault?.contains("44 bytes") == true)
        #expect(ProfileSignature.unsigned.fault == nil && !ProfileSignature.unsigned.isDetached)
    }

    @Test func `The program may verify`() async throws {
        let signature = ProfileSignature.verified { profile, signature in profile == signature }
        #expect(try await signature.isValid(Data("a".utf8), of: Data("a".utf8)))
        #expect(try await !signature.isValid(Data("a".utf8), of: Data("b".utf8)))
        let failing = ProfileSignature.verified { _, _ in throw CancellationError() }
        await #expect(throws: CancellationError.self) { try await failing.isValid(Data(), of: Data()) }
    }
}

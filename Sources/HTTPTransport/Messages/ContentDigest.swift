public import Foundation

/// The digest of a body (RFC 9530): an algorithm and the hash of the bytes.
///
///     ContentDigest(.sha256, text: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
///
/// Only members whose algorithm is active (RFC 9530 §5) are read from fields. MD5, SHA-1 and the checksums detect accidents but not
/// attacks, so members with them are ignored.
public struct ContentDigest: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The algorithms, by their keys in the fields.
    public enum Algorithm: String, Sendable, Hashable, Codable, CaseIterable, CustomStringConvertible {
        /// SHA-256 (FIPS 180-4): 32 bytes.
        case sha256 = "sha-256"
        /// SHA-512 (FIPS 180-4): 64 bytes.
        case sha512 = "sha-512"
        /// MD5 (RFC 1321): 16 bytes. It detects transmission errors, not attacks. Use it only for files whose service publishes nothing
        /// better.
        case md5

        /// The key in the fields.
        public var description: String { rawValue }

        /// The number of bytes of a digest.
        public var length: Int {
            switch self {
            case .sha256: SHA256.digestLength
            case .sha512: SHA512.digestLength
            case .md5: MD5.digestLength
            }
        }

        /// Whether the algorithm is active (RFC 9530 §5).
        public var isActive: Bool { self != .md5 }
    }

    /// The fields that carry digests.
    public enum Field: String, Sendable, Hashable, Codable, CaseIterable {
        /// `Content-Digest` (RFC 9530 §2): the digest of the bytes in this message, after their content coding.
        case content = "Content-Digest"
        /// `Repr-Digest` (RFC 9530 §3): the digest of the whole representation, even if the message contains only a part of it.
        case representation = "Repr-Digest"

        /// The field's name.
        public var name: HTTPFields.Name { self == .content ? .contentDigest : .reprDigest }
    }

    /// The algorithm.
    public let algorithm: Algorithm
    /// The bytes of the digest.
    public let bytes: Data

    /// Creates a digest from its bytes. If their number isn't ``Algorithm/length``, the digest matches no body.
    public init(_ algorithm: Algorithm, _ bytes: some Sequence<UInt8>) {
        self.algorithm = algorithm
        self.bytes = Data(bytes)
    }

    /// Creates a digest from its text: hexadecimal digits, as `sha256sum` prints them, or base64, as in the fields and in `integrity`
    /// attributes, with or without their prefix `sha256-`. `nil` for any other text.
    public init?(_ algorithm: Algorithm, text: String) {
        var text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let prefix = algorithm.rawValue.replacing("-", with: "") + "-"
        if text.hasPrefix(prefix) { text.removeFirst(prefix.count) }
        let isHexadecimal = text.utf8.count == 2 * algorithm.length
        let bytes = isHexadecimal ? Hexadecimal.bytes(of: text.utf8).map { Data($0) } : Data(base64Encoded: text)
        guard let bytes, bytes.count == algorithm.length else { return nil }
        self.init(algorithm, bytes)
    }

    /// The SHA-256 in a text: see ``init(_:text:)``. Any other text gives a digest that matches no body, so a comparison with it throws an
    /// error.
    public static func sha256(_ text: String) -> ContentDigest { ContentDigest(.sha256, text: text) ?? ContentDigest(.sha256, []) }

    /// Whether the digest has the length of its algorithm.
    package var isValid: Bool { bytes.count == algorithm.length }

    /// Computes the digest of bytes.
    public static func of(_ data: Data, _ algorithm: Algorithm = .sha256) -> ContentDigest {
        var hash = BodyHash([algorithm])
        hash.update(data)
        return hash.digests().first ?? ContentDigest(algorithm, [])
    }

    /// The algorithm and the hexadecimal digits.
    public var description: String { "\(algorithm) \(Hexadecimal.text(of: [UInt8](bytes)))" }
}

extension ContentDigest {
    /// Returns the digests in a field, in the order of its keys. Unknown and outdated algorithms are omitted.
    ///
    /// - Parameter lines: The values of all fields of the name.
    /// - Throws: ``StructuredFields/Fault`` if the field isn't a dictionary of byte sequences. It must then be ignored as a whole.
    public static func digests(in lines: [String]) throws(StructuredFields.Fault) -> [ContentDigest] {
        var digests: [ContentDigest] = []
        for entry in try StructuredFields.dictionary(lines) {
            guard let bytes = entry.value.item?.value.bytes else {
                throw StructuredFields.Fault("a member isn't a byte sequence")
            }
            if let algorithm = Algorithm(rawValue: entry.key), algorithm.isActive { digests.append(ContentDigest(algorithm, bytes)) }
        }
        return digests
    }

    /// The value of a field with these digests; empty for none.
    public static func fieldValue(of digests: [ContentDigest]) -> String {
        digests.map { "\($0.algorithm)=:\($0.bytes.base64EncodedString()):" }.joined(separator: ", ")
    }
}

/// Computes the digests of bytes that arrive in pieces.
package struct BodyHash: Sendable {
    private var sha256: SHA256?
    private var sha512: SHA512?
    private var md5: MD5?

    package init(_ algorithms: some Sequence<ContentDigest.Algorithm>) {
        for algorithm in algorithms {
            switch algorithm {
            case .sha256: sha256 = SHA256()
            case .sha512: sha512 = SHA512()
            case .md5: md5 = MD5()
            }
        }
    }

    /// Adds the next bytes.
    package mutating func update(_ data: Data) {
        data.withUnsafeBytes { update($0) }
    }

    /// Adds the next bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        sha256?.update(bytes)
        sha512?.update(bytes)
        md5?.update(bytes)
    }

    /// The digests of all bytes so far.
    package func digests() -> [ContentDigest] {
        [
            sha256.map { ContentDigest(.sha256, $0.finalize()) }, sha512.map { ContentDigest(.sha512, $0.finalize()) },
            md5.map { ContentDigest(.md5, $0.finalize()) },
        ].compactMap(\.self)
    }
}

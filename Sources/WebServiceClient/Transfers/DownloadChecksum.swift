public import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A checksum of a whole file.
///
///     options.checksum = .sha256("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
public struct DownloadChecksum: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The algorithms.
    public enum Algorithm: String, Sendable, Hashable, Codable, CaseIterable {
        /// SHA-256 (FIPS 180-4).
        case sha256
        /// MD5 (RFC 1321), which detects transmission errors, not attacks.
        case md5

        /// The number of bytes of a checksum.
        var length: Int { self == .sha256 ? SHA256.digestLength : MD5.digestLength }
    }

    /// The algorithm.
    public let algorithm: Algorithm
    /// The bytes of the checksum.
    public let bytes: Data

    /// Creates a checksum from its bytes.
    public init(_ algorithm: Algorithm, _ bytes: Data) {
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// The SHA-256 of a file in 64 hexadecimal digits, as `sha256sum` prints it. With any other text, the download throws an error.
    public static func sha256(_ hexadecimal: String) -> DownloadChecksum {
        DownloadChecksum(.sha256, Data(Hexadecimal.bytes(of: hexadecimal.utf8) ?? []))
    }

    /// Whether the checksum has the length of its algorithm.
    var isValid: Bool { bytes.count == algorithm.length }

    /// The algorithm and the hexadecimal digits.
    public var description: String { "\(algorithm.rawValue) \(Hexadecimal.text(of: [UInt8](bytes)))" }
}

extension DownloadChecksum {
    /// The checksums of the whole representation in a response: `Repr-Digest` (RFC 9530 §3), and `Content-MD5` (RFC 1864) unless the
    /// response is a part. Unknown algorithms are ignored, as the RFC requires.
    static func all(in headers: HTTPFields, isWhole: Bool) -> [DownloadChecksum] {
        var checksums: [DownloadChecksum] = []
        if let fields = try? StructuredFields.dictionary(headers[values: "Repr-Digest"]),
            let bytes = fields["sha-256"]?.item?.value.bytes
        {
            checksums.append(DownloadChecksum(.sha256, bytes))
        }
        if isWhole, let text = headers["Content-MD5"], let bytes = Data(base64Encoded: text.trimmingCharacters(in: .whitespaces)) {
            checksums.append(DownloadChecksum(.md5, bytes))
        }
        return checksums.filter(\.isValid)
    }

    /// Computes a file's checksum.
    ///
    /// - Parameters:
    ///   - descriptor: The file, open for reading.
    ///   - check: Called after each piece of a megabyte; an error that it throws ends the computation.
    static func of(_ descriptor: Int32, _ algorithm: Algorithm, check: () throws -> Void) throws -> DownloadChecksum {
        let digest =
            switch algorithm {
            case .sha256: try digest(SHA256.self, of: descriptor, check)
            case .md5: try digest(MD5.self, of: descriptor, check)
            }
        return DownloadChecksum(algorithm, Data(digest))
    }

    private static func digest<Hash: HashFunction>(
        _ type: Hash.Type, of descriptor: Int32, _ check: () throws -> Void
    ) throws -> [UInt8] {
        var hash = Hash()
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var position: Int64 = 0
        while true {
            try check()
            let count = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(position)) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                let reason = String(cString: strerror(errno)).lowercased()
                throw TransferError(.storage, "The downloaded file can't be read for its checksum (\(reason)).")
            }
            guard count > 0 else { return hash.finalize() }
            buffer.withUnsafeBytes { hash.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            position += Int64(count)
        }
    }
}

import CSystemLibraries
import Foundation

/// Compresses bodies with the system's zlib, which is opened at run time: a program starts and works without it.
enum Gzip {
    /// Whether the library is available.
    static var isAvailable: Bool { csl_zlib_is_available() }

    /// The result of a compression.
    enum Result: Sendable, Equatable {
        /// The compressed bytes.
        case compressed(Data)
        /// Compression would not make the bytes smaller.
        case useless
        /// The library is missing.
        case missing
    }

    /// Compresses the bytes into one gzip member (RFC 1952). The same bytes always give the same result.
    ///
    /// - Parameter level: The compression level, from 1 (fastest) to 9 (smallest).
    static func compress(_ data: Data, level: Int) -> Result {
        guard isAvailable else { return .missing }
        guard !data.isEmpty else { return .useless }
        var output = ByteBuffer()
        var written = 0
        let result = data.withUnsafeBytes { input in
            csl_zlib_gzip(
                input.bindMemory(to: UInt8.self).baseAddress, input.count, Int32(min(9, max(1, level))), output.room(input.count),
                input.count, &written)
        }
        guard result == CSL_ZLIB_DONE, written < data.count else { return .useless }
        output.advance(by: written)
        return .compressed(output.data)
    }
}

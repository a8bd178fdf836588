import CSystemLibraries
import Foundation

/// Compresses bodies with the system's zlib, which is opened at run time: a program starts and works without it.
enum Gzip {
    /// Whether the library is there.
    static var isAvailable: Bool { csl_zlib_is_available() }

    /// What came of it.
    enum Result: Sendable, Equatable {
        /// The bytes in their smaller form.
        case compressed(Data)
        /// They would not get smaller.
        case useless
        /// There is no library to do it.
        case missing
    }

    /// The bytes as one gzip member (RFC 1952), which is the same for the same bytes.
    ///
    /// - Parameter level: from 1, quick, to 9, small.
    static func compress(_ data: Data, level: Int) -> Result {
        guard isAvailable else { return .missing }
        guard !data.isEmpty else { return .useless }
        // Only what is written to takes memory.
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

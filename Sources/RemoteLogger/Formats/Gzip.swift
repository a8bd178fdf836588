import CSystemLibraries
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

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
        // The system provides only the pages that are written to.
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

/// Large blocks of memory that are allocated from the system and returned to it.
///
/// glibc adapts to the first freed block of 128 KiB or more: from then on, each of its arenas keeps up to twice the size of that block. A
/// program with eight busy threads keeps 16 MiB for one block of a megabyte. A buffer that doubles as it grows frees blocks of half the
/// size, and smaller short-lived blocks leave holes in each arena: therefore ``least`` is low.
enum SystemPages {
    /// The least bytes of a block; smaller ones come from the allocator.
    static let least = 16 << 10

    /// A block of zeros; `nil` if the system has no memory.
    static func allocate(_ bytes: Int) -> UnsafeMutablePointer<UInt8>? {
        let block = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let block, block != MAP_FAILED else { return nil }
        return block.bindMemory(to: UInt8.self, capacity: bytes)
    }

    static func deallocate(_ block: UnsafeMutablePointer<UInt8>, _ bytes: Int) {
        munmap(block, bytes)
    }
}

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

/// Large blocks of memory, straight from the system and straight back to it.
///
/// glibc learns from the first block of 128 KiB or more that is given back to it: from then on, each of its arenas keeps up to twice as much as
/// that block had. A program with eight busy threads keeps 16 MiB for one block of a megabyte. What doubles its memory as it grows gives back
/// blocks of half the size, and smaller ones that come and go leave holes in each arena, hence the bound of ``least``.
enum SystemPages {
    /// Blocks of fewer bytes are the allocator's.
    static let least = 16 << 10

    /// A block of zeros; `nil` when the system has none.
    static func allocate(_ bytes: Int) -> UnsafeMutablePointer<UInt8>? {
        let block = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let block, block != MAP_FAILED else { return nil }
        return block.bindMemory(to: UInt8.self, capacity: bytes)
    }

    static func deallocate(_ block: UnsafeMutablePointer<UInt8>, _ bytes: Int) {
        munmap(block, bytes)
    }
}

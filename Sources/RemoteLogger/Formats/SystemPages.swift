#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

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

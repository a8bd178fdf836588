#if canImport(Glibc)
import Glibc
#endif

/// Memory that is taken from the system before it is needed, many pages at once.
///
/// glibc lets a thread's heap grow page by page: for each the kernel is asked for access to it, and asked again, by a fault, when it is
/// first written to, which takes 5 µs together. While a queue of records grows that is one call of ten. Other allocators take their
/// memory in larger parts.
enum MemoryAhead {
    /// What is larger glibc doesn't take from the thread's heap (`M_MMAP_THRESHOLD`).
    private static var most: Int { 96 << 10 }

    /// Sees to it that this thread can allocate so many bytes, in small parts, without asking the system. What it takes it has given back
    /// to the allocator when it returns.
    static func provide(_ bytes: Int) {
        #if canImport(Glibc)
        let size = min(bytes, most)
        guard let block = malloc(size) else { return }
        // A function that the optimiser doesn't know: it would leave out what is written to memory that nobody reads.
        for offset in stride(from: 0, to: size, by: 4_096) { explicit_bzero(block + offset, 1) }
        free(block)
        #endif
    }
}

import Foundation

/// Memory for texts and tapes.
enum JSONMemory {
    /// From this size on, pages are large ones where the system has such: to touch a large block for the first time costs as much as to
    /// scan it otherwise.
    private static let large = 1 << 22
    private static let pageSize = 1 << 21

    static func allocate<Value: BitwiseCopyable>(_ type: Value.Type, count: Int) -> UnsafeMutablePointer<Value> {
        let size = max(count, 1) * MemoryLayout<Value>.stride
        #if os(Linux)
        if size >= large {
            let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: pageSize)
            // Where it isn't followed, nothing is lost.
            _ = madvise(block, size, MADV_HUGEPAGE)
            return block.bindMemory(to: type, capacity: count)
        }
        #endif
        return UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16).bindMemory(to: type, capacity: count)
    }

    static func deallocate<Value: BitwiseCopyable>(_ block: UnsafeMutablePointer<Value>) {
        // As raw memory, which knows of no alignment.
        UnsafeMutableRawPointer(block).deallocate()
    }
}

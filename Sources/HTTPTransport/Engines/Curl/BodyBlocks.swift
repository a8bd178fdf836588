import Foundation

/// Reusable memory for response bodies: allocating it on the loop's thread costs more than the copy.
final class BodyBlocks: Sendable {
    /// A block and the number of bytes written into it.
    struct Block: @unchecked Sendable, Equatable {
        // @unchecked: only the holder of the block writes to its memory.
        fileprivate let memory: UnsafeMutableRawPointer
        /// The size in bytes.
        let capacity: Int
        fileprivate(set) var count = 0

        /// The number of free bytes.
        var room: Int { capacity - count }

        /// Appends bytes if they fit.
        mutating func append(_ bytes: UnsafeRawBufferPointer) {
            guard let start = bytes.baseAddress, bytes.count <= room else { return }
            (memory + count).copyMemory(from: start, byteCount: bytes.count)
            count += bytes.count
        }
    }

    /// The free blocks of one size.
    private struct Kept {
        let size: Int
        var blocks: [Block] = []
    }

    /// The sizes of blocks: several times the amount that libcurl delivers at once. A body that fits into one of the larger blocks need not
    /// be joined from pieces.
    static let sizes = [64 * 1024, 128 * 1024, 256 * 1024]
    /// The maximum number of bytes to keep for each size.
    private static let kept = 4 * 1024 * 1024

    private let free = Locked(sizes.map { Kept(size: $0) })

    deinit {
        free.withLock { kept in
            for block in kept.lazy.flatMap(\.blocks) { block.memory.deallocate() }
        }
    }

    /// Returns an empty block.
    ///
    /// - Parameter expected: The expected number of bytes, if known. More than the largest size arrives in pieces.
    func take(for expected: Int = 0) -> Block {
        let index = Self.sizes.firstIndex { $0 >= expected } ?? 0
        return free.withLock { $0[index].blocks.popLast() }
            ?? Block(memory: .allocate(byteCount: Self.sizes[index], alignment: 16), capacity: Self.sizes[index])
    }

    /// Returns a block to the pool.
    func give(_ block: Block) {
        let isKept = free.withLock { kept in
            guard let index = kept.firstIndex(where: { $0.size == block.capacity }),
                kept[index].blocks.count < Self.kept / block.capacity
            else { return false }
            kept[index].blocks.append(Block(memory: block.memory, capacity: block.capacity))
            return true
        }
        if !isKept { block.memory.deallocate() }
    }

    /// Returns blocks to the pool.
    func give(_ queue: BlockQueue) {
        var queue = queue
        while let block = queue.popFirst() { give(block) }
    }

    /// Returns the bytes of a block. The block returns to the pool when they are no longer used.
    func data(of block: Block) -> Data {
        // A retained body must not occupy a block that is mostly empty.
        guard block.count > block.capacity / 2 else {
            defer { give(block) }
            return Data(bytes: block.memory, count: block.count)
        }
        return Data(bytesNoCopy: block.memory, count: block.count, deallocator: .custom { [self] _, _ in give(block) })
    }
}

/// The blocks of a body, in the order of their bytes.
///
/// The first block needs no array: most bodies have only one, and memory that the loop's thread allocates and another thread frees makes
/// the two contend in the allocator.
struct BlockQueue: Sendable {
    private var first: BodyBlocks.Block?
    /// The blocks after the first.
    private var others: ArraySlice<BodyBlocks.Block> = []

    /// Whether there are no blocks.
    var isEmpty: Bool { first == nil }

    /// Whether the first block is full.
    var isFirstFull: Bool {
        guard let first else { return false }
        return first.room == 0
    }

    /// Adds as many bytes as fit into the last block.
    ///
    /// - Returns: The number of bytes added.
    mutating func fill(_ bytes: UnsafeRawBufferPointer) -> Int {
        // Not `first?.append(…)`: without optimization, Swift 6.3 treats an optional that generic code has set to nil as non-nil there.
        guard var last = others.last ?? first else { return 0 }
        let count = min(last.room, bytes.count)
        last.append(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        if others.isEmpty { first = last } else { others[others.endIndex - 1] = last }
        return count
    }

    /// Appends a block.
    mutating func append(_ block: BodyBlocks.Block) {
        if first == nil { first = block } else { others.append(block) }
    }

    /// Removes the first block; `nil` if there is none.
    mutating func popFirst() -> BodyBlocks.Block? {
        guard let block = first else { return nil }
        first = others.popFirst()
        return block
    }

    /// Removes all blocks.
    mutating func popAll() -> BlockQueue {
        defer { self = BlockQueue() }
        return self
    }
}

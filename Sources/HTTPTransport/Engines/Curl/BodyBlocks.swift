import Foundation

/// Memory for response bodies, used again and again: asking the system for it on the loop's thread costs more than the copy.
final class BodyBlocks: Sendable {
    /// A block with what has been written into it.
    struct Block: @unchecked Sendable, Equatable {
        // @unchecked: whoever holds the block is the only one who writes to its memory.
        fileprivate let memory: UnsafeMutableRawPointer
        /// The bytes that there is room for.
        let capacity: Int
        fileprivate(set) var count = 0

        /// The room that is left.
        var room: Int { capacity - count }

        /// Adds bytes; as many as there is room for, at most.
        mutating func append(_ bytes: UnsafeRawBufferPointer) {
            guard let start = bytes.baseAddress, bytes.count <= room else { return }
            (memory + count).copyMemory(from: start, byteCount: bytes.count)
            count += bytes.count
        }
    }

    /// What is kept of blocks of one size.
    private struct Kept {
        let size: Int
        var blocks: [Block] = []
    }

    /// The bytes of a block: as many as libcurl gives at once, several times. The larger ones are for bodies that fit as a whole, and need
    /// not be put together from pieces then.
    static let sizes = [64 * 1024, 128 * 1024, 256 * 1024]
    /// Bytes that are kept for later of each size, at most.
    private static let kept = 4 * 1024 * 1024

    private let free = Locked(sizes.map { Kept(size: $0) })

    deinit {
        free.withLock { kept in
            for block in kept.lazy.flatMap(\.blocks) { block.memory.deallocate() }
        }
    }

    /// An empty block.
    ///
    /// - Parameter expected: the bytes that will come, if that is known. More than fit into the largest come piece by piece.
    func take(for expected: Int = 0) -> Block {
        let index = Self.sizes.firstIndex { $0 >= expected } ?? 0
        return free.withLock { $0[index].blocks.popLast() }
            ?? Block(memory: .allocate(byteCount: Self.sizes[index], alignment: 16), capacity: Self.sizes[index])
    }

    /// Takes a block back.
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

    /// Takes blocks back.
    func give(_ queue: BlockQueue) {
        var queue = queue
        while let block = queue.popFirst() { give(block) }
    }

    /// The bytes of a block, which is given back when they are no longer used.
    func data(of block: Block) -> Data {
        // A body that is kept must not hold a block that is mostly empty.
        guard block.count > block.capacity / 2 else {
            defer { give(block) }
            return Data(bytes: block.memory, count: block.count)
        }
        return Data(bytesNoCopy: block.memory, count: block.count, deallocator: .custom { [self] _, _ in give(block) })
    }
}

/// The blocks of a body, in the order of their bytes.
///
/// The first one needs no array: most bodies have no other, and what the loop's thread asks the system for and another thread gives back
/// makes the two wait for each other in the allocator.
struct BlockQueue: Sendable {
    private var first: BodyBlocks.Block?
    /// Those behind the first.
    private var others: ArraySlice<BodyBlocks.Block> = []

    /// Whether there are none.
    var isEmpty: Bool { first == nil }

    /// Whether the block that comes first is full.
    var isFirstFull: Bool {
        guard let first else { return false }
        return first.room == 0
    }

    /// Adds as many of the bytes to the last block as there is room for there.
    ///
    /// - Returns: how many.
    mutating func fill(_ bytes: UnsafeRawBufferPointer) -> Int {
        // Not by `first?.append(…)`: without optimisation, Swift 6.3 takes a place that generic code has emptied for a full one there.
        guard var last = others.last ?? first else { return 0 }
        let count = min(last.room, bytes.count)
        last.append(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        if others.isEmpty { first = last } else { others[others.endIndex - 1] = last }
        return count
    }

    /// Adds a block behind the others.
    mutating func append(_ block: BodyBlocks.Block) {
        if first == nil { first = block } else { others.append(block) }
    }

    /// Takes the first one; `nil` when there is none.
    mutating func popFirst() -> BodyBlocks.Block? {
        guard let block = first else { return nil }
        first = others.popFirst()
        return block
    }

    /// Takes them all.
    mutating func popAll() -> BlockQueue {
        defer { self = BlockQueue() }
        return self
    }
}

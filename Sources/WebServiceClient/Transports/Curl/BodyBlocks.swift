import Foundation

/// Memory for response bodies, used again and again: asking the system for it on the loop's thread costs more than the copy.
final class BodyBlocks: Sendable {
    /// A block with what has been written into it.
    struct Block: @unchecked Sendable, Equatable {
        // @unchecked: whoever holds the block is the only one who writes to its memory.
        fileprivate let memory: UnsafeMutableRawPointer
        fileprivate(set) var count = 0

        /// The room that is left.
        var room: Int { BodyBlocks.size - count }

        /// Adds bytes; as many as there is room for, at most.
        mutating func append(_ bytes: UnsafeRawBufferPointer) {
            guard let start = bytes.baseAddress, bytes.count <= room else { return }
            (memory + count).copyMemory(from: start, byteCount: bytes.count)
            count += bytes.count
        }
    }

    /// The bytes of a block: as many as libcurl gives at once, several times.
    static let size = 64 * 1024
    /// Blocks that are kept for later, at most.
    private static let kept = 64
    /// Up to this many bytes are copied out, so that a body that is kept doesn't hold a block that is mostly empty.
    private static let copied = size / 2

    private let free = Locked<[Block]>([])

    deinit {
        free.withLock { blocks in
            for block in blocks { block.memory.deallocate() }
        }
    }

    /// An empty block.
    func take() -> Block {
        free.withLock { $0.popLast() } ?? Block(memory: .allocate(byteCount: Self.size, alignment: 16))
    }

    /// Takes a block back.
    func give(_ block: Block) {
        let isKept = free.withLock { blocks in
            guard blocks.count < Self.kept else { return false }
            blocks.append(Block(memory: block.memory))
            return true
        }
        if !isKept { block.memory.deallocate() }
    }

    /// The bytes of a block, which is given back when they are no longer used.
    func data(of block: Block) -> Data {
        guard block.count > Self.copied else {
            defer { give(block) }
            return Data(bytes: block.memory, count: block.count)
        }
        return Data(bytesNoCopy: block.memory, count: block.count, deallocator: .custom { [self] _, _ in give(block) })
    }
}

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

/// Keyed containers that somebody keeps beyond their call, with what tells them that it has ended, until they are let go.
enum JSONKeptContainers {
    // Sendable: what a slot holds is written no more, and given up under the lock.
    private struct Kept: @unchecked Sendable {
        var slots: ContiguousArray<JSONContainerSlot> = []
        /// From how many slots on those that are free are given up.
        var threshold = 16
    }

    private static let kept = Locked(Kept())

    /// Takes containers whose state says that they are no longer current.
    static func take(_ slots: ContiguousArray<JSONContainerSlot>) {
        kept.withLock { kept in
            kept.slots.append(contentsOf: slots)
            guard kept.slots.count > kept.threshold else { return }
            var held: ContiguousArray<JSONContainerSlot> = []
            for index in kept.slots.indices {
                if kept.slots[index].isFree { kept.slots[index].deallocate() } else { held.append(kept.slots[index]) }
            }
            kept.slots = held
            kept.threshold = max(16, 2 * held.count)
        }
    }

    /// Called by a container that has just read that it is no longer current.
    ///
    /// Whoever reads that still holds the container. So the lock that is taken here comes before the one under which the last reference is
    /// found gone and the memory freed: no read of it is at the same time as that, nor is it unordered.
    static func passBy() { kept.withLock { _ in } }
}

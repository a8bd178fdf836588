/// Keyed containers that are used again.
///
/// To make one takes a sixth of the time of decoding an object: the standard library puts it into a box, and finds the metadata of three
/// generic types. So the box is kept, by the type of its keys, and what its container reads is set anew, as soon as nobody else
/// holds the box any more. One that somebody still holds when its text goes is given up to ``JSONKeptContainers``.
struct JSONContainerCache {
    private var slots: ContiguousArray<JSONContainerSlot> = []
    /// From how many slots on those that are free are given up.
    private var threshold = 16
    /// As many slots are searched for a free one, and kept.
    private static let searched = 8

    /// A container of the members of an object.
    @inline(__always) mutating func container<Key: CodingKey>(
        _ document: JSONDocument, _ node: Int, by type: Key.Type
    ) -> KeyedDecodingContainer<Key> {
        let keys = ObjectIdentifier(type)
        for index in 0..<min(slots.count, Self.searched) where slots[index].keys == keys && slots[index].isFree {
            slots[index].state.pointee = JSONContainerState(document: document, node: node)
            // A box for keys of the same type, to which the structure is nothing but a reference.
            return unsafeBitCast(slots[index].box, to: KeyedDecodingContainer<Key>.self)
        }
        return make(document, node, by: type)
    }

    @inline(never) private mutating func make<Key: CodingKey>(
        _ document: JSONDocument, _ node: Int, by type: Key.Type
    ) -> KeyedDecodingContainer<Key> {
        if slots.count >= threshold { sweep() }
        let state = UnsafeMutablePointer<JSONContainerState>.allocate(capacity: 1)
        state.initialize(to: JSONContainerState(document: document, node: node))
        let container = KeyedDecodingContainer(JSONKeyedContainer<Key>(state))
        guard MemoryLayout<KeyedDecodingContainer<Key>>.size == MemoryLayout<AnyObject>.size else { return container }
        slots.append(JSONContainerSlot(keys: ObjectIdentifier(type), box: unsafeBitCast(container, to: AnyObject.self), state: state))
        return container
    }

    /// Gives up the slots that nobody uses, but for a few.
    private mutating func sweep() {
        guard slots.count > Self.searched else { return }
        // Of those that will be searched, the free ones are worth a place.
        var free: ContiguousArray<JSONContainerSlot> = []
        var used: ContiguousArray<JSONContainerSlot> = []
        for index in slots.indices {
            if !slots[index].isFree {
                used.append(slots[index])
            } else if free.count < Self.searched {
                free.append(slots[index])
            } else {
                slots[index].deallocate()
            }
        }
        slots = free + used
        threshold = max(16, 2 * slots.count)
    }

    /// Ends all containers, since their text goes: afterwards there are only some that nobody holds.
    mutating func end() {
        for index in slots.indices where !slots[index].isFree { return giveUpKept() }
        sweep()
    }

    @inline(never) private mutating func giveUpKept() {
        var free: ContiguousArray<JSONContainerSlot> = []
        var kept: ContiguousArray<JSONContainerSlot> = []
        for index in slots.indices {
            if slots[index].isFree {
                free.append(slots[index])
            } else {
                slots[index].state.pointee.isCurrent = false
                kept.append(slots[index])
            }
        }
        slots = free
        JSONKeptContainers.take(kept)
        sweep()
    }
}

/// A box of the standard library with a keyed container in it, and what that reads.
///
/// Pointers only: a reference in an array may be copied by the optimiser before it is asked whether it is the only one, and then never is.
struct JSONContainerSlot {
    let keys: ObjectIdentifier
    let state: UnsafeMutablePointer<JSONContainerState>
    private let reference: UnsafeMutablePointer<AnyObject>

    init(keys: ObjectIdentifier, box: AnyObject, state: UnsafeMutablePointer<JSONContainerState>) {
        self.keys = keys
        self.state = state
        reference = .allocate(capacity: 1)
        reference.initialize(to: box)
    }

    var box: AnyObject { reference.pointee }

    /// Whether nobody else holds the box.
    @inline(__always) var isFree: Bool { isKnownUniquelyReferenced(&reference.pointee) }

    /// Frees the box, which nobody holds, and what it reads.
    func deallocate() {
        reference.deinitialize(count: 1)
        reference.deallocate()
        state.deallocate()
    }
}

/// What a keyed container reads.
struct JSONContainerState {
    var document: JSONDocument
    var node: Int
    /// Whether the text is still there.
    var isCurrent = true
}

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

/// A cache of reusable keyed containers.
///
/// Creating one takes a sixth of the time of decoding an object: the standard library boxes it and looks up the metadata of three generic
/// types. The cache keeps boxes by key type, and gives a box's container a new object to read once nothing else retains the box. Boxes
/// that are still retained when their text ends move to ``JSONKeptContainers``.
struct JSONContainerCache {
    private var slots: ContiguousArray<JSONContainerSlot> = []
    /// The number of slots at which free ones are released.
    private var threshold = 16
    /// The number of slots that are searched for a free one, and kept.
    private static let searched = 8

    /// Returns a container of an object's members.
    @inline(__always) mutating func container<Key: CodingKey>(
        _ document: JSONDocument, _ node: Int, by type: Key.Type
    ) -> KeyedDecodingContainer<Key> {
        let keys = ObjectIdentifier(type)
        for index in 0..<min(slots.count, Self.searched) where slots[index].keys == keys && slots[index].isFree {
            slots[index].state.pointee = JSONContainerState(document: document, node: node)
            // The box was made for the same key type, and the structure is only a reference to it.
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

    /// Releases all but a few free slots.
    private mutating func sweep() {
        guard slots.count > Self.searched else { return }
        // Only free slots are worth a place among those that are searched.
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

    /// Ends all containers, since their text ends; only free ones remain.
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

/// A standard library box with a keyed container, and the state that the container reads.
///
/// It holds pointers only: the optimizer may copy a reference in an array before the uniqueness check, which then always fails.
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

    /// Whether nothing else retains the box.
    @inline(__always) var isFree: Bool { isKnownUniquelyReferenced(&reference.pointee) }

    /// Frees the box, which nothing else retains, and its state.
    func deallocate() {
        reference.deinitialize(count: 1)
        reference.deallocate()
        state.deallocate()
    }
}

/// The state that a keyed container reads.
struct JSONContainerState {
    var document: JSONDocument
    var node: Int
    /// Whether the text still exists.
    var isCurrent = true
}

/// Keyed containers that are retained after their call, kept with their state until they are released.
enum JSONKeptContainers {
    // Sendable: a slot's contents don't change any more, and are released under the lock.
    private struct Kept: @unchecked Sendable {
        var slots: ContiguousArray<JSONContainerSlot> = []
        /// The number of slots at which free ones are released.
        var threshold = 16
    }

    private static let kept = Locked(Kept())

    /// Takes containers whose state isn't current any more.
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

    /// Called by a container that has read that its call has ended.
    ///
    /// Its reader still retains the container. This lock therefore happens before the one under which the last release is observed and
    /// the memory freed, which orders every read before that.
    static func passBy() { kept.withLock { _ in } }
}

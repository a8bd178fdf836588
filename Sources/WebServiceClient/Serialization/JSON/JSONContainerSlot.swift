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

/// A box of the standard library with a keyed container in it, and what that reads.
struct JSONContainerSlot {
    let keys: ObjectIdentifier
    var box: AnyObject
    let state: UnsafeMutablePointer<JSONContainerState>

    /// Whether nobody else holds the box.
    @inline(__always) mutating func isFree() -> Bool { isKnownUniquelyReferenced(&box) }
}

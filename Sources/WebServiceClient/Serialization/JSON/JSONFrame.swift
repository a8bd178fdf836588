/// A container that the scanner is inside of.
struct JSONFrame {
    var head: Int
    var count = 0
    /// For objects: the name in an earlier object which the next name is likely to be, and the end of that object.
    var predicted = 0
    var predictedEnd = 0
    /// The value in an earlier container that is likely to be like the next one here; -1 for none.
    var counterpart = -1
    /// Whether a name has come that the earlier object didn't have.
    var hasDiverged = false

    @inline(__always) init(head: Int) { self.head = head }
}

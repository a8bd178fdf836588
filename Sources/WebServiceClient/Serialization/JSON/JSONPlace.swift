/// Where a value is: its index on the tape, the index of the container around it (-1 for none), and its number in that, for arrays.
struct JSONPlace {
    let node: Int32
    let container: Int32
    let number: Int32

    @inline(__always) init(node: Int, container: Int, number: Int = 0) {
        self.node = Int32(truncatingIfNeeded: node)
        self.container = Int32(truncatingIfNeeded: container)
        self.number = Int32(truncatingIfNeeded: number)
    }

    /// The root of a document.
    static let root = JSONPlace(node: 0, container: -1)

    @inline(__always) var index: Int { Int(node) }
    @inline(__always) var parent: Int { Int(container) }
}

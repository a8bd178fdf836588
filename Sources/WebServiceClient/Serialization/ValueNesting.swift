/// The nesting depth of an untyped value, and whether it lost parts that nested too deeply.
///
/// Untyped values bound their depth when they are built: comparing, hashing, writing or releasing a deeper one could overflow a thread's
/// stack.
package struct ValueNesting: Sendable, Hashable {
    /// The nesting of a value without contents.
    package static let none = ValueNesting(height: 0, isCut: false)
    /// The nesting of a replacement for a value that nests too deeply.
    package static let cut = ValueNesting(height: 1, isCut: true)

    package private(set) var height: UInt16
    package private(set) var isCut: Bool

    private init(height: UInt16, isCut: Bool) {
        self.height = height
        self.isCut = isCut
    }

    /// Creates the nesting of an empty container.
    package init() { self.init(height: 1, isCut: false) }

    /// Includes a contained value.
    package mutating func add(_ inner: ValueNesting) {
        height = max(height, inner.height + 1)
        isCut = isCut || inner.isCut
    }

    /// Returns whether a value with this nesting exceeds what a container of `limit` levels can hold.
    package func isTooDeep(for limit: Int) -> Bool { height >= limit }
}

/// How deep a value nests, and whether something in it was left out as it was deeper than values may be.
struct Nesting: Sendable, Hashable {
    /// What has nothing in it.
    static let none = Nesting(height: 0, isCut: false)
    /// What stands in place of what is too deep.
    static let cut = Nesting(height: 1, isCut: true)

    private(set) var height: UInt16 = 1
    private(set) var isCut = false

    /// Takes in what lies in the value.
    mutating func add(_ inner: Nesting) {
        height = max(height, inner.height + 1)
        isCut = isCut || inner.isCut
    }

    /// Whether something with this nesting is to be left out of what has at most so many levels.
    func isTooDeep(for limit: Int) -> Bool {
        height >= limit
    }
}

/// How much a payload that is read in pieces may have of what. All in bytes.
public struct JSONStreamBounds: Sendable, Hashable {
    /// The largest element; one that is within one piece, of up to 64 KiB, is never too large. Default: 16 MiB.
    public var element: Int
    /// The most of what lies around the array. Default: 1 MiB.
    public var surroundings: Int
    /// The whole payload. Default: without bound, since what has been read isn't kept.
    public var total: Int

    /// Bounds.
    public init(element: Int = 16 << 20, surroundings: Int = 1 << 20, total: Int = .max) {
        self.element = element
        self.surroundings = surroundings
        self.total = total
    }
}

/// How far a body has been sent or received: cumulative, never falling.
public struct TransferProgress: Sendable, Hashable {
    /// The bytes that have passed so far.
    public var completed: Int64

    /// The bytes that will pass in all; `nil` where nobody knows, as with chunked or compressed bodies.
    public var total: Int64?

    /// A state of a transfer.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// The completed part, 0 to 1; `nil` when the total is unknown, 1 for an empty body.
    public var fraction: Double? {
        guard let total else { return nil }
        return total <= 0 ? 1 : min(1, Double(completed) / Double(total))
    }
}

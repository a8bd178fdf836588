/// How often each of the last nonces was used (RFC 7616 §3.4, `nc`). A count never starts again while it is kept, also when the server
/// hands out a nonce that it has handed out before: the same count twice looks like a replay.
struct NonceCounts: Sendable {
    /// The most nonces that are kept.
    static let limit = 64

    /// The one used last at the end.
    private var counts: [(nonce: QuotedText, count: UInt32)] = []

    /// Counts one more use: 1 for the first. Nil when a nonce was used 2^32 - 1 times, which is all that eight digits can tell.
    mutating func next(for nonce: QuotedText) -> UInt32? {
        var used: UInt32 = 0
        if let known = counts.lastIndex(where: { $0.nonce == nonce }) {
            used = counts[known].count
            guard used < .max else { return nil }
            if known == counts.count - 1 {
                counts[known].count += 1
                return used + 1
            }
            counts.remove(at: known)
        } else if counts.count >= Self.limit {
            counts.removeFirst()
        }
        counts.append((nonce, used + 1))
        return used + 1
    }
}

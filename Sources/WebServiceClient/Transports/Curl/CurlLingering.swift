/// When to stay awake for an answer instead of sleeping until it comes: where the last ones came in a moment.
///
/// To fall asleep and to be woken takes longer than a server on the same machine needs for an answer. Elsewhere it would be time for nothing:
/// so each time that it was in vain, twice as many exchanges pass before it is tried again.
struct CurlLingering {
    /// How long to stay awake, in nanoseconds: about what falling asleep and being woken take.
    static let longest: Int64 = 100_000
    /// The most exchanges that pass before it is tried again.
    static let longestPause = 1024

    private var pause = 0
    private var left = 0

    /// Whether to stay awake for the exchange that begins.
    mutating func begins() -> Bool {
        guard left > 0 else { return true }
        left -= 1
        return false
    }

    /// It has ended.
    ///
    /// - Parameter inTime: whether there was an answer by then.
    mutating func ended(inTime: Bool) {
        pause = inTime ? 0 : min(max(2, 2 * pause), Self.longestPause)
        left = pause
    }
}

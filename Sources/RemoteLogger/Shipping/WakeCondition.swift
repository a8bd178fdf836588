/// What ends the sleep of the one who reads a store. It is met once: who has woken him need not do it again, nor need the next one.
package struct WakeCondition: Sendable {
    /// From so many records on that were not read.
    var records: Int
    /// From so many bytes of these on.
    var bytes: Int

    /// Nobody sleeps.
    static var never: WakeCondition { WakeCondition(records: .max, bytes: .max) }
    /// Whatever is there.
    static var anything: WakeCondition { WakeCondition(records: 1, bytes: .max) }

    /// Whether so much is enough.
    func isMet(by records: Int, _ bytes: Int) -> Bool {
        records >= self.records || bytes >= self.bytes
    }

    /// Whether so much is enough; then the sleeper is woken, and nothing is enough any more.
    mutating func take(_ records: Int, _ bytes: Int) -> Bool {
        guard isMet(by: records, bytes) else { return false }
        self = .never
        return true
    }
}

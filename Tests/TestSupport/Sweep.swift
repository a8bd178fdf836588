import Foundation

/// The size of random and exhaustive tests.
package enum Sweep {
    /// Whether tests run with all of their rounds: `FULL_SWEEPS` is in the environment, as in `scripts/nightly`.
    package static let isFull = ProcessInfo.processInfo.environment["FULL_SWEEPS"] != nil

    /// Returns the number of rounds of a test: a quarter of all, or all in a full sweep. A round more finds a fault less often than it
    /// costs time, and the rounds of the next night have the same seeds.
    package static func rounds(ofAll count: Int) -> Int {
        isFull ? count : max(1, count / 4)
    }
}

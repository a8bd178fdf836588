import Foundation

/// The maximum growth of the process since this value was made, among the measurements.
final class Growth: @unchecked Sendable, CustomStringConvertible {
    private let before = ProcessFigures.resident
    // @unchecked: one lock guards all mutable state.
    private let lock = NSLock()
    private var growth = 0
    private var looks = 0

    /// Measures the process every 16th time, since measuring takes longer than a piece does.
    func look() {
        lock.withLock {
            looks += 1
            if looks % 16 == 1 { growth = max(growth, ProcessFigures.resident - before) }
        }
    }

    /// The growth in bytes.
    var value: Int { lock.withLock { growth } }

    func isBounded(by bound: Int?) -> Bool { bound.map { value <= $0 } ?? true }

    var description: String { "the process grew by at most \(value / 1024) kB" }
}

import Foundation

/// By how much the process has grown at most since this was made, as far as it was looked at.
final class Growth: @unchecked Sendable, CustomStringConvertible {
    private let before = ProcessFigures.resident
    // @unchecked: one lock around all that changes.
    private let lock = NSLock()
    private var growth = 0
    private var looks = 0

    /// Looks at the process: each 16th time, since asking takes longer than a piece does.
    func look() {
        lock.withLock {
            looks += 1
            if looks % 16 == 1 { growth = max(growth, ProcessFigures.resident - before) }
        }
    }

    /// In bytes.
    var value: Int { lock.withLock { growth } }

    func isBounded(by bound: Int?) -> Bool { bound.map { value <= $0 } ?? true }

    var description: String { "the process grew by at most \(value / 1024) kB" }
}

import Foundation

/// One line of the report: what is wanted, what was found.
struct Goal {
    let name: String
    /// `nil` for what is only shown.
    let goal: String?
    let found: String
    let isMet: Bool

    var line: String {
        guard let goal else { return "beside  \(name): \(found)" }
        return "\(isMet ? "met   " : "MISSED")  \(name): \(found)  (goal: \(goal))"
    }
}

/// Now, in nanoseconds from some instant on: straight from the system, since single calls are measured by it.
@inline(__always) func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

func seconds(since start: UInt64) -> Double { Double(nanoseconds() - start) / 1e9 }

func decimal(_ value: Double, _ digits: Int = 2) -> String { String(format: "%.\(digits)f", value) }

import Foundation

/// One line of the report: a goal and its measured result.
struct Goal {
    let name: String
    /// The goal; `nil` for informative figures.
    let goal: String?
    let found: String
    let isMet: Bool

    var line: String {
        guard let goal else { return "info    \(name): \(found)" }
        return "\(isMet ? "met   " : "MISSED")  \(name): \(found)  (goal: \(goal))"
    }
}

/// Returns the monotonic time in nanoseconds. Calls the system directly, because the overhead adds to each measured call.
@inline(__always) func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

func seconds(since start: UInt64) -> Double { Double(nanoseconds() - start) / 1e9 }

func decimal(_ value: Double, _ digits: Int = 2) -> String { String(format: "%.\(digits)f", value) }

import Foundation

/// One line of the report: what is wanted, what was found.
struct Goal {
    let name: String
    let goal: String
    let found: String
    let isMet: Bool

    var line: String { "\(isMet ? "met   " : "MISSED")  \(name): \(found)  (goal: \(goal))" }
}

/// Times of single calls.
struct Samples {
    private let sorted: [UInt64]

    init(_ nanoseconds: [UInt64]) { sorted = nanoseconds.sorted() }

    /// The value that this part of them doesn't exceed, in microseconds.
    func quantile(_ part: Double) -> Double {
        guard !sorted.isEmpty else { return .nan }
        return Double(sorted[min(sorted.count - 1, Int((Double(sorted.count) * part).rounded(.up)) - 1)]) / 1_000
    }
}

/// Now, in nanoseconds from some instant on.
@inline(__always) func nanoseconds() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

func seconds(since start: UInt64) -> Double { Double(nanoseconds() - start) / 1e9 }

func text(_ value: Double, _ digits: Int = 2) -> String { String(format: "%.\(digits)f", value) }

func thousands(_ value: Double) -> String { String(format: "%.0f thousand", value / 1_000) }

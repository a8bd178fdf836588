import Foundation

/// One line of the report: what is wanted, what was found.
struct Goal {
    let name: String
    let goal: String
    let found: String
    let isMet: Bool

    var line: String { "\(isMet ? "met   " : "MISSED")  \(name): \(found)  (goal: \(goal))" }
}

/// Now, in nanoseconds from some instant on.
@inline(__always) func nanoseconds() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

func seconds(since start: UInt64) -> Double { Double(nanoseconds() - start) / 1e9 }

func decimal(_ value: Double, _ digits: Int = 2) -> String { String(format: "%.\(digits)f", value) }

/// The result of a ``TransportConformance`` run.
public struct ConformanceReport: Sendable, CustomStringConvertible {
    /// How a case ended.
    public enum Outcome: Sendable, Hashable {
        /// The transport meets the demand.
        case passed
        /// The transport doesn't meet the demand, or a declared gap passes. The sentence describes the result.
        case failed(String)
        /// The case wasn't run, for this reason: usually a capability that the transport doesn't declare.
        case skipped(String)
        /// The failure is declared as a known gap with this reason, or the case wasn't run because its failure ends or hangs the
        /// process.
        case gap(String)
    }

    /// A case and how it ended.
    public struct Entry: Sendable {
        /// The case.
        public let conformanceCase: ConformanceCase
        /// How it ended.
        public let outcome: Outcome
        /// The duration of the case.
        public let duration: Duration
    }

    /// All cases, in the order of execution.
    public let entries: [Entry]

    /// The cases that passed.
    public var passed: [Entry] { entries.filter { $0.outcome == .passed } }
    /// The cases that failed, including stale gaps.
    public var failed: [Entry] { entries.filter { if case .failed = $0.outcome { true } else { false } } }
    /// The cases that weren't run.
    public var skipped: [Entry] { entries.filter { if case .skipped = $0.outcome { true } else { false } } }
    /// The known gaps.
    public var gaps: [Entry] { entries.filter { if case .gap = $0.outcome { true } else { false } } }

    /// A Boolean value that indicates whether no case failed.
    public var isConforming: Bool { failed.isEmpty }

    /// The counts, then every case that didn't pass, with its reason.
    public var description: String {
        let counts = "\(passed.count) passed, \(failed.count) failed, \(skipped.count) skipped, \(gaps.count) known gaps"
        return ([counts] + entries.compactMap(\.line)).joined(separator: "\n")
    }
}

extension ConformanceReport.Entry {
    /// The line for the report; `nil` for a case that passed.
    fileprivate var line: String? {
        switch outcome {
        case .passed: nil
        case .failed(let sentence): "FAILED  \(conformanceCase.name): \(sentence)\n        demanded: \(conformanceCase.demand)"
        case .skipped(let reason): "skipped \(conformanceCase.name): \(reason)"
        case .gap(let reason): "gap     \(conformanceCase.name): \(reason)"
        }
    }
}

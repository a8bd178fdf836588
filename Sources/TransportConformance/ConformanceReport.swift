import WebServiceTesting

/// What came of a run of a ``TransportConformance``.
public struct ConformanceReport: Sendable, CustomStringConvertible {
    /// How a case ended.
    public enum Outcome: Sendable, Hashable {
        /// The transport keeps what the case demands.
        case passed
        /// It doesn't, or a gap that was declared is none; the sentence says what was found.
        case failed(String)
        /// The case was not run, for this reason: as a rule a capability that the transport doesn't declare.
        case skipped(String)
        /// It doesn't, as was declared with this reason; or it wasn't even run, since failing ends the process.
        case gap(String)
    }

    /// A case and how it ended.
    public struct Entry: Sendable {
        /// The case.
        public let conformanceCase: ConformanceCase
        /// How it ended.
        public let outcome: Outcome
        /// How long it took.
        public let duration: Duration
    }

    /// All cases, in the order in which they ran.
    public let entries: [Entry]

    /// The cases that passed.
    public var passed: [Entry] { entries.filter { $0.outcome == .passed } }
    /// The cases that failed, with stale gaps.
    public var failed: [Entry] { entries.filter { if case .failed = $0.outcome { true } else { false } } }
    /// The cases that were not run.
    public var skipped: [Entry] { entries.filter { if case .skipped = $0.outcome { true } else { false } } }
    /// The cases that failed as was declared.
    public var gaps: [Entry] { entries.filter { if case .gap = $0.outcome { true } else { false } } }

    /// Whether no case failed.
    public var isConforming: Bool { failed.isEmpty }

    /// Numbers, and then every case that didn't pass, with its reason.
    public var description: String {
        let counts = "\(passed.count) passed, \(failed.count) failed, \(skipped.count) skipped, \(gaps.count) known gaps"
        return ([counts] + entries.compactMap(\.line)).joined(separator: "\n")
    }
}

extension ConformanceReport.Entry {
    /// What there is to say of it in a report; `nil` when it passed.
    fileprivate var line: String? {
        switch outcome {
        case .passed: nil
        case .failed(let sentence): "FAILED  \(conformanceCase.name): \(sentence)\n        demanded: \(conformanceCase.demand)"
        case .skipped(let reason): "skipped \(conformanceCase.name): \(reason)"
        case .gap(let reason): "gap     \(conformanceCase.name): \(reason)"
        }
    }
}

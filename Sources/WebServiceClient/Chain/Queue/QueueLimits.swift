/// The limits of a client's queue. A call is active from its turn until its response's body has ended, was cancelled, or was released; each
/// attempt and each redirect takes a separate turn.
///
///     let shop = Shop(serviceRoot: "https://shop.example.com/v1") {
///         $0.queue = QueueLimits(active: 8, activePerOrigin: 4, pending: 1_000, wait: .seconds(30))
///     }
public struct QueueLimits: Sendable, Hashable {
    /// The maximum number of active calls of the client; `nil` for no limit. At least 1.
    public var active: Int?
    /// The maximum number of active calls to one origin (scheme, host and port); `nil` for no limit. At least 1, and at most ``active``.
    public var activePerOrigin: Int?
    /// The maximum number of pending calls; `nil` for no limit. With 0, a call that can't start at once fails with ``QueueError``.
    public var pending: Int?
    /// The longest time that a call is pending; `nil` for no limit. Then the call fails with ``QueueError``.
    public var wait: Duration?

    /// Creates limits.
    public init(active: Int? = nil, activePerOrigin: Int? = nil, pending: Int? = nil, wait: Duration? = nil) {
        self.active = active
        self.activePerOrigin = activePerOrigin
        self.pending = pending
        self.wait = wait
    }

    /// No limits: the default. Such a queue can still be paused.
    public static let none = QueueLimits()

    /// The problems of the limits, each with its fix.
    var faults: [(problem: String, fix: String)] {
        var faults: [(String, String)] = []
        if let active, active < 1 {
            faults.append(("queue.active is \(active), so no call could start", "use at least 1, or nil for no limit"))
        }
        if let activePerOrigin, activePerOrigin < 1 {
            faults.append(("queue.activePerOrigin is \(activePerOrigin), so no call could start", "use at least 1, or nil for no limit"))
        } else if let activePerOrigin, let active, activePerOrigin > active {
            faults.append(
                (
                    "queue.activePerOrigin is \(activePerOrigin), more than queue.active, which is \(active)",
                    "use at most \(active), or nil for no limit"
                ))
        }
        if let pending, pending < 0 {
            faults.append(("queue.pending is \(pending)", "use 0 for a queue in which no call waits, or nil for no limit"))
        }
        if let wait, wait <= .zero {
            faults.append(("queue.wait is \(wait.text)", "use a longer time, nil for no limit, or queue.pending = 0 if no call shall wait"))
        }
        return faults
    }
}

extension QueueLimits: CustomStringConvertible {
    /// The limits that are set, such as `active 8, pending 100`; `none` without limits.
    public var description: String {
        let parts = [
            active.map { "active \($0)" }, activePerOrigin.map { "active per origin \($0)" }, pending.map { "pending \($0)" },
            wait.map { "wait \($0.text)" },
        ].compactMap(\.self)
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}

/// The priority of a call in its client's queue: a setting of client, class, endpoint and call.
///
///     "report()": .get("/report").priority(.low),
///
///     try await shop.with(CallPriority.high) { try await $0.product(id: 7) }
///
/// Calls of a higher priority start first; calls of one priority start in the order in which they arrived. No priority starves: of twelve
/// calls that start, at least one has each priority that has pending calls.
public enum CallPriority: String, EndpointAttribute, PortableAttribute, Hashable, CaseIterable, Codable, Comparable {
    /// For work in the background.
    case low
    /// For ordinary calls. The default.
    case normal
    /// For calls that a person waits for.
    case high

    /// The place in the order, the highest priority first.
    var level: Int {
        switch self {
        case .high: 0
        case .normal: 1
        case .low: 2
        }
    }

    /// Whether the first priority is lower.
    public static func < (left: CallPriority, right: CallPriority) -> Bool { left.level > right.level }
}

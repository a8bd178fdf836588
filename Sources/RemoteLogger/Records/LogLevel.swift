/// The severity of a record, from `trace` to `critical`.
///
/// The names and their order are those of swift-log.
@frozen public enum LogLevel: UInt8, Sendable, Hashable, CaseIterable {
    /// Detailed steps for tracing a fault.
    case trace
    /// Information for development.
    case debug
    /// Normal activity of the program.
    case info
    /// A normal but noteworthy event.
    case notice
    /// An unusual condition that may become an error.
    case warning
    /// A failure.
    case error
    /// A failure after which the program, or a part of it, can't continue.
    case critical
}

extension LogLevel: Comparable {
    /// Whether `left` is less severe than `right`.
    @inlinable public static func < (left: Self, right: Self) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension LogLevel: CustomStringConvertible {
    /// The level's name, such as `warning`.
    public var description: String {
        switch self {
        case .trace: "trace"
        case .debug: "debug"
        case .info: "info"
        case .notice: "notice"
        case .warning: "warning"
        case .error: "error"
        case .critical: "critical"
        }
    }

    /// Creates a level from its name, in any case, for settings in text form; `nil` for an unknown name.
    public init?(name: String) {
        let lowered = name.lowercased()
        guard let level = Self.allCases.first(where: { $0.description == lowered }) else { return nil }
        self = level
    }
}

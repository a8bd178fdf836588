/// How much a record matters, from `trace` to `critical`.
///
/// The names and their order are those of swift-log.
@frozen public enum LogLevel: UInt8, Sendable, Hashable, CaseIterable {
    /// Every step, for someone who hunts a fault.
    case trace
    /// Of use while developing.
    case debug
    /// What the program does.
    case info
    /// Nothing is wrong, but somebody may want to know.
    case notice
    /// Something is odd and may become an error.
    case warning
    /// Something failed.
    case error
    /// The program, or a part of it, can't go on.
    case critical
}

extension LogLevel: Comparable {
    /// Whether `left` matters less than `right`.
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

    /// The level of a name, in any case; `nil` when there is none of that name. For settings that are text.
    public init?(name: String) {
        let lowered = name.lowercased()
        guard let level = Self.allCases.first(where: { $0.description == lowered }) else { return nil }
        self = level
    }
}

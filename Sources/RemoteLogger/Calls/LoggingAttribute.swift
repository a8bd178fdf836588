public import WebServiceClient

/// Whether, and at which level, calls of an endpoint are logged: read by ``CallLogger``.
///
///     "order(id:)": .get("/orders/%%0%%").logging(.debug)
///     "login(user:)": .post("/login").logging(.off)
public struct LoggingAttribute: EndpointAttribute, Hashable {
    /// The level of calls that succeed; `nil` when calls aren't logged at all.
    public let level: LogLevel?

    /// Calls that succeed are logged at a level, with `nil` none is, not even one that fails.
    public init(_ level: LogLevel?) {
        self.level = level
    }

    /// Calls aren't logged.
    public static let off = Self(nil)
    /// Calls are logged at ``LogLevel/trace``.
    public static let trace = Self(.trace)
    /// Calls are logged at ``LogLevel/debug``.
    public static let debug = Self(.debug)
    /// Calls are logged at ``LogLevel/info``.
    public static let info = Self(.info)
    /// Calls are logged at ``LogLevel/notice``.
    public static let notice = Self(.notice)
    /// Calls are logged at ``LogLevel/warning``.
    public static let warning = Self(.warning)
}

public import WebServiceClient

/// Whether, and at which level, calls of an endpoint are logged: read by ``CallLogger``.
///
///     "order(id:)": .get("/orders/%%0%%").logging(.debug)
///     "login(user:)": .post("/login").logging(.off)
///     "search(text:)": .get("/search?q=%%0%%").logging(.debug.withBodies(upTo: 2_000))
public struct LoggingAttribute: EndpointAttribute, Hashable {
    /// The level of calls that succeed; `nil` when calls aren't logged at all.
    public let level: LogLevel?
    /// The most bytes of each body that are logged; 0 for none, `nil` for what ``CallLogger/bodyLimit`` says.
    public var bodyLimit: Int?

    /// Calls that succeed are logged at a level, with `nil` none is, not even one that fails.
    public init(_ level: LogLevel?) {
        self.level = level
    }

    /// The same with the beginnings of the bodies, masked: see ``CallLogger/bodyLimit``. With 0 bodies aren't logged, whatever the logger
    /// does.
    public func withBodies(upTo limit: Int) -> Self {
        var copy = self
        copy.bodyLimit = limit
        return copy
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

/// The severities of RFC 5424 §6.2.1, which GELF and Datadog use, too.
enum SyslogSeverity {
    static func number(of level: LogLevel) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

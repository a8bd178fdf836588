public import Foundation
public import HTTPTransport

/// One of several receivers that records are shipped to. Each has its own pace; all share one ``Spool`` if there is one.
///
///     let logger = try RemoteLogger(
///         label: "shop", destinations: [
///             .http("collector", to: collector, format: OTLPFormat()),
///             .http("archive", to: archive, format: NDJSONFormat()) { $0.minimumLevel = .warning },
///             .syslog("siem", to: SyslogReceiver(host: "siem.example"), format: SyslogFormat(application: "shop")),
///         ], spool: spool)
///
/// A record stays in the spool until every destination has acknowledged it or has counted it as lost with a reason. A failing destination
/// doesn't delay the others.
public struct LogDestination: Sendable {
    /// The destination's name, which identifies its progress in the spool across runs: 1 to 60 bytes.
    public let name: String
    private let make: @Sendable (Spool?) throws -> LogShipper

    private init(name: String, make: @escaping @Sendable (Spool?) throws -> LogShipper) {
        self.name = name
        self.make = make
    }

    /// Creates an HTTP destination.
    public static func http(
        _ name: String, to endpoint: URL, format: any LogFormat, transport: any Transport = DefaultTransport.shared,
        configure: @escaping @Sendable (inout ShippingSettings) -> Void = { _ in }
    ) -> LogDestination {
        LogDestination(name: name) { spool in
            try LogShipper(to: endpoint, format: format, transport: transport) { Self.set(&$0, name, spool, configure) }
        }
    }

    /// Creates a destination for the OTLP receiver that the environment describes.
    public static func otlp(
        _ name: String, _ environment: OTLPEnvironment, resource: LogMetadata = LogMetadata(),
        transport: any Transport = DefaultTransport.shared,
        configure: @escaping @Sendable (inout ShippingSettings) -> Void = { _ in }
    ) -> LogDestination {
        LogDestination(name: name) { spool in
            try LogShipper(otlp: environment, resource: resource, transport: transport) { Self.set(&$0, name, spool, configure) }
        }
    }

    /// Creates a syslog destination.
    public static func syslog(
        _ name: String, to receiver: SyslogReceiver, format: SyslogFormat,
        configure: @escaping @Sendable (inout ShippingSettings) -> Void = { _ in }
    ) -> LogDestination {
        LogDestination(name: name) { spool in
            try LogShipper(toSyslog: receiver, format: format) { Self.set(&$0, name, spool, configure) }
        }
    }

    private static func set(
        _ settings: inout ShippingSettings, _ name: String, _ spool: Spool?, _ configure: (inout ShippingSettings) -> Void
    ) {
        settings.spool = spool
        configure(&settings)
        settings.destination = name
    }

    /// Creates the shipper to the destination.
    ///
    /// - Throws: ``LogShipperError`` if the settings can't be used, or if the spool already has a shipper of that name.
    public func shipper(spool: Spool? = nil) throws -> LogShipper {
        try LogShipperError.check(destination: name)
        return try make(spool)
    }
}

extension LogPipeline {
    /// Creates a pipeline to several receivers and additional sinks.
    ///
    /// - Parameters:
    ///   - spool: Keeps the records for all destinations; without one, each keeps its undelivered records in memory.
    ///   - sinks: Additional sinks for the records.
    /// - Throws: ``LogShipperError`` if a destination's settings can't be used, or if two destinations have the same name.
    public convenience init(
        destinations: [LogDestination], spool: Spool? = nil, sinks: [any LogSink] = [], redaction: LogRedaction = .standard,
        sampling: LogSampling = .none, clock: any LogClock = SystemLogClock()
    ) throws {
        var names: Set<String> = []
        for destination in destinations where !names.insert(destination.name).inserted {
            throw LogShipperError(message: "Two destinations are named \"\(destination.name.prefix(60))\": each needs its own name.")
        }
        let shippers = try destinations.map { try $0.shipper(spool: spool) }
        self.init(sinks: shippers + sinks, redaction: redaction, sampling: sampling, clock: clock)
    }
}

extension RemoteLogger {
    /// Creates a logger with its own pipeline to several receivers and additional sinks.
    ///
    /// - Throws: ``LogShipperError`` if a destination's settings can't be used, or if two destinations have the same name.
    public init(
        label: String, destinations: [LogDestination], spool: Spool? = nil, sinks: [any LogSink] = [], minimumLevel: LogLevel = .info,
        redaction: LogRedaction = .standard, sampling: LogSampling = .none
    ) throws {
        let pipeline = try LogPipeline(
            destinations: destinations, spool: spool, sinks: sinks, redaction: redaction, sampling: sampling)
        self.init(label: label, pipeline: pipeline, minimumLevel: minimumLevel)
    }
}

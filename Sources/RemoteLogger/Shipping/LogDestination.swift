public import Foundation
public import HTTPTransport

/// One of several receivers that records are shipped to, each at its own pace, all from one ``Spool`` if there is one.
///
///     let logger = try RemoteLogger(
///         label: "shop", destinations: [
///             .http("collector", to: collector, format: OTLPFormat()),
///             .http("archive", to: archive, format: NDJSONFormat()) { $0.minimumLevel = .warning },
///             .syslog("siem", to: SyslogReceiver(host: "siem.example"), format: SyslogFormat(application: "shop")),
///         ], spool: spool)
///
/// A record stays in the spool until every destination has acknowledged it, or has lost it for a reason that is counted. A destination that fails
/// holds up no other one.
public struct LogDestination: Sendable {
    /// The destination's name, under which its progress is kept in the spool from run to run: 1 to 60 bytes.
    public let name: String
    private let make: @Sendable (Spool?) throws -> LogShipper

    private init(name: String, make: @escaping @Sendable (Spool?) throws -> LogShipper) {
        self.name = name
        self.make = make
    }

    /// A receiver that speaks HTTP.
    public static func http(
        _ name: String, to endpoint: URL, format: any LogFormat, transport: any Transport = DefaultTransport.shared,
        configure: @escaping @Sendable (inout ShippingSettings) -> Void = { _ in }
    ) -> LogDestination {
        LogDestination(name: name) { spool in
            try LogShipper(to: endpoint, format: format, transport: transport) { Self.set(&$0, name, spool, configure) }
        }
    }

    /// The OTLP receiver that the environment tells of.
    public static func otlp(
        _ name: String, _ environment: OTLPEnvironment, resource: LogMetadata = LogMetadata(),
        transport: any Transport = DefaultTransport.shared,
        configure: @escaping @Sendable (inout ShippingSettings) -> Void = { _ in }
    ) -> LogDestination {
        LogDestination(name: name) { spool in
            try LogShipper(otlp: environment, resource: resource, transport: transport) { Self.set(&$0, name, spool, configure) }
        }
    }

    /// A receiver of syslog messages.
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

    /// The shipper to the destination.
    ///
    /// - Throws: ``LogShipperError`` when the settings can't be used, or the spool has a shipper of that name already.
    public func shipper(spool: Spool? = nil) throws -> LogShipper {
        try LogShipperError.check(destination: name)
        return try make(spool)
    }
}

extension LogPipeline {
    /// A pipeline to several receivers, and to sinks beside them.
    ///
    /// - Parameters:
    ///   - spool: what keeps the records for all of them; without one each has those that it hasn't delivered in memory.
    ///   - sinks: what else gets the records.
    /// - Throws: ``LogShipperError`` when the settings of one can't be used, or two have one name.
    public convenience init(
        destinations: [LogDestination], spool: Spool? = nil, sinks: [any LogSink] = [], redaction: LogRedaction = .standard,
        sampling: LogSampling = .none, clock: any LogClock = SystemLogClock()
    ) throws {
        var names: Set<String> = []
        for destination in destinations where !names.insert(destination.name).inserted {
            throw LogShipperError(message: "Two destinations are named \"\(destination.name.prefix(60))\": each needs a name of its own.")
        }
        let shippers = try destinations.map { try $0.shipper(spool: spool) }
        self.init(sinks: shippers + sinks, redaction: redaction, sampling: sampling, clock: clock)
    }
}

extension RemoteLogger {
    /// A logger with a pipeline of its own to several receivers, and to sinks beside them.
    ///
    /// - Throws: ``LogShipperError`` when the settings of one can't be used, or two have one name.
    public init(
        label: String, destinations: [LogDestination], spool: Spool? = nil, sinks: [any LogSink] = [], minimumLevel: LogLevel = .info,
        redaction: LogRedaction = .standard, sampling: LogSampling = .none
    ) throws {
        let pipeline = try LogPipeline(
            destinations: destinations, spool: spool, sinks: sinks, redaction: redaction, sampling: sampling)
        self.init(label: label, pipeline: pipeline, minimumLevel: minimumLevel)
    }
}

/// Where syslog messages go: over TCP, with octet counting.
public struct SyslogReceiver: Sendable, Hashable {
    /// The host's name or address.
    public var host: String
    /// The port: 601 unless set, which is IANA's for syslog over TCP.
    public var port: UInt16
    /// For how long messages are kept in memory after they were sent, to be sent again when the connection turns out to be broken.
    /// 5 seconds unless set.
    public var resendWindow = Duration.seconds(5)
    /// The most bytes that are kept for it: 4 MiB unless set.
    public var resendBytes = 4 << 20

    /// A receiver.
    public init(host: String, port: UInt16 = 601) {
        self.host = host
        self.port = port
    }
}

extension LogShipper {
    /// A shipper of syslog messages.
    ///
    /// Syslog has no acknowledgement. A batch counts as delivered when the receiver's system has confirmed all of its bytes (TCP), which a
    /// receiver that crashes right then may still lose: when a connection breaks, what was sent within ``SyslogReceiver/resendWindow``
    /// before is sent again, which may deliver it twice. Of the settings those about HTTP have no meaning here.
    ///
    /// - Throws: ``LogShipperError`` when the settings can't be used.
    public convenience init(
        toSyslog receiver: SyslogReceiver, format: SyslogFormat, configure: (inout ShippingSettings) -> Void = { _ in }
    ) throws {
        var settings = ShippingSettings()
        configure(&settings)
        settings.compression = .none
        // A connection has an order of its own.
        settings.maximumRequestsInFlight = 1
        guard !receiver.host.isEmpty, receiver.port > 0 else {
            throw LogShipperError(message: "A syslog receiver needs a host and a port above 0.")
        }
        let sender = SyslogSender(receiver: receiver, settings: settings)
        self.init(format: format, sender: sender, settings: settings, store: try Self.store(settings))
    }
}
